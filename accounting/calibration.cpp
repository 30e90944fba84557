#include "fedarena/accounting/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "fedarena/accounting/rdp.hpp"
#include "fedarena/base/error.hpp"

#include "accounting/access_json.hpp"
#include "accounting/checks.hpp"
#include "accounting/safe_root.hpp"

namespace fedarena {
namespace {

constexpr double kMostNoise = 1 << 30;
constexpr double kLeastNoise = 1.0 / (1 << 20);
constexpr double kLeastRate = 1e-12;
constexpr double kLeastDelta = 1e-300;
constexpr double kWidth = 1e-13;  // of the logarithm of the solution

void check(const Knowns& knowns) {
  const int absent =
      !knowns.noise_multiplier + !knowns.rate + !knowns.steps + !knowns.delta + !knowns.epsilon;
  if (absent != 1) {
    throw Error(
        Complaint{.found = fmt::format("{} of noise multiplier, sampling rate, steps, delta and epsilon "
                                       "are not given",
                                       absent),
                  .allowed = "exactly one, which is computed from the others"});
  }
  if (knowns.noise_multiplier) check_not_negative(*knowns.noise_multiplier, "the noise multiplier");
  if (knowns.rate && !(*knowns.rate >= 0 && *knowns.rate <= 1)) {
    throw Error::of("the sampling rate is {}; allowed: 0 <= rate <= 1", *knowns.rate);
  }
  if (knowns.steps && *knowns.steps < 1) {
    throw Error::of("the number of steps is {}; allowed: an integer >= 1", *knowns.steps);
  }
  if (knowns.delta) check_delta(*knowns.delta);
  if (knowns.epsilon) check_not_negative(*knowns.epsilon, "epsilon");
}

// A quantity that is sought.
struct Unknown {
  const char* name;
  double Setting::*member;
};
constexpr Unknown kNoise{"noise multiplier", &Setting::noise_multiplier};
constexpr Unknown kRate{"sampling rate", &Setting::rate};
constexpr Unknown kDelta{"delta", &Setting::delta};

class Search {
 public:
  Search(const EpsilonOf& epsilon_of, Setting setting, double target)
      : epsilon_of_(epsilon_of), setting_(setting), target_(target) {}

  // Of noise multipliers, the range is searched outwards from 1, because an accountant may be slow far from
  // it.
  Solution least_noise() {
    double safe = 1;
    while (!fits(kNoise, safe)) {
      if (safe >= kMostNoise) refuse_unreachable(kNoise, safe);
      safe *= 2;
    }
    double unsafe = safe / 2;
    while (fits(kNoise, unsafe)) {
      if (unsafe <= kLeastNoise)
        throw Error::of("every noise multiplier down to {} has an epsilon of at most {}", kLeastNoise,
                        target_);
      safe = std::exchange(unsafe, unsafe / 2);
    }
    return between(kNoise, unsafe, safe);
  }

  Solution largest_rate() {
    if (fits(kRate, 1)) return solution(kRate, 1);
    if (!fits(kRate, kLeastRate)) refuse_unreachable(kRate, kLeastRate);
    return between(kRate, 1, kLeastRate);
  }

  Solution least_delta() {
    if (fits(kDelta, 0)) return solution(kDelta, 0);
    const double most = std::nextafter(1.0, 0.0);
    if (!fits(kDelta, most)) refuse_unreachable(kDelta, most);
    if (fits(kDelta, kLeastDelta)) return solution(kDelta, kLeastDelta);
    return between(kDelta, kLeastDelta, most);
  }

  Solution most_steps() {
    const auto at = [&](std::int64_t steps) {
      setting_.steps = steps;
      return epsilon_of_(setting_);
    };
    if (const double one = at(1); !(one <= target_)) {
      throw Error(Complaint{
          .found = fmt::format("one step already has epsilon {}, more than {}", one, target_),
          .remedy =
              "Raise the noise multiplier, lower the sampling rate, or allow a larger epsilon or delta"});
    }
    // Large strides, as an accountant may take a second for each.
    constexpr std::int64_t kStride = 8;
    std::int64_t safe = 1, unsafe = kStride;
    while (at(unsafe) <= target_) {
      if (unsafe >= kMostAccesses)
        throw Error::of("even {} steps, the most that are counted, have an epsilon of at most {}",
                        kMostAccesses, target_);
      safe = std::exchange(unsafe, std::min(kStride * unsafe, kMostAccesses));
    }
    while (unsafe - safe > 1) {
      const std::int64_t middle = safe + (unsafe - safe) / 2;
      (at(middle) <= target_ ? safe : unsafe) = middle;
    }
    const double epsilon = at(safe);
    return {setting_, epsilon};
  }

 private:
  double epsilon_at(const Unknown& unknown, double value) {
    setting_.*unknown.member = value;
    return epsilon_of_(setting_);
  }
  bool fits(const Unknown& unknown, double value) { return epsilon_at(unknown, value) <= target_; }

  Solution solution(const Unknown& unknown, double value) {
    const double epsilon = epsilon_at(unknown, value);
    return {setting_, epsilon};
  }

  // Epsilon is closest to a power law in each quantity, hence the logarithms of both.
  Solution between(const Unknown& unknown, double unsafe, double safe) {
    const auto excess = [&](double log_value) {
      const double epsilon = epsilon_at(unknown, std::exp(log_value));
      if (epsilon <= target_) return epsilon == 0 ? -1.0 : std::max(std::log(epsilon / target_), -1.0);
      return target_ == 0 ? 1.0 : std::clamp(std::log(epsilon / target_), 1e-300, 1.0);
    };
    const double root = std::exp(safe_root(excess, std::log(unsafe), std::log(safe), kWidth));
    return solution(unknown, root);
  }

  [[noreturn]] void refuse_unreachable(const Unknown& unknown, double extreme) {
    const double least = epsilon_at(unknown, extreme);
    throw Error(Complaint{
        .found = fmt::format("no {} {} to {} reaches epsilon {}: there it is still {}", unknown.name,
                             extreme < 1 ? "down" : "up", extreme, target_, least),
        .remedy = "Allow a larger epsilon or delta, or take an accountant or orders that are tighter there"});
  }

  const EpsilonOf& epsilon_of_;
  Setting setting_;
  double target_;
};

}  // namespace

Solution calibrate(const Knowns& knowns, const EpsilonOf& epsilon_of) {
  check(knowns);
  const Setting setting{.noise_multiplier = knowns.noise_multiplier.value_or(1),
                        .rate = knowns.rate.value_or(1),
                        .steps = knowns.steps.value_or(1),
                        .delta = knowns.delta.value_or(0)};
  if (!knowns.epsilon) return {setting, epsilon_of(setting)};
  Search search(epsilon_of, setting, *knowns.epsilon);
  if (!knowns.noise_multiplier) return search.least_noise();
  if (!knowns.rate) return search.largest_rate();
  if (!knowns.steps) return search.most_steps();
  return search.least_delta();
}

EpsilonOf epsilon_by_rdp(std::vector<double> orders, Conversion conversion) {
  return [=, orders = std::move(orders)](const Setting& setting) {
    RdpAccountant accountant(orders);
    accountant.add(SampledGaussian{.rate = setting.rate, .noise_multipliers = {setting.noise_multiplier}},
                   setting.steps);
    return accountant.epsilon(setting.delta, conversion).epsilon;
  };
}

}  // namespace fedarena
