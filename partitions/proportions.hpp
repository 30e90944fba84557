#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace fedarena {

/// Where each client's share ends when `examples` are cut by proportions that sum to 1: floor(cumulative
/// proportion * examples); the last client takes what rounding leaves.
std::vector<std::int64_t> cut_by(const std::vector<double>& proportions, std::int64_t examples);

/// Throws Error where the data cannot give every client its least number of examples.
void check_least_examples(std::int64_t clients, std::int64_t least, std::int64_t examples);

/// Throws the Error of draws that never gave every client its least number, which follows from `setting`.
[[noreturn]] void refuse_draws(std::uint64_t attempts, std::int64_t clients, std::int64_t least, double alpha,
                               const std::string& setting);

}  // namespace fedarena
