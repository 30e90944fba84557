#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"

#include "harness/app/accounting/access_options.hpp"
#include "harness/app/accounting/answers.hpp"
#include "harness/app/options.hpp"
#include "results/text/number_format.hpp"

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

// Seven significant digits of a number that is not smaller (`up`), or not larger, than the given one.
std::string shown(double number, bool up) {
  constexpr int kDigits = 7;
  return fmt::format(
      "{:.{}g}", up ? results::rounded_up(number, kDigits) : results::rounded_down(number, kDigits), kDigits);
}

bool is_given(const AccessSpec& spec, const std::string& unknown) {
  if (unknown == kNoise) return spec.noise_multiplier.has_value();
  if (unknown == kSteps) return spec.steps || spec.epochs;
  return spec.sampling_rate || spec.batch_size;
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
          "--epochs is given, but how many steps they are depends on the sampling rate; give --steps, "
          "or --batch-size to ask for something else");
    }
    knowns.steps = spec.count();
    if (!knowns.steps) throw Error::of("--steps is missing, or --epochs");
  }
  return knowns;
}

Answer ask_about(const std::string& accountant, const NoiseArguments& arguments, const std::string& unknown) {
  const bool fixed_size = arguments.spec.fixed_size();
  Answer answer{.accountant = accountant};
  answer.solution = calibrate(knowns_of(arguments, unknown),
                              epsilon_by(accountant, arguments.options.settings,
                                         fixed_size ? Sampling::kWithoutReplacement : Sampling::kPoisson,
                                         arguments.spec.neighbours()));
  const Setting& setting = answer.solution.setting;
  if (unknown == kSteps) {
    answer.number = static_cast<double>(setting.steps);
    answer.text = fmt::format("{}", setting.steps);
    answer.json = setting.steps;
    return answer;
  }
  // Printed rounded to the safe side: more noise, a smaller rate.
  answer.number = unknown == kNoise ? setting.noise_multiplier : setting.rate;
  answer.text = shown(answer.number, unknown == kNoise);
  answer.json = results::json_number(answer.number);
  return answer;
}

std::vector<Access> accesses_of(const NoiseArguments& arguments, const Solution& solution) {
  AccessSpec spec = arguments.spec;
  spec.sizes_are_public = spec.examples.has_value();
  spec.batch_size = spec.examples = std::nullopt;
  spec.epochs = std::nullopt;
  spec.noise_multiplier = solution.setting.noise_multiplier;
  spec.sampling_rate = solution.setting.rate;
  spec.steps = solution.setting.steps;
  return {spec.access()};
}

void print_noise_json(const std::vector<Answer>& answers, const Answer& best, const std::string& unknown,
                      const NoiseArguments& arguments) {
  std::string key = unknown;
  std::replace(key.begin(), key.end(), '-', '_');
  const Setting& setting = best.solution.setting;
  results::Json json;
  json[key] = best.json;
  add_answers(json, key, answers, best);
  json["epsilon"] = results::json_number(best.solution.epsilon);
  json["target_epsilon"] = *arguments.epsilon;
  json["delta"] = setting.delta;
  if (unknown != kNoise) json["noise_multiplier"] = setting.noise_multiplier;
  if (unknown != kRate) json["sampling_rate"] = setting.rate;
  if (unknown != kSteps) json["steps"] = setting.steps;
  print_json(std::move(json), Subject(arguments.options.settings, {accesses_of(arguments, best.solution)}),
             arguments.options.settings);
}

int run_noise(const NoiseArguments& arguments) {
  const QuestionOptions& options = arguments.options;
  if (!arguments.epsilon) throw Error::of("--epsilon is missing: the largest that is allowed");
  if (!options.has_delta) throw missing_delta();
  const std::string unknown = unknown_of(arguments);
  const std::vector<Answer> answers = ask_each(
      options, [&](const std::string& accountant) { return ask_about(accountant, arguments, unknown); });
  // The least noise, the most of all else.
  const Answer& best = best_of(answers, unknown == kNoise);
  if (options.json()) {
    print_noise_json(answers, best, unknown, arguments);
  } else {
    print_text(
        answers, Subject(options.settings, {accesses_of(arguments, best.solution)}), options.settings,
        fmt::format("{} by {}: epsilon {} <= {} at delta {}", unknown, explanation(best, options.settings),
                    results::epsilon_number(best.solution.epsilon), *arguments.epsilon,
                    options.settings.delta),
        ", of");
  }
  return kSuccess;
}

}  // namespace

void add_noise_command(CLI::App& app, Action& action) {
  const auto [command, arguments] =
      add_command(app, action, run_noise, "noise",
                  "Compute the noise that keeps epsilon; or the steps, or the sampling rate.");
  add_number(command, "--epsilon", arguments.epsilon, Constraint::at_least(0), "the largest that is allowed");
  add_question_options(command, arguments.options);
  add_access_options(command, arguments.spec, {"mechanism", "mechanism-epsilon", "dimension", "categories"});
  add_choice(command, "--solve", arguments.solve, {kNoise, kSteps, kRate},
             "noise-multiplier, steps or sampling-rate; left out: the first of them that is not given");
  command.footer("Example: fedarena noise --epsilon 2 --delta 1e-5 --sampling-rate 0.0256 --steps 3000");
}

}  // namespace fedarena
