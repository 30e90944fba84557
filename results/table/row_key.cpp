#include "results/table/row_key.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "results/text/natural_order.hpp"
#include "results/text/number_format.hpp"
#include "results/table/row_conditions.hpp"
#include "results/table/tuning_text.hpp"

namespace fedarena::results {
namespace {

// Less than 0, 0 or greater, as people order texts.
int compare_texts(const std::string& left, const std::string& right) {
  return natural_less(left, right) ? -1 : natural_less(right, left) ? 1 : 0;
}

int compare_sweeps(const Sweep& left, const Sweep& right) {
  for (std::size_t index = 0; index < std::min(left.size(), right.size()); ++index) {
    if (const int order = compare_texts(left[index].first, right[index].first)) return order;
    if (const int order = compare_values(left[index].second, right[index].second)) return order;
  }
  return left.size() < right.size() ? -1 : left.size() > right.size() ? 1 : 0;
}

// What the runs of a row must share, as text, so that a mean is never taken over different things.
std::vector<std::pair<std::string, std::string>> identity(const Summary& summary) {
  std::vector<std::pair<std::string, std::string>> facts = {
      {"algorithm", summary.algorithm},
      {"rounds", std::to_string(summary.rounds)},
      {"clients", std::to_string(summary.clients)},
      {"parameters", std::to_string(summary.parameters)},
      {"final_test_accuracy", summary.final_test_accuracy ? "a number" : "null"},
      {"policy", summary.policy},
      {"dataset_note", summary.dataset_note},
  };
  const PrivacyClaim claim = summary.privacy.value_or(PrivacyClaim{});
  facts.emplace_back("adjacency", claim.adjacency);
  facts.emplace_back("delta", exact_number(claim.settings.delta));
  facts.emplace_back("orders", claim.settings.orders);
  facts.emplace_back("conversion", claim.settings.conversion);
  facts.emplace_back("assume", claim.settings.assume);
  facts.emplace_back("as_if_epsilon_rdp", claim.as_if_rdp ? "an epsilon" : "null");
  facts.emplace_back("budget", exact_number(claim.budget));
  facts.emplace_back("tuning", search_text(summary.tuning));
  return facts;
}

// The parameters of both runs' algorithms by name; a run of another version may lack some.
std::map<std::string, std::array<std::string, 2>> parameters_of_both(const Summary& first,
                                                                     const Summary& second) {
  std::map<std::string, std::array<std::string, 2>> both;
  const auto fill = [&](const Summary& summary, std::size_t side) {
    for (const auto& [name, value] : summary.algorithm_parameters) {
      both.try_emplace(name, std::array<std::string, 2>{"nothing", "nothing"}).first->second.at(side) = value;
    }
  };
  fill(first, 0);
  fill(second, 1);
  return both;
}

[[noreturn]] void reject_pair(const FoundRun& first, const FoundRun& second, const std::string& what) {
  throw Error(Complaint{.place = {},
                        .found = fmt::format("{} and {} {}", first.path.string(), second.path.string(), what),
                        .allowed = {},
                        .nearest = {},
                        .remedy = "name only one of them, or give their algorithm entries different labels"});
}

}  // namespace

std::string row_name(const std::string& label, const Sweep& own) {
  return own.empty() ? label : fmt::format("{}, {}", label, sweep_text(own));
}

RowKey key_of(const Summary& summary) {
  return {.experiment = summary.experiment,
          .shared = shared_sweep(summary.sweep),
          .names = {summary.dataset, summary.partition, summary.model, summary.label},
          .own = own_sweep(summary.sweep, summary.label)};
}

bool RowOrder::operator()(const RowKey& left, const RowKey& right) const {
  if (const int order = compare_texts(left.experiment, right.experiment)) return order < 0;
  if (const int order = compare_sweeps(left.shared, right.shared)) return order < 0;
  for (std::size_t index = 0; index < left.names.size(); ++index) {
    if (const int order = compare_texts(left.names[index], right.names[index])) return order < 0;
  }
  return compare_sweeps(left.own, right.own) < 0;
}

void check_same_row(const FoundRun& first, const FoundRun& second) {
  const auto check = [&](const std::string& what, const std::string& left, const std::string& right) {
    if (left == right) return;
    reject_pair(first, second,
                fmt::format("belong to one row, \"{}\", but differ in {}: \"{}\" and \"{}\"",
                            first.summary->label, what, left, right));
  };
  const auto left = identity(*first.summary);
  const auto right = identity(*second.summary);
  for (std::size_t i = 0; i < left.size(); ++i) check(left[i].first, left[i].second, right[i].second);
  for (const auto& [name, values] : parameters_of_both(*first.summary, *second.summary))
    check(name, values[0], values[1]);
  // Records of before there was a setting lack it.
  const auto others = row_conditions(second.path);
  for (const auto& [key, value] : row_conditions(first.path)) {
    if (const auto found = others.find(key); found != others.end()) check(key, value, found->second);
  }
  if (first.summary->seed == second.summary->seed) {
    reject_pair(first, second,
                fmt::format("both hold seed {} of \"{}\"", first.summary->seed, first.summary->label));
  }
}

}  // namespace fedarena::results
