#include "results/client_scores.hpp"

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "results/json_fields.hpp"

namespace fedarena::results {
namespace {

constexpr std::int64_t kSchema = 1;

std::string line_of(const ClientScore& score) {
  Json json;
  json["client"] = score.client;
  json["test_examples"] = score.test_examples;
  json["accuracy"] = json_number(score.accuracy);
  json["macro_f1"] = json_number(score.macro_f1);
  return json_text(json, -1);
}

// `previous`: the client before, -1 for the first.
ClientScore read_score(JsonFields& fields, std::int64_t previous) {
  ClientScore score{.client = fields.integer("client", 0),
                    .test_examples = fields.integer("test_examples", 1),
                    .accuracy = fields.fraction("accuracy"),
                    .macro_f1 = fields.fraction("macro_f1")};
  if (score.client <= previous)
    fields.reject("client", fmt::format("more than {}, the one before", previous));
  fields.finish();
  return score;
}

}  // namespace

std::string to_json_text(const ClientScores& scores) {
  std::string text =
      fmt::format("{{\n\"schema\": {},\n\"round\": {},\n\"clients\": [\n", kSchema, scores.round);
  for (std::size_t i = 0; i < scores.clients.size(); ++i) {
    text += line_of(scores.clients[i]) + (i + 1 < scores.clients.size() ? ",\n" : "\n");
  }
  text += "]\n}\n";
  try {
    parse_client_scores(text, "");
  } catch (const Error& error) {
    throw Bug(fmt::format("scores of clients that cannot be read back: {}", error.what()));
  }
  return text;
}

ClientScores parse_client_scores(std::string_view text, const std::string& file) {
  JsonFields fields(text, Place{.file = file});
  if (fields.integer("schema") != kSchema) {
    fields.reject("schema", fmt::format("{}", kSchema), "read it with the version of fedarena that wrote it");
  }
  ClientScores scores;
  scores.round = fields.integer("round", 1);
  for (JsonFields& entry : fields.objects("clients")) {
    const std::int64_t previous = scores.clients.empty() ? -1 : scores.clients.back().client;
    scores.clients.push_back(read_score(entry, previous));
  }
  if (scores.clients.empty()) fields.reject("clients", "at least one client");
  fields.finish();
  return scores;
}

}  // namespace fedarena::results
