#include "results/audit/expected_ledger.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/stream.hpp"
#include "fedarena/base/text.hpp"

#include "results/record/partition_file.hpp"
#include "results/text/text.hpp"

namespace fedarena::results {
namespace {

// Local SGD: one noised access a step.
constexpr std::array<std::string_view, 15> kLocalTraining = {
    "fedavg",  "dp-fedavg", "fedprox",   "dp-fedprox", "fednova", "scaffold", "fedavgm", "fedadagrad",
    "fedadam", "fedyogi",   "fine-tune", "ditto",      "ifca",    "feddf",    "dense"};

// What else this program brings along whose clients send something in every round, which the server looks at.
constexpr std::array<std::string_view, 12> kReadMessages = {"ldp-fedavg", "fedsgd", "fedmeta",   "per-fedavg",
                                                            "fedlap",     "feddm",  "fedlap-dp", "fedgm",
                                                            "fedd3",      "dsc",    "psg",       "sda-fl"};

// Of these, whose server sends something else than one model.
constexpr std::array<std::string_view, 8> kOtherDownlinks = {"ifca", "fedgm",      "fedd3",  "dsc",
                                                             "psg",  "per-fedavg", "sda-fl", "ldp-fedavg"};
// Whose clients send the change of one model and their number of examples, and nothing else.
constexpr std::array<std::string_view, 14> kSendChanges = {
    "fedavg",     "dp-fedavg", "fedprox", "dp-fedprox", "fine-tune", "ditto", "fedavgm",
    "fedadagrad", "fedadam",   "fedyogi", "per-fedavg", "feddf",     "dense", "ldp-fedavg"};
// Of these, who computes gradients of examples of clients, each of which is counted, and nothing else.
constexpr std::array<std::string_view, 9> kCountOnce = {"fedavg",     "dp-fedavg", "fedprox",
                                                        "dp-fedprox", "fedavgm",   "fedadagrad",
                                                        "fedadam",    "fedyogi",   "ldp-fedavg"};
// Whose clients send a gradient in its place.
constexpr std::array<std::string_view, 2> kSendGradients = {"fedsgd", "fedmeta"};
// Whose test examples are of the same users as their training examples.
constexpr std::array<std::string_view, 2> kUsersInBothParts = {"fed-emnist", "linear-mixture"};

// Whose first round makes synthetic examples, and trains nothing.
constexpr std::string_view kPppfl = "pppfl";

// Of counts that are not negative; an edited file may hold any number.
std::int64_t times(std::int64_t left, std::int64_t right) {
  constexpr std::int64_t kMost = std::int64_t{1} << 60;
  std::int64_t product = 0;
  return __builtin_mul_overflow(left, right, &product) ? kMost : std::min(product, kMost);
}

}  // namespace

ExpectedLedger::ExpectedLedger(std::string_view toml, const std::string& file)
    : file_(file), settings_(resolved_settings(toml)) {
  section_ = settings_.policy_section();
  policy_ = setting("policy", "none");
  algorithm_ = settings_.of("algorithms.name");
}

double ExpectedLedger::number(const std::string& name, std::int64_t client) const {
  if (name == "noise_multiplier" && is_control()) return 0;
  const std::string text = setting(name, "missing");
  std::optional<double> value = parse_number<double>(text);
  if (text.size() > 2 && text.front() == '[' && text.back() == ']') {
    const auto elements = split_at_commas(std::string_view(text).substr(1, text.size() - 2));
    value = parse_number<double>(elements[static_cast<std::size_t>(client) % elements.size()]);
  }
  if (value) return *value;
  throw Error::in(file_, fmt::format("{}{} is {}", section_, name, text),
                  {.allowed = "a number", .remedy = "the file is damaged or was edited; restore it"});
}

std::optional<std::int64_t> ExpectedLedger::clients() const {
  const auto clients = settings_.number<std::int64_t>("partition.clients", 0);
  return clients > 0 ? std::optional(clients) : std::nullopt;
}

std::int64_t ExpectedLedger::cohort_size(std::int64_t trained) const {
  const auto fraction = settings_.number<double>("cohort.fraction", 0);
  if (fraction > 0) {
    const auto all = static_cast<double>(trained);
    return static_cast<std::int64_t>(std::max(1.0, std::min(all, std::round(fraction * all))));
  }
  const auto size = settings_.number<std::int64_t>("cohort.size", 0);
  return size == 0 ? trained : size;
}

Stream ExpectedLedger::cohort_draws(std::int64_t round) const {
  const std::string seeds = settings_.of("experiment.seeds");
  const std::string_view seed = std::string_view(seeds).substr(0, seeds.find(']'));
  return Stream(
      {.seed = static_cast<std::uint64_t>(
           parse_number<std::int64_t>(seed.substr(std::min<std::size_t>(1, seed.size()))).value_or(0)),
       .round = round,
       .client = kServer,
       .purpose = Purpose::kCohort,
       .index = 0});
}

std::vector<std::int64_t> ExpectedLedger::held_out(std::int64_t clients) const {
  const auto part = settings_.number<double>("evaluation.held_out_clients", 0);
  if (!(part > 0) || clients < 2) return {};
  // An edited file may hold any part.
  const double count =
      std::clamp(std::round(part * static_cast<double>(clients)), 1.0, static_cast<double>(clients - 1));
  return cohort_draws(0).sample_without_replacement(clients, static_cast<std::int64_t>(count));
}

std::vector<std::int64_t> ExpectedLedger::cohort(std::int64_t round, std::int64_t clients) const {
  const std::vector<std::int64_t> never = held_out(clients);
  std::vector<std::int64_t> training;
  for (std::int64_t client = 0; client < clients; ++client) {
    if (!std::ranges::binary_search(never, client)) training.push_back(client);
  }
  const auto all = std::ssize(training);
  const std::int64_t size = std::clamp<std::int64_t>(cohort_size(all), 0, all);
  const bool poisson = policy_ == "client" && setting("sampling", "poisson") == "poisson";
  Stream draws = cohort_draws(round);
  std::vector<std::int64_t> cohort;
  if (!poisson && size < all) {
    for (const std::int64_t place : draws.sample_without_replacement(all, size))
      cohort.push_back(training[static_cast<std::size_t>(place)]);
    return cohort;
  }
  const double rate = static_cast<double>(size) / static_cast<double>(all);
  for (const std::int64_t client : training) {
    if (!poisson || draws.uniform() < rate) cohort.push_back(client);
  }
  return cohort;
}

std::optional<std::int64_t> ExpectedLedger::models() const {
  if (algorithm_ != "ifca") return std::nullopt;
  return settings_.number<std::int64_t>("algorithms.hypotheses", 2);
}

bool ExpectedLedger::is_known() const {
  return contains(kLocalTraining, algorithm_) || contains(kReadMessages, algorithm_) || algorithm_ == kPppfl;
}

SampledGaussian ExpectedLedger::event(double rate, std::vector<double> noise_multipliers) const {
  const bool poisson = setting("sampling", "poisson") == "poisson";
  return {.sampling = poisson ? Sampling::kPoisson : Sampling::kWithoutReplacement,
          .rate = rate,
          .noise_multipliers = std::move(noise_multipliers),
          .adjacency = poisson ? Adjacency::kZeroOut : Adjacency::kReplaceOne};
}

SampledGaussian ExpectedLedger::of_records(std::int64_t client) const {
  return event(1, {number("noise_multiplier", client)});
}

std::set<double> ExpectedLedger::rates(std::int64_t examples) const {
  if (!is_known() || !settings_.has("algorithms.batch_size")) return {};
  // The whole shard is always an answer: where a batch is as large, and where an algorithm asks for it.
  std::set<double> rates{1.0};
  const auto add = [&](std::int64_t batch) {
    if (batch > 0 && batch < examples)
      rates.insert(static_cast<double>(batch) / static_cast<double>(examples));
  };
  add(own("batch_size"));
  if (is("generator", "psg")) add(own("psg_batch_size"));
  return rates;
}

std::int64_t ExpectedLedger::own(const std::string& name) const {
  return std::max<std::int64_t>(0, settings_.number<std::int64_t>("algorithms." + name, 0));
}

std::int64_t ExpectedLedger::sgd_steps(std::int64_t examples, const char* steps, const char* epochs) const {
  if (own(steps) > 0) return times(own(steps), 1);
  const std::int64_t batch = own("batch_size");
  const std::int64_t rest = batch > 0 && examples % batch != 0 ? 1 : 0;
  return times(own(epochs), batch == 0 ? 1 : examples / batch + rest);
}

std::optional<ExpectedLedger::Generation> ExpectedLedger::generation(std::int64_t client,
                                                                     std::int64_t examples) const {
  const bool sends_pool = algorithm_ == "sda-fl";
  const SampledGaussian gradient = of_records(client);
  const auto condensed = [&](const char* models, const char* points, const char* batches, const char* batch) {
    SampledGaussian answer = gradient;
    const std::int64_t size = own(batch);
    if (size > 0 && size < examples) answer.rate = static_cast<double>(size) / static_cast<double>(examples);
    return Generation{.answer = answer, .answers = times(times(own(models), own(points)), own(batches))};
  };
  if (algorithm_ == "psg" && has("initialisations"))
    return condensed("initialisations", "outer_steps", "real_batches", "batch_size");
  if (!(algorithm_ == kPppfl || sends_pool) || !has("generator_steps") || !has("psg_models"))
    return std::nullopt;
  const double noise = gradient.noise_multipliers.front();
  Generation generation{.answer = Gaussian{noise, gradient.adjacency}};  // noise, real: none
  if (is("generator", "psg"))
    generation = condensed("psg_models", "psg_points", "psg_gradients", "psg_batch_size");
  if (is("generator", "dp-merf")) generation.answers = 1;
  if (is("generator", "datalens")) {
    // Without a number of steps, as many as the budget pays for.
    const std::int64_t steps = own("generator_steps");
    generation.answer = Gaussian{noise, Adjacency::kReplaceOne};
    generation.answers = times(steps > 0 ? steps : std::int64_t{1} << 60, own("generator_batch_size"));
  }
  if (sends_pool) generation.steps = sgd_steps(examples, "local_steps", "local_epochs");
  return generation;
}

std::optional<ExpectedLedger::Plan> ExpectedLedger::plan(std::int64_t examples) const {
  const bool looks_at_losses = algorithm_ == "fedlap" && measures_regions() && is("region", "loss");
  return looks_at_losses ? std::nullopt : noised_answers(examples);
}

bool ExpectedLedger::measures_regions() const {
  return !is("server_radius", "constant") && !is("server_radius", "none");
}

std::optional<ExpectedLedger::Plan> ExpectedLedger::noised_answers(std::int64_t examples) const {
  std::int64_t batches = 0, whole = 0;
  if (algorithm_ == "fedlap" || algorithm_ == "fedlap-dp") {
    batches = times(times(own("trajectories"), own("outer_steps")), own("real_batches"));
    const bool measures = measures_regions();
    if (measures && is("region", "gradient")) whole = times(own("server_epochs"), 1);
    if (measures && is("region", "votes")) whole = 1;
    if (is("server_calibration", "true")) ++whole;
  } else if (algorithm_ == "fedsgd") {
    batches = 1;
  } else if (algorithm_ == "fedmeta") {
    batches = times(own("inner_steps"), 1) + 1;
  } else if (algorithm_ == "per-fedavg") {
    batches = times(own("local_steps"), 2);
    if (is("hessian", "hessian-free")) whole = batches;
  } else if (algorithm_ == "feddm" && is("class_means", "votes")) {
    return Plan{0, times(own("iterations"), 1)};
  } else if (contains(kLocalTraining, algorithm_) && algorithm_ != "ifca") {
    batches = sgd_steps(examples, "local_steps", "local_epochs");
    // A control variate that is a gradient of its own, and the steps of a model of the client's own.
    if (algorithm_ == "scaffold" && is("option", "I")) whole = 1;
    if (algorithm_ == "ditto") batches += sgd_steps(examples, "personal_steps", "personal_epochs");
  } else {
    return std::nullopt;
  }
  const std::int64_t batch = own("batch_size");
  return batch > 0 && batch < examples ? Plan{batches, whole} : Plan{0, batches + whole};
}

std::optional<ExpectedLedger::Count> ExpectedLedger::accesses(std::int64_t examples) const {
  const std::optional<Plan> answers = noised_answers(examples);
  std::int64_t all = 0;
  if (answers) {
    all = answers->sampled + answers->whole;
  } else if (algorithm_ == "ifca") {
    all = sgd_steps(examples, "local_steps", "local_epochs");
  } else {
    return std::nullopt;
  }
  // A walk may end early, and who has no images asks for nothing.
  const bool may_ask_for_less = algorithm_.starts_with("fedlap") || algorithm_ == "feddm";
  return Count{may_ask_for_less ? 0 : all, all};
}

bool ExpectedLedger::may_send_nothing(std::int64_t round) const {
  if (algorithm_ == kPppfl) {
    constexpr const char* kRate = "algorithms.server_rate";
    const bool trains = !settings_.has(kRate) || settings_.number<double>(kRate, 0) > 0;
    return round == 1 || !trains;
  }
  return !contains(kLocalTraining, algorithm_) && !contains(kReadMessages, algorithm_);
}

std::optional<bool> ExpectedLedger::declares_nothing(std::int64_t round) const {
  if (algorithm_ == kPppfl)
    return may_send_nothing(round) && settings_.of("algorithms.weights", "uniform") != "budget";
  return may_send_nothing(round) ? std::nullopt : std::optional(false);
}

bool ExpectedLedger::may_answer_nothing(std::int64_t round, std::int64_t clients) const {
  return may_send_nothing(round) || (algorithm_ == kPppfl && cohort(round, clients).empty());
}

std::vector<double> ExpectedLedger::multipliers(std::int64_t cohort) const {
  const double both = number("noise_multiplier");
  if (setting("adaptive_clipping", "false") != "true") return {both};
  // A bit is sent as plus or minus one half.
  double count = 2 * number("count_noise");
  if (count == 0) count = static_cast<double>(cohort) / 10;
  if (both == 0) return {0, count};
  return {1 / std::sqrt(std::pow(both, -2) - std::pow(count, -2)), count};
}

Event ExpectedLedger::of_messages(std::int64_t client) const {
  const std::string mechanism = setting("mechanism", "gaussian");
  const double noise = number("noise_multiplier", client), clip_norm = number("clip_norm");
  if (mechanism == "gaussian") return Gaussian{noise, Adjacency::kReplaceOne};
  if (mechanism == "laplace-relative") return ExactAccess{"messages, under noise scaled by their own norm"};
  if (noise == 0) return ExactAccess{"messages"};
  // Any two messages lie at most two clip norms apart.
  if (clip_norm > 0) return Laplace{1, 2 * clip_norm / (noise * clip_norm)};
  return MetricLaplace{1, noise};
}

std::optional<std::int64_t> ExpectedLedger::vectors() const {
  if (!is_known()) return std::nullopt;
  return algorithm_ == "scaffold" ? 2 : 1;  // beside the model's change, that of the control variate
}

ExpectedLedger::Count ExpectedLedger::releases() const {
  if (!by_tensor()) return {1, 1};
  const std::optional<std::int64_t> tensors = expected_tensors(settings_), vectors = this->vectors();
  if (!tensors) return {1, kAnyCount};
  if (!vectors) return {std::min<std::int64_t>(*tensors, 2), kAnyCount};
  return {times(*tensors, *vectors), times(*tensors, *vectors)};
}

bool ExpectedLedger::may_have_any_releases() const { return by_tensor() && !expected_tensors(settings_); }

std::optional<std::int64_t> ExpectedLedger::numbers_released(std::int64_t parameters) const {
  const std::optional<std::int64_t> vectors = this->vectors();
  return vectors ? std::optional(times(parameters, *vectors)) : std::nullopt;
}

std::optional<std::int64_t> ExpectedLedger::bytes_sent_down(std::int64_t parameters) const {
  constexpr std::int64_t kFrame = 32, kFrameOfTwo = 58;  // of a message that is one vector, or two
  if (algorithm_ == "scaffold") return times(2, bytes_of_model(parameters)) + kFrameOfTwo;
  const std::optional<std::int64_t> vectors = this->vectors();
  if (vectors != 1 || contains(kOtherDownlinks, algorithm_)) return std::nullopt;
  return bytes_of_model(parameters) + kFrame;
}

std::optional<std::int64_t> ExpectedLedger::bytes_sent_up(std::int64_t parameters) const {
  constexpr std::int64_t kFrame = 33 + 18, kFrameOfTwo = 72;  // of a vector and a number, and of two vectors
  constexpr std::int64_t kLongerName = 2;                     // "gradient" for "update"
  if (algorithm_ == "scaffold") return times(2, bytes_of_model(parameters)) + kFrameOfTwo;
  const bool gradients = contains(kSendGradients, algorithm_);
  if (!gradients && !contains(kSendChanges, algorithm_)) return std::nullopt;
  return bytes_of_model(parameters) + kFrame + (gradients ? kLongerName : 0);
}

bool ExpectedLedger::counts_examples_by_gradients() const { return contains(kCountOnce, algorithm_); }

std::int64_t ExpectedLedger::bytes_of_model(std::int64_t parameters) const {
  return times(parameters, settings_.of("experiment.dtype") == "float64" ? 8 : 4);
}

bool ExpectedLedger::may_have_centres() const {
  if (algorithm_ != "ifca") return !accesses(0);
  return is("assign", "k-means") && models().value_or(1) > 1;
}

RandomizedResponse ExpectedLedger::of_labels(std::int64_t classes) const {
  // Under a prior, the worst that it may choose: two classes.
  const bool under_prior = setting("stages", "1") == "2";
  return {under_prior ? 2 : classes == 0 ? 0 : std::max<std::int64_t>(classes, 2), number("epsilon")};
}

SampledGaussian ExpectedLedger::of_clients(std::int64_t clients) const {
  const std::int64_t trained = this->trained(clients);
  const std::int64_t cohort = cohort_size(trained);
  const std::int64_t larger = as_if_cohort();
  std::vector<double> multipliers = this->multipliers(larger > 0 ? larger : cohort);
  if (larger > 0) {
    for (double& multiplier : multipliers) {
      multiplier = multiplier * static_cast<double>(cohort) / static_cast<double>(larger);
    }
  }
  return event(static_cast<double>(cohort) / static_cast<double>(trained), std::move(multipliers));
}

std::optional<SampledGaussian> ExpectedLedger::as_if() const {
  const std::int64_t larger = as_if_cohort();
  if (larger <= 0) return std::nullopt;
  return event(static_cast<double>(larger) / number("as_if_population"), multipliers(larger));
}

bool ExpectedLedger::declares_public(const std::string& what) const {
  std::string name = "public_" + what;
  std::ranges::replace(name, ' ', '_');
  return setting(name, "false") == "true";
}

std::vector<std::string> ExpectedLedger::public_data(const std::vector<std::string>& recorded) const {
  std::vector<std::string> list;
  if (policy_ == "none") return list;
  if (settings_.of("proxy.name", "none") != "none") list.emplace_back("the server's proxy data");
  if (!settings_.of("model.weights").empty()) list.emplace_back("the initial weights");
  const std::string data = settings_.of("data.name"), standardise = settings_.of("data.standardise");
  const bool table = data == "csv", images = data == "image-folder";
  if (table && settings_.of("data.features").empty()) list.emplace_back("which columns hold numbers");
  if (table && !settings_.of("data.categorical").empty()) list.emplace_back("the categories");
  if (images || (table && settings_.of("data.task") != "regression")) list.emplace_back("the classes");
  if (table && settings_.of("data.missing") == "drop") list.emplace_back("which rows have missing values");
  if (table && standardise == "all")
    list.emplace_back("means and deviations of the features and the target");
  else if ((table && standardise == "features") || (images && standardise == "true"))
    list.emplace_back("means and deviations of the features");
  const std::string kind = settings_.of("partition.kind"), own_tests = "the clients' own test examples";
  if (const std::string deal = public_deal(policy_, data, kind); !deal.empty()) list.push_back(deal);
  const bool tests_users =
      kind == "by-user" && (contains(kUsersInBothParts, data) || contains(recorded, own_tests));
  if ((policy_ == "client" || policy_ == "local") &&
      (settings_.of("evaluation.per_client") == "true" || tests_users))
    list.push_back(own_tests);
  const auto is_part = [&](const char* key) { return settings_.number<double>(key, 0) > 0; };
  if (is_part("evaluation.validation_fraction")) list.emplace_back("the validation examples");
  if (is_part("evaluation.held_out_clients")) list.emplace_back("the scores of held-out clients");
  return list;
}

}  // namespace fedarena::results
