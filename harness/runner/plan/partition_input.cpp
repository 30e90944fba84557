#include "harness/runner/plan/partition_input.hpp"

namespace fedarena {

PartitionInput partition_input(const Examples& examples, std::int64_t classes) {
  PartitionInput input{
      .labels = {}, .examples = examples.size(), .classes = classes, .users = examples.users};
  if (classes > 0) {
    input.labels = {examples.targets.data_ptr<std::int64_t>(), static_cast<std::size_t>(examples.size())};
  }
  return input;
}

}  // namespace fedarena
