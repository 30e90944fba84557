#include <iterator>

#include "tests/fuzz/text/text_targets.hpp"

namespace fedarena::fuzz {

std::vector<Target> targets() {
  std::vector<Target> all = record_targets();
  for (std::vector<Target> more : {experiment_targets(), command_targets()})
    all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return all;
}

}  // namespace fedarena::fuzz
