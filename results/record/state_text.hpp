#pragma once

#include <string>

#include "results/record/record.hpp"

namespace fedarena::results {

/// "running", "interrupted" or "finished", and in parentheses what ended the run before its last planned
/// round: its budget of epsilon, or a rule of `[stopping]`.
std::string state_text(const Summary& summary);

}  // namespace fedarena::results
