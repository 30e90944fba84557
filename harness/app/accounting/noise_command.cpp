#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "harness/app/accounting/access_options.hpp"
#include "harness/app/accounting/accountants.hpp"
#include "harness/app/accounting/answer_text.hpp"
#include "harness/app/accounting/checks.hpp"
#include "harness/app/commands.hpp"
#include "harness/app/accounting/number_text.hpp"
#include "harness/app/accounting/question_options.hpp"
#include "results/record/claim_text.hpp"
#include "results/text/text.hpp"

namespace fedarena {
namespace {

constexpr const char* kNoise = "noise-multiplier";
constexpr const char* kSteps = "steps";
constexpr const char* kRate = "sampling-rate";

struct NoiseArguments {
  AccessSpec spec;
  QuestionOptions options;
  std::optional<double> epsilon;
  std::string solve;
};

// What one accountant says.
struct NoiseFinding {
  Answer answer;
  Solution solution = {};
};

bool is_given(const AccessSpec& spec, const std::string& unknown) {
  if (unknown == kNoise) return spec.noise_multiplier.has_value();
  if (unknown == kSteps) return spec.steps || spec.epochs;
  return spec.sampling_rate || spec.batch_size || spec.examples;
}

// What is asked for: what --solve says, or the first that the command line leaves open.
std::string unknown_of(const NoiseArguments& arguments) {
  if (!arguments.solve.empty()) {
    if (is_given(arguments.spec, arguments.solve)) {
      throw Error::of("--solve {} asks for something that is given", arguments.solve);
    }
    return arguments.solve;
  }
  for (const char* unknown : {kNoise, kSteps, kRate}) {
    if (!is_given(arguments.spec, unknown)) return unknown;
  }
  throw Error(Complaint{.found = "nothing is left to solve for",
                        .allowed = "one of --noise-multiplier, --steps and --sampling-rate left out",
                        .remedy = "`fedarena epsilon` computes epsilon when all of them are known."});
}

Knowns knowns_of(const NoiseArguments& arguments, const std::string& unknown) {
  const AccessSpec& spec = arguments.spec;
  Knowns knowns;
  knowns.delta = arguments.options.settings.delta;
  knowns.epsilon = arguments.epsilon;
  if (unknown != kNoise) {
    if (!spec.noise_multiplier) throw Error::of("--noise-multiplier is missing");
    knowns.noise_multiplier = spec.noise_multiplier;
  }
  if (unknown != kRate) knowns.rate = spec.rate();
  if (unknown != kSteps) {
    if (unknown == kRate && spec.epochs) {
      throw Error::of(
          "--epochs is given, but how many steps they are depends on the sampling rate; give --steps");
    }
    knowns.steps = spec.count();
    if (!knowns.steps) throw Error::of("--steps is missing, or --epochs");
  }
  return knowns;
}

double value_of(const NoiseFinding& finding, const std::string& unknown) {
  const Setting& setting = finding.solution.setting;
  if (unknown == kNoise) return setting.noise_multiplier;
  return unknown == kSteps ? static_cast<double>(setting.steps) : setting.rate;
}

// Rounded to the safe side: more noise, fewer steps, a smaller rate.
std::string printed(const NoiseFinding& finding, const std::string& unknown) {
  if (unknown == kSteps) return fmt::format("{}", finding.solution.setting.steps);
  return unknown == kNoise ? shown_at_least(value_of(finding, unknown))
                           : shown_at_most(value_of(finding, unknown));
}

NoiseFinding ask_about(const std::string& accountant, const NoiseArguments& arguments, const std::string& unknown) {
  const bool fixed_size = arguments.spec.fixed_size();
  NoiseFinding finding{.answer = {.accountant = accountant}};
  try {
    finding.solution = calibrate(knowns_of(arguments, unknown),
                                 epsilon_by(accountant, arguments.options.settings,
                                            fixed_size ? Sampling::kWithoutReplacement : Sampling::kPoisson,
                                            arguments.spec.neighbours()));
    finding.answer.claim.epsilon = finding.solution.epsilon;
  } catch (const Error& error) {
    finding.answer = refusal(accountant, error, arguments.options);
  }
  return finding;
}

// The best of those that found something: the least noise, else the most.
const NoiseFinding& best_of(const std::vector<NoiseFinding>& findings, const std::string& unknown) {
  const NoiseFinding* best = nullptr;
  std::vector<Answer> answers;
  for (const NoiseFinding& finding : findings) {
    answers.push_back(finding.answer);
    if (!finding.answer.claim.epsilon) continue;
    const bool better =
        best == nullptr || (unknown == kNoise ? value_of(finding, unknown) < value_of(*best, unknown)
                                              : value_of(finding, unknown) > value_of(*best, unknown));
    if (better) best = &finding;
  }
  if (best == nullptr) refuse_unproven(answers);
  return *best;
}

std::vector<Access> accesses_of(const NoiseArguments& arguments, const Solution& solution) {
  AccessSpec spec = arguments.spec;
  spec.batch_size = spec.examples = std::nullopt;
  spec.epochs = std::nullopt;
  spec.noise_multiplier = solution.setting.noise_multiplier;
  spec.sampling_rate = solution.setting.rate;
  spec.steps = solution.setting.steps;
  return {spec.access()};
}

void print_text(const std::vector<NoiseFinding>& findings, const NoiseFinding& best, const std::string& unknown,
                const NoiseArguments& arguments) {
  const AccountSettings& settings = arguments.options.settings;
  for (const NoiseFinding& finding : findings) {
    if (findings.size() == 1) {
      fmt::print("{}\n", printed(finding, unknown));
    } else if (finding.answer.claim.epsilon) {
      fmt::print("{:<10}  {}\n", printed(finding, unknown), explanation(finding.answer, settings));
    } else {
      fmt::print("{:<10}  {}: {}\n", "-", explanation(finding.answer, settings),
                 finding.answer.claim.unproven);
    }
  }
  // The explanation is for people: what a script reads holds numbers alone.
  std::fflush(stdout);
  const std::vector<Access> accesses = accesses_of(arguments, best.solution);
  fmt::print(stderr, "{} by {}: epsilon {} <= {} at delta {}, adjacency {}{}, of\n{}", unknown,
             explanation(best.answer, settings), results::epsilon_number(best.solution.epsilon),
             *arguments.epsilon, settings.delta, adjacency_of(accesses), assumption_text(accesses, settings),
             access_lines(accesses));
}

void print_json(const std::vector<NoiseFinding>& findings, const NoiseFinding& best, const std::string& unknown,
                const NoiseArguments& arguments) {
  const auto number = [&](const NoiseFinding& finding) {
    return unknown == kSteps ? results::Json(finding.solution.setting.steps)
                             : results::json_number(value_of(finding, unknown));
  };
  std::string key = unknown;
  std::replace(key.begin(), key.end(), '-', '_');
  const Setting& setting = best.solution.setting;
  results::Json json;
  json[key] = number(best);
  json["accountant"] = best.answer.accountant;
  for (const NoiseFinding& finding : findings) {
    const std::string& accountant = finding.answer.accountant;
    const bool found = finding.answer.claim.epsilon.has_value();
    json[fmt::format("{}_{}", key, accountant)] = found ? number(finding) : results::Json(nullptr);
    if (!found) json["unproven_" + accountant] = finding.answer.claim.unproven;
  }
  json["epsilon"] = results::json_number(best.solution.epsilon);
  json["target_epsilon"] = *arguments.epsilon;
  json["delta"] = setting.delta;
  if (unknown != kNoise) json["noise_multiplier"] = setting.noise_multiplier;
  if (unknown != kRate) json["sampling_rate"] = setting.rate;
  if (unknown != kSteps) json["steps"] = setting.steps;
  describe_question(json, accesses_of(arguments, best.solution), arguments.options.settings);
  fmt::print("{}\n", results::json_text(json, 2));
}

int run_noise(const NoiseArguments& arguments) {
  if (!arguments.epsilon) throw Error::of("--epsilon is missing: the largest that is allowed");
  if (!arguments.options.has_delta) throw missing_delta();
  const std::string unknown = unknown_of(arguments);
  std::vector<NoiseFinding> findings;
  for (const std::string& accountant : arguments.options.accountants()) {
    findings.push_back(ask_about(accountant, arguments, unknown));
  }
  const NoiseFinding& best = best_of(findings, unknown);
  if (arguments.options.json()) {
    print_json(findings, best, unknown, arguments);
  } else {
    print_text(findings, best, unknown, arguments);
  }
  return kSuccess;
}

}  // namespace

void add_noise_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand(
      "noise", "Compute the noise that keeps epsilon; or the steps, or the sampling rate.");
  const auto arguments = std::make_shared<NoiseArguments>();
  add_number(*command, "--epsilon", arguments->epsilon, Constraint::at_least(0),
             "the largest that is allowed");
  add_question_options(*command, arguments->options);
  add_access_options(*command, arguments->spec,
                     {"mechanism", "mechanism-epsilon", "dimension", "categories"});
  command
      ->add_option_function<std::string>(
          "--solve",
          [arguments](const std::string& text) {
            check_name("--solve", text, {kNoise, kSteps, kRate});
            arguments->solve = text;
          },
          "noise-multiplier, steps or sampling-rate; left out: the first of them that is not given")
      ->type_name("NAME");
  command->footer("Example: fedarena noise --epsilon 2 --delta 1e-5 --sampling-rate 0.0256 --steps 3000");
  command->callback([arguments, &action] { action = [arguments] { return run_noise(*arguments); }; });
}

}  // namespace fedarena
