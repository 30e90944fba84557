#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "results/record/record.hpp"

namespace fedarena::results {

/// What a file of rounds may take, so that no reader needs more than about 1 GB whatever the file holds.
struct RoundLimits {
  std::uintmax_t file = std::uintmax_t{768} << 20;  ///< bytes
  std::size_t line = std::size_t{64} << 20;         ///< bytes; the choices of a million clients are a quarter
  /// Bytes of memory of all records together: a million rounds with their usual fields.
  std::size_t records = std::size_t{448} << 20;
};

/// The bytes of memory that a record takes in a list of them.
std::size_t size_in_memory(const RoundRecord& record);

/// Where the whole lines of a file of rounds end, and its size with a torn line.
struct RoundLines {
  std::vector<std::uintmax_t> ends;
  std::uintmax_t size = 0;
};

/// Reads a file of rounds line by line and gives `take` each record as soon as it is read, in the order 1, 2,
/// 3, ...; nothing of it is kept. A torn last line, left by a crash, is dropped; any other damage, counts
/// whose sum over the rounds does not fit in 64 bits, and a file or line beyond the limits, is an Error that
/// names the file and the line.
RoundLines for_each_round(const std::filesystem::path& file,
                          const std::function<void(RoundRecord record)>& take,
                          const RoundLimits& limits = {});

/// All records of the file. More of them than the limits allow in memory is an Error, too.
std::vector<RoundRecord> all_rounds(const std::filesystem::path& file, const RoundLimits& limits = {});

}  // namespace fedarena::results
