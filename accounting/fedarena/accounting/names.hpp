#pragma once

#include <array>

namespace fedarena {

// The words by which experiment files, records and command lines choose among what is accounted.

/// Of Unit, in its order: each policy is named after what it hides.
inline constexpr std::array kUnitNames{"none", "record", "client", "local", "label"};
/// Of Sampling, in its order.
inline constexpr std::array kSamplingNames{"poisson", "without-replacement"};
/// Of Adjacency, in its order.
inline constexpr std::array kAdjacencyNames{"add-remove", "replace-one", "zero-out"};
/// Of rdp_orders().
inline constexpr std::array kOrdersNames{"default", "opacus"};
/// Of Conversion, in its order.
inline constexpr std::array kConversionNames{"balle", "classic"};
/// Of AccountSettings::assume.
inline constexpr std::array kAssumptionNames{"nothing", "poisson"};

}  // namespace fedarena
