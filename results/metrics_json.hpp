#pragma once

#include "results/json_fields.hpp"
#include "results/record.hpp"

namespace fedarena::results {

/// Adds what a round's evaluation says of classes, validation examples and clients, as far as it does; its
/// absence is how older records look.
void append_metrics(Json& json, const RoundRecord& record);
void read_metrics(JsonFields& fields, RoundRecord& record);

/// The same of a run: the rule that stopped it, and its clients. Call after the state is known.
void append_metrics(Json& json, const Summary& summary);
void read_metrics(JsonFields& fields, Summary& summary);

}  // namespace fedarena::results
