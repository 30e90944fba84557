#include "results/record/state_text.hpp"

#include <fmt/format.h>

namespace fedarena::results {

std::string state_text(const Summary& summary) {
  const bool spent = summary.privacy && !summary.privacy->stopped.empty();
  const std::string& ended_by = spent ? summary.privacy->stopped : summary.stopped;
  return ended_by.empty() ? summary.state : fmt::format("{} ({})", summary.state, ended_by);
}

}  // namespace fedarena::results
