#pragma once

#include <array>
#include <cstddef>

namespace fedarena::results {

/// Okabe and Ito's colours, which the colour-blind can tell apart, without the yellow, which is too light
/// for a line on white. Every picture of curves has them, in this order.
inline constexpr std::array<const char*, 7> kCurveColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                             "#e69f00", "#56b4e9", "#000000"};
/// Kinds of dashes and of marks, which tell curves apart in grey print; a picture says which they are.
inline constexpr std::size_t kCurveDashes = 4;
inline constexpr std::size_t kCurveMarks = 8;
/// About so many marks stand on a curve; more would hide it.
inline constexpr std::size_t kMarksOfCurve = 10;

}  // namespace fedarena::results
