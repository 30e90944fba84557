#pragma once

#include "results/record/json_fields.hpp"
#include "results/record/record.hpp"

namespace fedarena::results {

/// Adds what a round's evaluation says of classes, validation examples and clients, and what the round took
/// to compute, as far as it is known. `record.examples` is read before.
void append_metrics(Json& json, const RoundRecord& record);
void read_metrics(JsonFields& fields, RoundRecord& record);

/// The same of a run: the rule that stopped it, what it took to compute, and its clients. Call after the
/// state is known.
void append_metrics(Json& json, const Summary& summary);
void read_metrics(JsonFields& fields, Summary& summary);

}  // namespace fedarena::results
