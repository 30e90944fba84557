#include "harness/app/accounting/access_options.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "fedarena/accounting/names.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/schema.hpp"

#include "harness/app/options.hpp"

namespace fedarena {
namespace {

const std::vector<std::string> kMechanisms = {"gaussian", "laplace", "randomized-response"};
const std::vector<std::string> kSamplings = {kSamplingNames.begin(), kSamplingNames.end()};
const std::vector<std::string> kAdjacencies = {kAdjacencyNames.begin(), kAdjacencyNames.end()};

// One thing that can be said about accesses, as an option or as a part of --and.
struct Key {
  std::string name;
  std::string type;
  std::vector<std::string> mechanisms;  // that know it; none: all
  std::string doc;
  std::function<void(AccessSpec& spec, const std::string& option, const std::string& text)> set;
  std::function<bool(const AccessSpec& spec)> given;
};

// `read` makes the member of the option's name and its text.
template <typename Read, typename Member>
Key key(std::string name, std::string type, std::vector<std::string> mechanisms, Member AccessSpec::*member,
        Read read, std::string doc) {
  return {.name = std::move(name),
          .type = std::move(type),
          .mechanisms = std::move(mechanisms),
          .doc = std::move(doc),
          .set = [member, read](AccessSpec& spec, const std::string& option,
                                const std::string& text) { spec.*member = read(option, text); },
          .given = [member](const AccessSpec& spec) { return (spec.*member).has_value(); }};
}

auto number(const Constraint& constraint) {
  return [constraint](const std::string& option, const std::string& text) {
    return read_number(option, text, constraint);
  };
}

auto count(std::int64_t least) {
  return
      [least](const std::string& option, const std::string& text) { return read_count(option, text, least); };
}

auto one_name(const std::vector<std::string>& names) {
  return
      [&names](const std::string& option, const std::string& text) { return read_name(option, text, names); };
}

const std::vector<Key>& keys() {
  const std::vector<std::string> gaussian = {kMechanisms[0]}, laplace = {kMechanisms[1]},
                                 response = {kMechanisms[2]}, pure = {kMechanisms[1], kMechanisms[2]};
  static const std::vector<Key> kKeys = {
      key("mechanism", "NAME", {}, &AccessSpec::mechanism, one_name(kMechanisms),
          "gaussian (the default), laplace or randomized-response"),
      key("noise-multiplier", "NUMBER", gaussian, &AccessSpec::noise_multiplier,
          number(Constraint::at_least(0)), "gaussian: standard deviation of the noise over the clip norm"),
      key("sampling-rate", "NUMBER", gaussian, &AccessSpec::sampling_rate, number(Constraint::between(0, 1)),
          "gaussian: the part of the units in one step; default 1"),
      key("batch-size", "N", gaussian, &AccessSpec::batch_size, count(1),
          "with --examples instead of --sampling-rate: the expected batch size"),
      key("examples", "N", gaussian, &AccessSpec::examples, count(1),
          "with --batch-size: how many units there are"),
      key("steps", "N", {}, &AccessSpec::steps, count(0), "how many accesses"),
      key("epochs", "NUMBER", {}, &AccessSpec::epochs, number(Constraint::at_least(0)),
          "instead of --steps: an epoch is 1 / sampling rate steps, rounded up"),
      key("sampling", "NAME", gaussian, &AccessSpec::sampling, one_name(kSamplings),
          "poisson (the default) or without-replacement"),
      key("adjacency", "NAME", gaussian, &AccessSpec::adjacency, one_name(kAdjacencies),
          "add-remove (the default), zero-out (the default with --examples, which takes sizes as public), "
          "or replace-one (the default without replacement; of messages, under the policy local)"),
      key("mechanism-epsilon", "NUMBER", pure, &AccessSpec::mechanism_epsilon, number(Constraint::positive()),
          "laplace, randomized-response: epsilon of one access"),
      key("dimension", "N", laplace, &AccessSpec::dimension, count(1), "laplace: of the space; default 1"),
      key("categories", "N", response, &AccessSpec::categories, count(2),
          "randomized-response: how many; default 2")};
  return kKeys;
}

void refuse_foreign(const AccessSpec& spec, const std::string& mechanism) {
  for (const Key& key : keys()) {
    if (key.given(spec) && !key.mechanisms.empty() && !contains(key.mechanisms, mechanism))
      throw Error::of("--{} is given, which means nothing for --mechanism {}", key.name, mechanism);
  }
}

template <typename T>
const T& required(const char* option, const std::optional<T>& value) {
  if (!value) throw Error::of("{} is missing", option);
  return *value;
}

Event gaussian(const AccessSpec& spec) {
  const double noise = required("--noise-multiplier", spec.noise_multiplier);
  const double rate = spec.rate();
  if (rate == 1) return Gaussian{noise, spec.neighbours()};
  const Sampling sampling = spec.fixed_size() ? Sampling::kWithoutReplacement : Sampling::kPoisson;
  return SampledGaussian{sampling, rate, {noise}, spec.neighbours()};
}

Event unsampled(const AccessSpec& spec, const std::string& mechanism) {
  const double epsilon = required("--mechanism-epsilon", spec.mechanism_epsilon);
  if (mechanism == "laplace") return Laplace{spec.dimension.value_or(1), epsilon};
  return RandomizedResponse{spec.categories.value_or(2), epsilon};
}

// The least whole number that is not below this one but for rounding: 1 / (1 / 3.0) may exceed 3.
double whole_steps(double steps) {
  const double nearest = std::round(steps);
  return std::abs(steps - nearest) <= 1e-15 * steps ? nearest : std::ceil(steps);
}

// Steps that hold all units once.
double steps_of_an_epoch(const AccessSpec& spec) {
  if (spec.batch_size && spec.examples) {
    const std::int64_t steps = (*spec.examples + *spec.batch_size - 1) / *spec.batch_size;
    return static_cast<double>(steps);
  }
  const double rate = spec.rate();
  if (rate == 0) throw Error::of("--epochs is given, but an epoch at sampling rate 0 never ends");
  return whole_steps(1 / rate);
}

}  // namespace

bool AccessSpec::empty() const {
  return std::ranges::none_of(keys(), [this](const Key& key) { return key.given(*this); });
}

bool AccessSpec::fixed_size() const { return sampling == "without-replacement"; }

Adjacency AccessSpec::neighbours() const {
  if (!adjacency && fixed_size()) return Adjacency::kReplaceOne;
  if (!adjacency) return examples || sizes_are_public ? Adjacency::kZeroOut : Adjacency::kAddRemove;
  return *adjacency == "replace-one" ? Adjacency::kReplaceOne
         : *adjacency == "zero-out"  ? Adjacency::kZeroOut
                                     : Adjacency::kAddRemove;
}

double AccessSpec::rate() const {
  if (sampling_rate && (batch_size || examples)) {
    throw Error::of("--sampling-rate is given, and so is --batch-size or --examples; give one or the other");
  }
  if (batch_size.has_value() != examples.has_value()) {
    throw Error::of("{} is missing; --batch-size and --examples together give the sampling rate",
                    batch_size ? "--examples" : "--batch-size");
  }
  if (!batch_size) return sampling_rate.value_or(1);
  if (*batch_size > *examples) {
    throw Error::of("--batch-size is {}; allowed: at most the {} of --examples", *batch_size, *examples);
  }
  return static_cast<double>(*batch_size) / static_cast<double>(*examples);
}

std::optional<std::int64_t> AccessSpec::count() const {
  if (!epochs) return steps;
  if (steps) throw Error::of("--steps and --epochs are given; give one or the other");
  const double total = whole_steps(*epochs * steps_of_an_epoch(*this));
  if (!(total <= 1e12)) throw Error::of("--epochs is {}; allowed: at most 1e12 steps", *epochs);
  return static_cast<std::int64_t>(total);
}

Access AccessSpec::access() const {
  const std::string kind = mechanism.value_or("gaussian");
  refuse_foreign(*this, kind);
  const Event event = kind == "gaussian" ? gaussian(*this) : unsampled(*this, kind);
  const std::optional<std::int64_t> accesses = count();
  if (!accesses) throw Error::of("--steps is missing, or --epochs");
  return {event, *accesses};
}

void add_access_options(CLI::App& command, AccessSpec& spec, const std::vector<std::string>& without) {
  for (const Key& key : keys()) {
    if (contains(without, key.name)) continue;
    add_read(
        command, "--" + key.name, key.type, key.doc,
        [&spec, &key](const std::string& option, const std::string& text) { key.set(spec, option, text); });
  }
}

AccessSpec read_access_spec(const std::string& text) {
  const std::vector<std::string> names = names_of(keys(), &Key::name);
  std::vector<std::string> seen;
  AccessSpec spec;
  for (const std::string& part : CLI::detail::split(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    read_name("--and", name, names);
    if (equals == std::string::npos) {
      throw Error::of("--and: \"{}\" has no value; allowed: {}=...", name, name);
    }
    if (contains(seen, name)) {
      throw Error::of("--and: \"{}\" is given twice in one text; begin another --and for other accesses",
                      name);
    }
    seen.push_back(name);
    find_named(keys(), name, &Key::name)->set(spec, "--and: " + name, part.substr(equals + 1));
  }
  return spec;
}

}  // namespace fedarena
