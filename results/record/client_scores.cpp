#include "results/record/client_scores.hpp"

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "results/record/json_fields.hpp"

namespace fedarena::results {
namespace {

constexpr std::int64_t kClientsSchema = 1;

std::string line_of(const ClientScore& score) {
  Json json;
  json["client"] = score.client;
  json["test_examples"] = score.test_examples;
  if (score.rmse) {
    json["rmse"] = json_number(*score.rmse);
  } else {
    json["accuracy"] = json_number(score.accuracy);
    json["macro_f1"] = json_number(score.macro_f1);
  }
  return json_text(json, -1);
}

// `previous`: the client before, or nullptr.
ClientScore read_score(JsonFields& fields, const ClientScore* previous) {
  ClientScore score{.client = fields.integer("client", 0),
                    .test_examples = fields.integer("test_examples", 1)};
  if (previous != nullptr ? previous->rmse.has_value() : fields.has("rmse")) {
    score.rmse = fields.number("rmse");
  } else {
    score.accuracy = fields.fraction("accuracy");
    score.macro_f1 = fields.fraction("macro_f1");
  }
  if (previous != nullptr && score.client <= previous->client)
    fields.reject("client", fmt::format("more than {}, the one before", previous->client));
  fields.finish();
  return score;
}

}  // namespace

std::string to_json_text(const ClientScores& scores) {
  std::string text =
      fmt::format("{{\n\"schema\": {},\n\"round\": {},\n\"clients\": [\n", kClientsSchema, scores.round);
  for (std::size_t i = 0; i < scores.clients.size(); ++i) {
    text += line_of(scores.clients[i]) + (i + 1 < scores.clients.size() ? ",\n" : "\n");
  }
  return checked_record(text + "]\n}\n", "scores of clients",
                        [](const std::string& written) { parse_client_scores(written, ""); });
}

ClientScores parse_client_scores(std::string_view text, const std::string& file) {
  JsonFields fields(text, Place{.file = file});
  fields.schema(kClientsSchema);
  ClientScores scores;
  scores.round = fields.integer("round", 1);
  for (JsonFields& entry : fields.objects("clients")) {
    scores.clients.push_back(read_score(entry, scores.clients.empty() ? nullptr : &scores.clients.back()));
  }
  if (scores.clients.empty()) fields.reject("clients", "at least one client");
  fields.finish();
  return scores;
}

}  // namespace fedarena::results
