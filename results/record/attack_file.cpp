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
    if (members || example.client >= 0) json["clients"].push_back(example.client);
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
  const std::vector<std::int64_t> clients =
      members || fields.has("clients") ? one_each("clients") : std::vector<std::int64_t>();
  const std::vector<std::int64_t> labels =
      fields.has("labels") ? one_each("labels") : std::vector<std::int64_t>();
  fields.finish();
  std::vector<ScoredExample> examples;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    examples.push_back({.position = positions[i]});
    if (!clients.empty()) examples.back().client = clients[i];
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

void form_examples(RecordForm& form, const char* name, std::vector<ScoredExample>& examples, bool members) {
  if (form.fields() == nullptr)
    (*form.json())[name] = columns_of(examples, members);
  else
    examples = read_examples(form.fields()->object(name), members);
}

void form_accuracy(RecordForm& form, const char* name, std::optional<double>& accuracy,
                   const std::vector<ScoredExample>& examples) {
  form.fraction(name, accuracy);
  const double right = accuracy.value_or(0) * static_cast<double>(examples.size());
  if (form.fields() != nullptr && std::abs(right - std::round(right)) > 1e-6)
    form.fields()->reject(name, fmt::format("a whole number of {} examples", examples.size()));
}

void form_attacks(RecordForm& form, MembershipAttacks& attacks) {
  form.field("run", attacks.run, &JsonFields::digest);
  form.integer("seed", attacks.seed, 0);
  form.choice("non_members", attacks.non_members,
              {std::string(kTestExamples), std::string(kLeftOutExamples)});
  form_examples(form, "member_examples", attacks.member_examples, true);
  form_examples(form, "non_member_examples", attacks.non_member_examples, false);
  if (form.fields() != nullptr) check_positions(attacks, *form.fields());
  form_accuracy(form, "member_accuracy", attacks.member_accuracy, attacks.member_examples);
  form_accuracy(form, "non_member_accuracy", attacks.non_member_accuracy, attacks.non_member_examples);
  form.objects("attacks", attacks.attacks, [&](RecordForm& entry, MembershipAttack& attack) {
    form_attack(entry, attack);
    if (entry.fields() != nullptr) check_attack(attack, attacks, *entry.fields());
  });
  if (form.fields() == nullptr) return;
  if (attacks.attacks.empty()) form.fields()->reject("attacks", "at least one attack");
  form.fields()->digest(kDigest);
}

std::string text_of(const MembershipAttacks& attacks) {
  const std::string text = json_lines(json_of_record(attacks, form_attacks, kAttackSchema));
  const std::string digest = sha256_of(std::string_view(text));
  return text + fmt::format(",\n\"{}\": \"{}\"\n}}\n", kDigest, digest);
}

}  // namespace

bool measure(MembershipAttack& attack, const MembershipAttacks& of) {
  const std::optional<Separation> all =
      separation(attack.members, attack.non_members, static_cast<std::uint64_t>(of.seed));
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
      const ScoredExample& other = of.non_member_examples[i];
      if (other.client >= 0 && other.client != client) continue;
      if (labels.contains(other.label)) negatives.push_back(attack.non_members[i]);
    }
    if (negatives.size() < kLeastOfClient) continue;
    attack.clients.push_back({.client = client,
                              .members = static_cast<std::int64_t>(own.size()),
                              .auc = area_below_roc(positives, negatives)});
  }
  return true;
}

Json measures_json(const MembershipAttack& attack) { return json_of_record(attack, form_measures); }

std::string to_json_text(const MembershipAttacks& attacks) {
  return checked_record(text_of(attacks), "attacks", parse_attacks);
}

MembershipAttacks parse_attacks(std::string_view text, const std::string& file) {
  MembershipAttacks attacks = parse_record(text, file, kAttackSchema, form_attacks);
  if (text_of(attacks) != text) {
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
