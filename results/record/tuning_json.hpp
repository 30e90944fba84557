#pragma once

#include <optional>

#include "results/record/json_fields.hpp"
#include "results/record/tuning.hpp"

namespace fedarena::results {

/// Appends the field "tuning", an object, to a summary.
void append_tuning(Json& json, const Tuning& tuning);

/// Reads what append_tuning() wrote; none where there is no such field, as in runs whose experiment tunes
/// nothing and in older ones. Anything but a whole, valid object is an Error that names the field.
std::optional<Tuning> read_tuning(JsonFields& fields);

}  // namespace fedarena::results
