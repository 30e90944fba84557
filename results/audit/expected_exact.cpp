// What an experiment looks at outside of every mechanism, whatever comes of its training.
#include <array>

#include "fedarena/base/find.hpp"

#include "results/audit/expected_ledger.hpp"

namespace fedarena::results {
namespace {

// Whose clients begin each round with a set of synthetic images.
constexpr std::array<std::string_view, 7> kSetMakers = {"fedlap", "fedlap-dp", "feddm", "dsc",
                                                        "fedgm",  "fedd3",     "psg"};

// Whose steps compare these with the client's own examples.
constexpr std::array<std::string_view, 3> kExampleReaders = {"dsc", "fedgm", "fedd3"};

// Whose examples say whose they are, so that clients may be tested on those of their users.
constexpr std::array<std::string_view, 3> kDataWithUsers = {"femnist", "fed-emnist", "linear-mixture"};

}  // namespace

Event ExpectedLedger::access_to(const std::string& what) const {
  if (declares_public(what)) return DeclaredPublic{what};
  return ExactAccess{what};
}

std::optional<Event> ExpectedLedger::label_counts_of_tests() const {
  if (policy_ == "none" || settings_.of("evaluation.per_client") != "true") return std::nullopt;
  const bool has_users =
      contains(kDataWithUsers, settings_.of("data.name")) || !settings_.of("data.user").empty();
  if (has_users) return std::nullopt;
  return access_to("label counts");
}

std::vector<Event> ExpectedLedger::exact_accesses(std::int64_t examples, bool first) const {
  std::vector<Event> due;
  const bool in_halves = algorithm_ == "fedgm" && settings_.number<double>("algorithms.label_epsilon", 0) > 0;
  const bool makes_sets = contains(kSetMakers, algorithm_) && !in_halves;
  if (makes_sets && is("classes", "held")) {
    const bool counts_are_public = !declares_public("classes") && declares_public("label counts");
    due.push_back(access_to(counts_are_public ? "label counts" : "classes"));
  }
  if (examples == 0 || has_empty_places()) return due;
  const bool starts_from_real =
      makes_sets && is("image_init", "real") && (first || !is("carry_images", "true"));
  const bool compares = (makes_sets && contains(kExampleReaders, algorithm_)) ||
                        (algorithm_ == "feddm" && is("class_means", "examples"));
  const bool draws = algorithm_ == "pppfl" && is("generator", "real") && first;
  if (starts_from_real || compares || draws) due.emplace_back(ExactAccess{"examples"});
  const bool walks = algorithm_ == "fedlap" || algorithm_ == "fedlap-dp";
  const bool measures =
      walks && is("region", "loss") && !is("server_radius", "constant") && !is("server_radius", "none");
  if (measures || algorithm_ == "ifca") due.emplace_back(ExactAccess{"loss"});
  return due;
}

bool ExpectedLedger::reads_each_message() const {
  return contains(kSetMakers, algorithm_) || algorithm_ == "ifca";
}

}  // namespace fedarena::results
