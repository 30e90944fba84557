#pragma once

#include <span>
#include <vector>

namespace fedarena {

/// A point of the unit box of a glyph: x to the right, y down.
struct GlyphPoint {
  double x, y;
};

/// One movement of the pen through its points, in order.
struct GlyphStroke {
  bool smooth;  ///< a curve through the points; otherwise straight lines between them
  std::vector<GlyphPoint> points;
};

/// One way to write a digit.
using GlyphForm = std::vector<GlyphStroke>;

/// The ways in which `digit` (0 to 9) is written; at least one. The shapes are drawn by hand for fedarena.
std::span<const GlyphForm> glyph_forms(int digit);

}  // namespace fedarena
