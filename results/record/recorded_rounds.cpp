#include "results/record/recorded_rounds.hpp"

#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "results/record/rounds_file.hpp"
#include "results/record/run_directory.hpp"

namespace fedarena::results {

std::vector<RoundRecord> recorded_rounds(const std::filesystem::path& folder, const Summary& summary) {
  std::vector<RoundRecord> rounds = rounds_of(folder);
  const auto count = static_cast<std::int64_t>(rounds.size());
  const bool finished = summary.state == kFinished;
  if (finished ? count == summary.rounds_done : count <= summary.rounds) return rounds;
  throw Error(Complaint{.place = {.file = (folder / kRoundsFile).string()},
                        .found = fmt::format("holds {} rounds", count),
                        .allowed = finished ? fmt::format("{}, as field \"rounds_done\" of {} says",
                                                          summary.rounds_done, kSummaryFile)
                                            : fmt::format("at most the {} planned ones", summary.rounds),
                        .nearest = {},
                        .remedy = "the file is damaged or was edited; restore it, or run this cell again"});
}

}  // namespace fedarena::results
