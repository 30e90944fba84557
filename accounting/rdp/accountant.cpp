#include <limits>
#include <map>
#include <utility>

#include "fedarena/accounting/pure.hpp"
#include "fedarena/accounting/rdp.hpp"
#include "fedarena/base/error.hpp"

namespace fedarena {

struct RdpAccountant::Curves {
  std::vector<double> orders;
  std::map<Event, std::vector<double>> known;
};

RdpAccountant::RdpAccountant(std::vector<double> orders)
    : curves_(std::make_shared<Curves>()), total_(orders.size(), 0) {
  epsilon_of_rdp(orders, total_, 0);  // refuses orders that are none
  curves_->orders = std::move(orders);
}

const std::vector<double>& RdpAccountant::orders() const { return curves_->orders; }

std::span<const double> RdpAccountant::curve(const Event& event) {
  validate(event);
  if (const auto found = curves_->known.find(event); found != curves_->known.end()) return found->second;
  return curves_->known.emplace(event, fedarena::rdp(event, curves_->orders)).first->second;
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
