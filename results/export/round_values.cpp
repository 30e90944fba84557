#include "results/export/round_values.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "results/measures/measure.hpp"
#include "results/text/number_format.hpp"

namespace fedarena::results {
namespace {

struct Kind {
  std::string_view name, group;
};

constexpr std::array<Kind, 29> kKinds = {{{"test_accuracy", "test"},
                                          {"test_loss", "test"},
                                          {"rmse", "test"},
                                          {"macro_f1", "test"},
                                          {"class_accuracy", "classes"},
                                          {"validation_accuracy", "validation"},
                                          {"validation_loss", "validation"},
                                          {"clients_tested", "clients"},
                                          {"client_accuracy_mean", "clients"},
                                          {"client_accuracy_worst", "clients"},
                                          {"client_accuracy_std", "clients"},
                                          {"client_macro_f1_mean", "clients"},
                                          {"client_rmse_mean", "clients"},
                                          {"client_rmse_worst", "clients"},
                                          {"client_rmse_std", "clients"},
                                          {"epsilon_rdp", "privacy"},
                                          {"epsilon_pld", "privacy"},
                                          {"as_if_epsilon_rdp", "privacy"},
                                          {"as_if_epsilon_pld", "privacy"},
                                          {"clients", "cost"},
                                          {"examples", "cost"},
                                          {"gradients", "cost"},
                                          {"operations", "cost"},
                                          {"operations_at_least", "cost"},
                                          {"uplink_bytes", "cost"},
                                          {"downlink_bytes", "cost"},
                                          {"train_seconds", "cost"},
                                          {"evaluation_seconds", "cost"},
                                          {"observed", "algorithm"}}};

class Values {
 public:
  explicit Values(const Measures& wanted) : wanted_(wanted) {}

  void add(std::string_view measure, double number, const std::string& suffix = {}) {
    add(measure, suffix, number, exact_number(number));
  }
  void add(std::string_view measure, const std::optional<double>& number, const std::string& suffix = {}) {
    if (number) add(measure, *number, suffix);
  }
  // All digits, also of counts that no double holds.
  void add_count(std::string_view measure, std::int64_t count) {
    add(measure, {}, static_cast<double>(count), std::to_string(count));
  }
  void add_claim(std::string_view measure, const std::optional<Claim>& claim) {
    if (claim) add(measure, claim->epsilon);
  }

  std::vector<RoundValue> take() { return std::move(values_); }

 private:
  void add(std::string_view measure, const std::string& suffix, double number, std::string text) {
    const auto* kind = std::ranges::find(kKinds, measure, &Kind::name);
    if (kind == kKinds.end()) throw Bug(fmt::format("measure {} is not listed", measure));
    if (!wanted_.empty() && std::ranges::find(wanted_, measure) == wanted_.end()) return;
    values_.push_back({.measure = kind->name,
                       .group = kind->group,
                       .name = std::string(measure) + suffix,
                       .number = number,
                       .text = std::move(text)});
  }

  const Measures& wanted_;
  std::vector<RoundValue> values_;
};

void add_client_errors(Values& values, const ClientErrors& clients) {
  values.add_count("clients_tested", clients.tested);
  values.add("client_rmse_mean", clients.rmse_mean);
  values.add("client_rmse_worst", clients.rmse_worst);
  values.add("client_rmse_std", clients.rmse_std);
}

void add_tests(Values& values, const RoundRecord& round) {
  values.add("test_accuracy", round.test_accuracy);
  values.add("test_loss", round.test_loss);
  values.add("rmse", value_of(Measure::kRmse, round));
  if (round.classes) {
    values.add("macro_f1", round.classes->macro_f1);
    for (std::size_t i = 0; i < round.classes->accuracy.size(); ++i) {
      values.add("class_accuracy", round.classes->accuracy[i], fmt::format("_{}", i));
    }
  }
  values.add("validation_accuracy", round.validation_accuracy);
  values.add("validation_loss", round.validation_loss);
  if (round.client_errors) add_client_errors(values, *round.client_errors);
  if (!round.per_client) return;
  values.add_count("clients_tested", round.per_client->tested);
  values.add("client_accuracy_mean", round.per_client->accuracy_mean);
  values.add("client_accuracy_worst", round.per_client->accuracy_worst);
  values.add("client_accuracy_std", round.per_client->accuracy_std);
  values.add("client_macro_f1_mean", round.per_client->macro_f1_mean);
}

void add_privacy(Values& values, const Summary& summary, const RoundRecord& round) {
  values.add("epsilon_rdp", round.epsilon);
  const bool last = summary.state == kFinished && round.round == summary.rounds_done;
  if (!last || !summary.privacy) return;
  values.add_claim("epsilon_pld", summary.privacy->pld);
  values.add_claim("as_if_epsilon_rdp", summary.privacy->as_if_rdp);
  values.add_claim("as_if_epsilon_pld", summary.privacy->as_if_pld);
}

void add_costs(Values& values, const RoundRecord& round) {
  values.add_count("clients", round.clients);
  values.add_count("examples", round.examples);
  if (round.cost) {
    values.add_count("gradients", round.cost->gradients);
    values.add_count("operations", round.cost->operations);
    values.add_count("operations_at_least", round.cost->at_least ? 1 : 0);
  }
  values.add_count("uplink_bytes", round.uplink_bytes);
  values.add_count("downlink_bytes", round.downlink_bytes);
  values.add("train_seconds", round.train_seconds);
  values.add("evaluation_seconds", round.evaluation_seconds);
}

}  // namespace

std::vector<std::string> exported_measures() {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

std::vector<RoundValue> round_values(const Summary& summary, const RoundRecord& round,
                                     const Measures& measures) {
  Values values(measures);
  add_tests(values, round);
  add_privacy(values, summary, round);
  add_costs(values, round);
  for (const auto& [name, value] : round.observed) values.add("observed", value, "_" + name);
  return values.take();
}

}  // namespace fedarena::results
