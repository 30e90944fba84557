#include "results/record/attack_file.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/file.hpp"
#include "fedarena/base/text.hpp"

#include "harness/digest/sha256.hpp"
#include "results/record/record_form.hpp"

namespace fedarena::results {
namespace {

constexpr std::int64_t kAttackSchema = 1;
constexpr const char* kDigest = "digest";

// Columns, because there may be many examples.
Json columns_of(const std::vector<ScoredExample>& examples, bool members) {
  Json json = {{"positions", Json::array()}};
  for (const ScoredExample& example : examples) {
    json["positions"].push_back(example.position);
    if (members) json["clients"].push_back(example.client);
    if (example.label) json["labels"].push_back(*example.label);
  }
  return json;
}

std::vector<ScoredExample> read_examples(JsonFields fields, bool members) {
  const std::vector<std::int64_t> positions = fields.integers("positions", 0);
  if (positions.empty()) fields.reject("positions", "at least one example");
  const auto one_each = [&](const char* name) {
    std::vector<std::int64_t> numbers = fields.integers(name, 0);
    if (numbers.size() != positions.size()) fields.reject(name, "one for each of the positions");
    return numbers;
  };
  const std::vector<std::int64_t> clients = members ? one_each("clients") : std::vector<std::int64_t>();
  const std::vector<std::int64_t> labels =
      fields.has("labels") ? one_each("labels") : std::vector<std::int64_t>();
  fields.finish();
  std::vector<ScoredExample> examples;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    examples.push_back({.position = positions[i]});
    if (members) examples.back().client = clients[i];
    if (!labels.empty()) examples.back().label = labels[i];
  }
  return examples;
}

void form_client(RecordForm& form, ClientSeparation& client) {
  form.integer("client", client.client, 0);
  form.integer("members", client.members, 1);
  form.fraction("auc", client.auc);
}

void form_measures(RecordForm& form, MembershipAttack& attack) {
  Separation& separation = attack.separation;
  form.text("score", attack.score);
  form.fraction("auc", separation.auc);
  form.fraction("auc_low", separation.auc_interval.low);
  form.fraction("auc_high", separation.auc_interval.high);
  form.fraction("tpr_at_1_percent", separation.tpr_at_1_percent);
  form.fraction("tpr_at_01_percent", separation.tpr_at_01_percent);
  form.fraction("advantage", separation.advantage);
  form.field("references", attack.references, &JsonFields::list_of_texts);
  form.objects("clients", attack.clients, form_client);
}

void form_attack(RecordForm& form, MembershipAttack& attack) {
  form_measures(form, attack);
  form.field("members", attack.members, &JsonFields::any_numbers);
  form.field("non_members", attack.non_members, &JsonFields::any_numbers);
}

// Of attacks of which those before `attack` have been read.
void check_attack(const MembershipAttack& attack, const MembershipAttacks& of, const JsonFields& fields) {
  if (attack.score.empty() || std::ranges::count(of.attacks, attack.score, &MembershipAttack::score) > 1)
    fields.reject("score", "another name for each attack");
  const auto one_each = [&](const char* name, std::span<const double> scores,
                            std::span<const ScoredExample> examples) {
    if (scores.size() != examples.size())
      fields.reject(name, fmt::format("{} scores, one an example", examples.size()));
  };
  one_each("members", attack.members, of.member_examples);
  one_each("non_members", attack.non_members, of.non_member_examples);
}

void check_positions(const MembershipAttacks& attacks, const JsonFields& fields) {
  std::set<std::int64_t> members;
  std::set<std::pair<std::int64_t, std::int64_t>> of_clients;
  for (const ScoredExample& example : attacks.member_examples) {
    members.insert(example.position);
    if (!of_clients.emplace(example.position, example.client).second)
      fields.reject("member_examples",
                    fmt::format("each position of a client once, also {}", example.position));
  }
  std::set<std::int64_t> others;
  for (const ScoredExample& example : attacks.non_member_examples) {
    const bool is_member = attacks.non_members == kLeftOutExamples && members.contains(example.position);
    if (is_member || !others.insert(example.position).second)
      fields.reject("non_member_examples",
                    fmt::format("each position once, and none of a member, also {}", example.position));
  }
}

std::string text_without_digest(const MembershipAttacks& attacks) {
  std::string lines;
  for (const MembershipAttack& attack : attacks.attacks) {
    Json line;
    append_fields(line, attack, form_attack);
    lines += (lines.empty() ? "" : ",\n") + json_text(line, -1);
  }
  return fmt::format(
      "{{\n\"schema\": {},\n\"run\": {},\n\"seed\": {},\n\"non_members\": {},\n\"member_examples\": {},\n"
      "\"non_member_examples\": {},\n\"member_accuracy\": {},\n\"non_member_accuracy\": {},\n\"attacks\": "
      "[\n{}\n]",
      kAttackSchema, json_text(attacks.run, -1), attacks.seed, json_text(attacks.non_members, -1),
      json_text(columns_of(attacks.member_examples, true), -1),
      json_text(columns_of(attacks.non_member_examples, false), -1),
      json_text(json_number(attacks.member_accuracy), -1),
      json_text(json_number(attacks.non_member_accuracy), -1), lines);
}

std::string with_digest(const std::string& text) {
  const std::string digest = sha256_of(std::string_view(text));
  return text + fmt::format(",\n\"{}\": \"{}\"\n}}\n", kDigest, digest);
}

}  // namespace

bool measure(MembershipAttack& attack, const MembershipAttacks& of) {
  const std::optional<Separation> all = separation(attack.members, attack.non_members, of.seed);
  if (!all) return false;
  attack.separation = *all;
  attack.clients.clear();
  std::map<std::int64_t, std::vector<std::size_t>> members;
  for (std::size_t i = 0; i < of.member_examples.size(); ++i)
    members[of.member_examples[i].client].push_back(i);
  for (const auto& [client, own] : members) {
    if (own.size() < kLeastOfClient) continue;
    std::set<std::optional<std::int64_t>> labels;
    std::vector<double> positives, negatives;
    for (const std::size_t i : own) {
      labels.insert(of.member_examples[i].label);
      positives.push_back(attack.members[i]);
    }
    for (std::size_t i = 0; i < of.non_member_examples.size(); ++i) {
      if (labels.contains(of.non_member_examples[i].label)) negatives.push_back(attack.non_members[i]);
    }
    if (negatives.size() < kLeastOfClient) continue;
    attack.clients.push_back({.client = client,
                              .members = static_cast<std::int64_t>(own.size()),
                              .auc = area_below_roc(positives, negatives)});
  }
  return true;
}

Json measures_json(const MembershipAttack& attack) {
  Json json;
  append_fields(json, attack, form_measures);
  return json;
}

std::string to_json_text(const MembershipAttacks& attacks) {
  return checked_record(with_digest(text_without_digest(attacks)), "attacks",
                        [](const std::string& text) { parse_attacks(text, ""); });
}

MembershipAttacks parse_attacks(std::string_view text, const std::string& file) {
  JsonFields fields(text, Place{.file = file});
  fields.schema(kAttackSchema);
  MembershipAttacks attacks;
  attacks.run = fields.digest("run");
  attacks.seed = static_cast<std::uint64_t>(fields.integer("seed", 0));
  attacks.non_members =
      fields.choice("non_members", {std::string(kTestExamples), std::string(kLeftOutExamples)});
  attacks.member_examples = read_examples(fields.object("member_examples"), true);
  attacks.non_member_examples = read_examples(fields.object("non_member_examples"), false);
  check_positions(attacks, fields);
  const auto accuracy = [&](const char* name, std::size_t examples) -> std::optional<double> {
    if (fields.is_null(name)) return std::nullopt;
    const double right = fields.fraction(name) * static_cast<double>(examples);
    if (std::abs(right - std::round(right)) > 1e-6)
      fields.reject(name, fmt::format("a whole number of {} examples", examples));
    return fields.fraction(name);
  };
  attacks.member_accuracy = accuracy("member_accuracy", attacks.member_examples.size());
  attacks.non_member_accuracy = accuracy("non_member_accuracy", attacks.non_member_examples.size());
  RecordForm form(fields);
  form.objects("attacks", attacks.attacks, [&](RecordForm& entry, MembershipAttack& attack) {
    form_attack(entry, attack);
    check_attack(attack, attacks, *entry.fields());
  });
  if (attacks.attacks.empty()) fields.reject("attacks", "at least one attack");
  fields.digest(kDigest);
  fields.finish();
  if (with_digest(text_without_digest(attacks)) != text) {
    throw Error::in(file, fmt::format("is not as fedarena wrote it: its {} does not match", kDigest),
                    {.remedy = "the file is damaged or was edited; remove it and attack the run again"});
  }
  return attacks;
}

std::optional<MembershipAttacks> read_attacks(const std::filesystem::path& run) {
  const std::filesystem::path path = run / kAttackFile;
  std::error_code ignored;  // whoever reads it says what is wrong with it
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  const std::string file = path.string();
  MembershipAttacks attacks = parse_attacks(read_whole_file(path), file);
  if (attacks.run == sha256_of(std::string_view(read_whole_file(run / kSummaryFile)))) return attacks;
  throw Error::in(file, "is about another run: its \"run\" is not the SHA-256 of this summary.json",
                  {.remedy = "remove it and attack the run again"});
}

std::string attacked_text(const MembershipAttacks& attacks) {
  return fmt::format("{}, as many non-members ({})", counted(attacks.member_examples.size(), "member"),
                     attacks.non_members);
}

void write_attacks(const RunDirectory& run, const MembershipAttacks& attacks) {
  run.write_file_atomically(kAttackFile, to_json_text(attacks));
}

}  // namespace fedarena::results
