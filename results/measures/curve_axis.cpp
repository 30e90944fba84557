#include "results/measures/curve_axis.hpp"

#include <array>
#include <cstdint>

namespace fedarena::results {
namespace {

using Value = std::optional<double>;

constexpr double kMiB = 1024.0 * 1024;

Value of_cost(const RoundRecord& round, std::int64_t Cost::*member) {
  return round.cost ? Value((*round.cost).*member) : std::nullopt;
}

const std::array<CurveAxis, 9> kAxes = {{
    {"round", "round", "Rounds", [](const RoundRecord& round) { return Value(round.round); }},
    {"epsilon", "epsilon (RDP, upper bound)", "Epsilon (RDP, upper bound)",
     [](const RoundRecord& round) { return round.epsilon; }, false, true},
    {"bytes", "bytes sent, up and down (MiB)", "What all clients together sent and received, in MiB,",
     [](const RoundRecord& round) {
       return Value(static_cast<double>(round.uplink_bytes + round.downlink_bytes) / kMiB);
     },
     true},
    {"total-uplink", "bytes sent up (MiB)", "What all clients together sent, in MiB,",
     [](const RoundRecord& round) { return Value(static_cast<double>(round.uplink_bytes) / kMiB); }, true},
    {"total-downlink", "bytes sent down (MiB)", "What all clients together received, in MiB,",
     [](const RoundRecord& round) { return Value(static_cast<double>(round.downlink_bytes) / kMiB); }, true},
    {"examples", "gradients of clients' examples", "Gradients of clients' examples",
     [](const RoundRecord& round) { return Value(round.examples); }, true},
    {"gradients", "gradients of all examples", "Gradients of all examples",
     [](const RoundRecord& round) { return of_cost(round, &Cost::gradients); }, true},
    {"operations", "floating-point operations", "Floating-point operations",
     [](const RoundRecord& round) { return of_cost(round, &Cost::operations); }, true},
    {"seconds", "time (s)", "Seconds, evaluation included,",
     [](const RoundRecord& round) { return Value(round.train_seconds + round.evaluation_seconds); }, true},
}};

}  // namespace

std::span<const CurveAxis> curve_axes() { return kAxes; }

std::vector<Value> positions_on(const CurveAxis& axis, std::span<const RoundRecord> rounds) {
  std::vector<Value> positions;
  Value sum = 0;
  for (const RoundRecord& round : rounds) {
    Value value = axis.of_round(round);
    if (axis.summed) value = sum = sum && value ? Value(*sum + *value) : std::nullopt;
    positions.push_back(value);
  }
  return positions;
}

}  // namespace fedarena::results
