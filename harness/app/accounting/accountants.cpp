#include "harness/app/accounting/accountants.hpp"

#include <cmath>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "fedarena/accounting/conversion.hpp"
#include "fedarena/accounting/gaussian.hpp"
#include "fedarena/accounting/pld.hpp"
#include "fedarena/accounting/pure.hpp"
#include "fedarena/accounting/rdp.hpp"
#include "fedarena/accounting/unproven.hpp"
#include "fedarena/base/error.hpp"

namespace fedarena {
namespace {

// The question as accountants are to read it.
Question checked(Question question) {
  for (const Access& access : question.accesses) validate(access.event);
  question.accesses = as_assumed(std::move(question.accesses), question.settings);
  const std::set<Adjacency> found = adjacencies(question.accesses);
  if (found.size() < 2) return question;
  throw Unproven(Complaint{.found = fmt::format("the accesses mix {} neighbours", describe(found))});
}

RdpAccountant compose(const Question& question) {
  RdpAccountant accountant(rdp_orders(question.settings.orders));
  for (const Access& access : question.accesses) accountant.add(access.event, access.count);
  return accountant;
}

void ask_rdp(const Question& question, Answer& answer) {
  const RdpEpsilon found =
      compose(question).epsilon(question.settings.delta, conversion_of(question.settings.conversion));
  answer.number = found.epsilon;
  if (std::isfinite(found.epsilon) && found.epsilon > 0) answer.order = found.order;
}

void ask_pld(const Question& question, Answer& answer) {
  const PldEpsilon found =
      pld_epsilon(question.accesses, question.settings.delta, {.lower_bound = question.lower});
  answer.number = found.upper;
  answer.lower = found.lower;
  if (question.lower && !found.lower)
    answer.no_lower = "none is known for Laplace noise in R^n, or for replace-one beside zero-out";
  answer.wide = !found.as_near_as_wanted;
}

// The noise multiplier of one Gaussian mechanism that tells as much as all accesses.
double composed_noise(const Question& question) {
  std::vector<GaussianBlock> blocks;
  const auto add = [&](double noise_multiplier, Adjacency adjacency, std::int64_t count) {
    // Exchanging a unit moves the sum by twice the clip norm.
    blocks.push_back({adjacency == Adjacency::kReplaceOne ? noise_multiplier / 2 : noise_multiplier, count});
  };
  for (const Access& access : question.accesses) {
    if (const auto* gaussian = std::get_if<Gaussian>(&access.event)) {
      add(gaussian->noise_multiplier, gaussian->adjacency, access.count);
      continue;
    }
    const auto* sampled = std::get_if<SampledGaussian>(&access.event);
    if (sampled == nullptr || (sampled->rate != 1 && sampled->rate != 0)) {
      throw Unproven(Complaint{
          .found = fmt::format("the exact accountant knows Gaussian mechanisms without sampling only, not {}",
                               describe(access.event))});
    }
    if (sampled->rate == 1) add(joint_noise_multiplier(*sampled), sampled->adjacency, access.count);
  }
  return composed_noise_multiplier(blocks);
}

void ask_gaussian(const Question& question, Answer& answer) {
  const double noise = composed_noise(question);
  answer.number = std::isinf(noise) ? 0 : gaussian_epsilon(question.settings.delta, noise);
}

using Ask = void (*)(const Question& question, Answer& answer);

Ask named(const std::string& accountant) {
  if (accountant == "rdp") return ask_rdp;
  if (accountant == "pld") return ask_pld;
  return ask_gaussian;
}

double rdp_delta(const Question& question, double epsilon) {
  if (question.settings.conversion != "balle") {
    throw Error::of("delta is computed by the conversion \"balle\" only, not \"{}\"",
                    question.settings.conversion);
  }
  const RdpAccountant accountant = compose(question);
  double pure = 0;
  for (const Access& access : question.accesses) {
    pure += static_cast<double>(access.count) * pure_epsilon(access.event);
  }
  return pure <= epsilon ? 0 : delta_of_rdp(accountant.orders(), accountant.rdp(), epsilon);
}

}  // namespace

const std::vector<std::string>& accountant_names() {
  static const std::vector<std::string> kNames = {"rdp", "pld", "gaussian"};
  return kNames;
}

Answer ask(const std::string& accountant, const Question& question) {
  const Question read = checked(question);
  Answer answer{.accountant = accountant};
  named(accountant)(read, answer);
  return answer;
}

Answer ask_delta(const std::string& accountant, const Question& question, double epsilon) {
  const Question read = checked(question);
  Answer answer{.accountant = accountant};
  if (accountant == "rdp") {
    answer.number = rdp_delta(read, epsilon);
  } else if (accountant == "pld") {
    answer.number = pld_delta(read.accesses, epsilon);
  } else {
    const double noise = composed_noise(read);
    answer.number = std::isinf(noise) ? 0 : gaussian_delta(epsilon, noise);
  }
  return answer;
}

EpsilonOf epsilon_by(const std::string& accountant, const AccountSettings& settings, Sampling sampling,
                     Adjacency adjacency) {
  return [=, ask_one = named(accountant)](const Setting& setting) {
    Question question{{}, settings, false};
    question.settings.delta = setting.delta;
    const SampledGaussian event{sampling, setting.rate, {setting.noise_multiplier}, adjacency};
    if (setting.steps > 0) question.accesses.push_back({event, setting.steps});
    Answer answer;
    ask_one(checked(std::move(question)), answer);
    return answer.number;
  };
}

}  // namespace fedarena
