#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "results/record/json_fields.hpp"

namespace fedarena {

/// Throws Error where an unfinished run was begun with another version of its algorithm's plugin, on another
/// device or another model of GPU than `environment`, which is of now, has. Another version may train
/// otherwise, and its noise on data from files is another, so that a round that is computed again would be
/// answered twice and charged once; a device that a file leaves open ("auto") may be another on another
/// machine, and rounds on both would be of neither.
void check_plugin_and_device(const std::filesystem::path& run, const results::Json& environment);

/// The builds that took part in a run so far, by its `environment.json`, as a JSON list of the fields that
/// tell builds apart.
std::string recorded_builds(const std::filesystem::path& run, const std::string& algorithm);

/// Whether the list of `before` is how that of `now` begins. Throws Error for a text that is not such a list.
bool builds_go_on(const std::string& before, const std::string& now);

/// Whether the last build that took part in a run differs from that of `environment` in one of those
/// fields; false where a file does not say.
bool is_of_another_build(const std::filesystem::path& run, const results::Json& environment,
                         const std::string& algorithm);

/// Of an unfinished run whose next rounds were answered before, and told: throws Error with `found` where
/// another program or plugin than that of `environment` asked, since other answers under the same noise
/// would tell what it hides. Of another processor, answers differ by rounding.
void check_same_code(const std::filesystem::path& run, const results::Json& environment,
                     const std::string& algorithm, const std::string& found);

/// The `environment.json` of a run that goes on with `round`, with one more entry in its list `builds` where
/// program, LibTorch, the algorithm's plugin or the arithmetic are others than the last that took part;
/// nothing where they are not. An entry has `from_round` and the fields that tell builds apart; those at the
/// top are of the build that began the run.
std::optional<std::string> environment_with_build(const std::filesystem::path& run,
                                                  const results::Json& environment,
                                                  const std::string& algorithm, std::int64_t round);

}  // namespace fedarena
