#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/record/record.hpp"

namespace fedarena::results {

/// What goes on in a run directory. People look for the first ones first.
enum class Work {
  kRunning,      ///< a process is at it
  kLeft,         ///< recorded as running, but no process of this machine is at it
  kInterrupted,  ///< stopped in order, to be resumed
  kBroken,       ///< cannot be read
  kFinished
};

/// One cell of an experiment, as far as it is.
struct LiveCell {
  std::filesystem::path path;  ///< its run directory
  std::string problem = {};    ///< file, field and reason, in one line; empty unless broken
  Work work = Work::kBroken;
  // The rest is empty in a broken one.
  std::string experiment = {};
  std::string name = {};                  ///< "partition.alpha=0.1, fedavg, seed 1"
  std::int64_t done = 0, rounds = 0;      ///< rounds on disk and planned ones
  std::optional<double> accuracy = {};    ///< of the last evaluated round; none on regression data
  std::optional<double> loss = {};        ///< of the last evaluated round; may be nan or infinite
  bool is_private = false;                ///< whether there is a privacy policy
  std::optional<double> epsilon = {};     ///< RDP, after the last round; none where unproven
  std::vector<double> curve = {};         ///< accuracy by evaluated round; loss on regression data
  std::optional<double> round_seconds{};  ///< mean over the rounds on disk
  std::optional<double> since_written{};  ///< seconds since the last round; none before it and once finished
  std::optional<double> seconds_left{};   ///< an estimate; none unless running and a round is done
};

/// What the record of a run says. `held`: whether a process holds the directory; none when that cannot be
/// told, and the record alone counts. `since_written`: seconds since the rounds were written last.
LiveCell live_cell(const std::filesystem::path& path, const Summary& summary,
                   std::span<const RoundRecord> rounds, std::optional<bool> held, double since_written);

}  // namespace fedarena::results
