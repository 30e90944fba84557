#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fedarena/base/stream.hpp"

#include "partitions/card.hpp"
#include "partitions/partition.hpp"
#include "tests/message_of.hpp"

namespace fedarena {

using Indices = std::vector<std::int64_t>;
using Counts = std::vector<Indices>;

/// Labels together with the view of them that partitions take.
class Labelled {
 public:
  Labelled(std::vector<std::int64_t> labels, std::int64_t classes)
      : labels_(std::move(labels)), classes_(classes) {}

  /// 0, 1, ..., classes - 1, 0, 1, ...: every class with the same number of examples.
  static Labelled balanced(std::int64_t classes, std::int64_t examples_of_each) {
    std::vector<std::int64_t> labels;
    for (std::int64_t i = 0; i < classes * examples_of_each; ++i) labels.push_back(i % classes);
    return {std::move(labels), classes};
  }

  /// Labels drawn at random.
  static Labelled random(std::int64_t classes, std::int64_t examples, Stream& stream) {
    std::vector<std::int64_t> labels;
    for (std::int64_t i = 0; i < examples; ++i) {
      labels.push_back(static_cast<std::int64_t>(stream.below(static_cast<std::uint64_t>(classes))));
    }
    return {std::move(labels), classes};
  }

  /// The view, which lives as long as this.
  operator PartitionInput() const {
    return {.labels = labels_, .examples = std::ssize(labels_), .classes = classes_};
  }

 private:
  std::vector<std::int64_t> labels_;
  std::int64_t classes_;
};

/// Examples without labels.
inline PartitionInput unlabelled(std::int64_t examples) {
  return {.labels = {}, .examples = examples, .classes = 0};
}

/// What is said of a partition that cannot be made.
inline std::string refusal(const std::string& kind, const Settings& settings, const PartitionInput& input) {
  return test::message_of([&] { make_partition(kind, settings, input, 1); });
}

/// How many examples of each class each client gets: [client][class].
inline Counts class_counts(const std::string& kind, const Settings& settings, const PartitionInput& data,
                           std::uint64_t seed) {
  return partition_statistics(make_partition(kind, settings, data, seed), data).class_counts;
}

}  // namespace fedarena
