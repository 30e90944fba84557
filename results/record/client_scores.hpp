#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "results/record/test_metrics.hpp"

namespace fedarena::results {

/// What each client's test said after one round: `clients.json`.
struct ClientScores {
  std::int64_t round = 1;            ///< from 1
  std::vector<ClientScore> clients;  ///< those that were tested, at least one, ascending; all with an
                                     ///< accuracy or all with an error
  bool operator==(const ClientScores&) const = default;
};

/// The JSON text, one line a client. Scores that could not be read back are a Bug.
std::string to_json_text(const ClientScores& scores);

/// Reads such a text. Anything but whole, valid scores is an Error that names `file` and the field.
ClientScores parse_client_scores(std::string_view text, const std::string& file);

}  // namespace fedarena::results
