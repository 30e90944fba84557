#include "harness/app/accounting/access_options.hpp"

#include <cmath>
#include <functional>

#include "fedarena/base/error.hpp"
#include "fedarena/base/find.hpp"
#include "fedarena/base/schema.hpp"

#include "harness/app/accounting/checks.hpp"

namespace fedarena {
namespace {

const std::vector<std::string> kMechanisms = {"gaussian", "laplace", "randomized-response"};
const std::vector<std::string> kSamplings = {"poisson", "without-replacement"};
const std::vector<std::string> kAdjacencies = {"add-remove", "replace-one", "zero-out"};

// One thing that can be said about accesses, as an option or as a part of --and.
struct Key {
  std::string name;
  std::string type;
  std::string doc;
  std::function<void(AccessSpec& spec, const std::string& option, const std::string& text)> set;
};

Key number(std::string name, std::optional<double> AccessSpec::*member, Constraint constraint,
           std::string doc) {
  return {std::move(name), "NUMBER", std::move(doc),
          [member, constraint = std::move(constraint)](AccessSpec& spec, const std::string& option,
                                                       const std::string& text) {
            spec.*member = read_number(option, text, constraint);
          }};
}

Key count(std::string name, std::optional<std::int64_t> AccessSpec::*member, std::int64_t least,
          std::string doc) {
  return {std::move(name), "N", std::move(doc),
          [member, least](AccessSpec& spec, const std::string& option, const std::string& text) {
            spec.*member = read_count(option, text, least);
          }};
}

Key choice(std::string name, std::optional<std::string> AccessSpec::*member, std::vector<std::string> names,
           std::string doc) {
  return {std::move(name), "NAME", std::move(doc),
          [member, names = std::move(names)](AccessSpec& spec, const std::string& option,
                                             const std::string& text) {
            check_name(option, text, names);
            spec.*member = text;
          }};
}

const std::vector<Key>& keys() {
  static const std::vector<Key> kKeys = {
      choice("mechanism", &AccessSpec::mechanism, kMechanisms,
             "gaussian (the default), laplace or randomized-response"),
      number("noise-multiplier", &AccessSpec::noise_multiplier, Constraint::at_least(0),
             "gaussian: standard deviation of the noise over the clip norm"),
      number("sampling-rate", &AccessSpec::sampling_rate, Constraint::between(0, 1),
             "gaussian: the part of the units in one step; default 1"),
      count("batch-size", &AccessSpec::batch_size, 1,
            "with --examples instead of --sampling-rate: the expected batch size"),
      count("examples", &AccessSpec::examples, 1, "with --batch-size: how many units there are"),
      count("steps", &AccessSpec::steps, 0, "how many accesses"),
      number("epochs", &AccessSpec::epochs, Constraint::at_least(0),
             "instead of --steps: an epoch is 1 / sampling rate steps, rounded up"),
      choice("sampling", &AccessSpec::sampling, kSamplings, "poisson (the default) or without-replacement"),
      choice("adjacency", &AccessSpec::adjacency, kAdjacencies,
             "add-remove (the default), zero-out (the default with --examples, which takes sizes as public), "
             "or replace-one (the default without replacement)"),
      number("mechanism-epsilon", &AccessSpec::mechanism_epsilon, Constraint::positive(),
             "laplace, randomized-response: epsilon of one access"),
      count("dimension", &AccessSpec::dimension, 1, "laplace: of the space; default 1"),
      count("categories", &AccessSpec::categories, 2, "randomized-response: how many; default 2")};
  return kKeys;
}

void refuse_foreign(const char* option, bool given, const std::string& mechanism) {
  if (given) {
    throw Error::of("{} is given, which means nothing for --mechanism {}", option, mechanism);
  }
}

template <typename T>
const T& required(const char* option, const std::optional<T>& value) {
  if (!value) throw Error::of("{} is missing", option);
  return *value;
}

Event gaussian(const AccessSpec& spec) {
  refuse_foreign("--mechanism-epsilon", spec.mechanism_epsilon.has_value(), "gaussian");
  refuse_foreign("--dimension", spec.dimension.has_value(), "gaussian");
  refuse_foreign("--categories", spec.categories.has_value(), "gaussian");
  const double noise = required("--noise-multiplier", spec.noise_multiplier);
  const double rate = spec.rate();
  if (rate == 1) return Gaussian{noise, spec.neighbours()};
  const Sampling sampling = spec.fixed_size() ? Sampling::kWithoutReplacement : Sampling::kPoisson;
  return SampledGaussian{sampling, rate, {noise}, spec.neighbours()};
}

Event unsampled(const AccessSpec& spec, const std::string& mechanism) {
  refuse_foreign("--noise-multiplier", spec.noise_multiplier.has_value(), mechanism);
  refuse_foreign("--sampling-rate", spec.sampling_rate.has_value(), mechanism);
  refuse_foreign("--batch-size", spec.batch_size.has_value(), mechanism);
  refuse_foreign("--examples", spec.examples.has_value(), mechanism);
  refuse_foreign("--sampling", spec.sampling.has_value(), mechanism);
  refuse_foreign("--adjacency", spec.adjacency.has_value(), mechanism);
  const double epsilon = required("--mechanism-epsilon", spec.mechanism_epsilon);
  if (mechanism == "laplace") {
    refuse_foreign("--categories", spec.categories.has_value(), mechanism);
    return Laplace{spec.dimension.value_or(1), epsilon};
  }
  refuse_foreign("--dimension", spec.dimension.has_value(), mechanism);
  return RandomizedResponse{spec.categories.value_or(2), epsilon};
}

// Steps that hold all units once.
double steps_of_an_epoch(const AccessSpec& spec) {
  if (spec.batch_size && spec.examples) {
    const std::int64_t steps = (*spec.examples + *spec.batch_size - 1) / *spec.batch_size;
    return static_cast<double>(steps);
  }
  const double rate = spec.rate();
  if (rate == 0) throw Error::of("--epochs is given, but an epoch at sampling rate 0 never ends");
  return std::ceil(1 / rate * (1 - 1e-12));  // 1 / (1 / 3.0) may exceed 3
}

}  // namespace

bool AccessSpec::empty() const {
  return !(mechanism || sampling || adjacency || noise_multiplier || sampling_rate || epochs ||
           mechanism_epsilon || steps || batch_size || examples || dimension || categories);
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
  const double total = std::ceil(*epochs * steps_of_an_epoch(*this) * (1 - 1e-12));
  if (!(total <= 1e12)) throw Error::of("--epochs is {}; allowed: at most 1e12 steps", *epochs);
  return static_cast<std::int64_t>(total);
}

Access AccessSpec::access() const {
  const std::string kind = mechanism.value_or("gaussian");
  const Event event = kind == "gaussian" ? gaussian(*this) : unsampled(*this, kind);
  const std::optional<std::int64_t> accesses = count();
  if (!accesses) throw Error::of("--steps is missing, or --epochs");
  return {event, *accesses};
}

void add_access_options(CLI::App& command, AccessSpec& spec, const std::vector<std::string>& without) {
  for (const Key& key : keys()) {
    if (contains(without, key.name)) continue;
    const std::string option = "--" + key.name;
    command
        .add_option_function<std::string>(
            option, [&spec, &key, option](const std::string& text) { key.set(spec, option, text); }, key.doc)
        ->type_name(key.type);
  }
}

AccessSpec read_access_spec(const std::string& text) {
  const std::vector<std::string> names = names_of(keys(), &Key::name);
  std::vector<std::string> seen;
  AccessSpec spec;
  for (const std::string& part : CLI::detail::split(text, ',')) {
    const std::size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    check_name("--and", name, names);
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
