#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/record/run_setup.hpp"

namespace fedarena::results {

// What an experiment file makes of data and model, as far as names and settings alone tell it: from lists of
// its own, since records are read without data, models and LibTorch.

/// How many examples there are to be dealt to clients, those for validation taken away; none where files
/// that anybody may write decide it.
std::optional<std::int64_t> expected_examples(const ResolvedSettings& settings);

/// How many of the training examples validate; none where none do, and where files decide it.
std::optional<std::int64_t> expected_validation_examples(const ResolvedSettings& settings);

/// How many classes the data have, 0 on regression data; none where files decide it.
std::optional<std::int64_t> expected_classes(const ResolvedSettings& settings);

/// How many test examples of each class there are; none where files decide it, and on regression data.
std::optional<std::vector<std::int64_t>> expected_test_counts(const ResolvedSettings& settings);

/// How many tensors the parameters of the model are; none of a model that this program does not bring along.
std::optional<std::int64_t> expected_tensors(const ResolvedSettings& settings);

/// The value that a setting of a data set has where nobody chose one, as an experiment file writes it; none
/// where this program does not know the setting.
std::optional<std::string> usual_of_data(const std::string& dataset, const std::string& setting);

}  // namespace fedarena::results
