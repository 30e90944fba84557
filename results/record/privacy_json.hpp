#pragma once

#include <optional>

#include "results/record/json_fields.hpp"
#include "results/record/privacy_claim.hpp"

namespace fedarena::results {

/// An epsilon as JSON: a number, "inf", or "unproven"; null where there is none yet.
Json json_epsilon(const std::optional<Claim>& claim);

/// Appends the fields of a claim to an object.
void append_privacy(Json& json, const PrivacyClaim& claim);

/// Reads what append_privacy() wrote. Values that contradict each other are an Error that names the field.
PrivacyClaim read_privacy(JsonFields& fields);

}  // namespace fedarena::results
