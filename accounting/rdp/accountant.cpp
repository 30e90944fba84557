#include <limits>
#include <string>
#include <unordered_map>
#include <utility>

#include "fedarena/accounting/pure.hpp"
#include "fedarena/accounting/rdp.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/base/overload.hpp"

namespace fedarena {
namespace {

// What decides the curve of an event, as bytes: equal keys, equal curves.
class Key {
 public:
  explicit Key(const Event& event) { append(event); }
  std::string take() && { return std::move(bytes_); }

 private:
  template <typename Number>
  void append_number(Number number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof(number));  // NOLINT(*-reinterpret-cast)
  }
  void append(const Event& event) {
    append_number(event.index());
    std::visit(Overload{[](const ExactAccess&) {},
                        [&](const Gaussian& gauss) {
                          append_number(gauss.noise_multiplier);
                          append_number(gauss.adjacency);
                        },
                        [&](const SampledGaussian& sampled) {
                          append_number(sampled.sampling);
                          append_number(sampled.rate);
                          append_number(joint_noise_multiplier(sampled));
                          append_number(sampled.adjacency);
                        },
                        [&](const Laplace& laplace) {
                          append_number(laplace.dimension);
                          append_number(laplace.epsilon);
                        },
                        [&](const RandomizedResponse& response) {
                          append_number(response.categories);
                          append_number(response.epsilon);
                        },
                        [&](const Composition& composition) {
                          append_number(composition.parts.size());
                          for (const Access& part : composition.parts) {
                            append_number(part.count);
                            append(part.event);
                          }
                        }},
               event);
  }
  std::string bytes_;
};

// The event in which every fixed-size sample is a Poisson sample of the same rate.
Event as_if_poisson(Event event) {
  if (auto* sampled = std::get_if<SampledGaussian>(&event)) {
    if (sampled->sampling == Sampling::kWithoutReplacement) {
      sampled->sampling = Sampling::kPoisson;
      sampled->adjacency = Adjacency::kAddRemove;
    }
  } else if (auto* composition = std::get_if<Composition>(&event)) {
    for (Access& part : composition->parts) part.event = as_if_poisson(std::move(part.event));
  }
  return event;
}

}  // namespace

struct RdpAccountant::Curves {
  std::vector<double> orders;
  bool assume_poisson = false;
  std::unordered_map<std::string, std::vector<double>> known;
};

RdpAccountant::RdpAccountant(std::vector<double> orders, bool assume_poisson)
    : curves_(std::make_shared<Curves>()), total_(orders.size(), 0) {
  epsilon_of_rdp(orders, total_, 0);  // refuses orders that are none
  curves_->orders = std::move(orders);
  curves_->assume_poisson = assume_poisson;
}

const std::vector<double>& RdpAccountant::orders() const { return curves_->orders; }

std::span<const double> RdpAccountant::curve(const Event& event) {
  validate(event);
  std::string key = Key(event).take();
  if (const auto found = curves_->known.find(key); found != curves_->known.end()) return found->second;
  std::vector<double> curve =
      fedarena::rdp(curves_->assume_poisson ? as_if_poisson(event) : event, curves_->orders);
  return curves_->known.emplace(std::move(key), std::move(curve)).first->second;
}

void RdpAccountant::add(const Event& event, std::int64_t count) {
  if (count < 0) throw Error::of("an event is counted {} times; allowed: an integer >= 0", count);
  const std::span<const double> added = curve(event);
  if (count == 0) return;  // not infinity times 0
  const auto times = static_cast<double>(count);
  for (std::size_t i = 0; i < total_.size(); ++i) total_[i] += times * added[i];
  pure_ += times * pure_epsilon(event);
}

RdpEpsilon RdpAccountant::epsilon(double delta, Conversion conversion) const {
  const RdpEpsilon result = epsilon_of_rdp(orders(), total_, delta, conversion);
  if (pure_ < result.epsilon) return {pure_, std::numeric_limits<double>::infinity()};
  return result;
}

}  // namespace fedarena
