#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <utility>
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
inline std::span<const GlyphForm> glyph_forms(int digit) {
  using Points = std::vector<GlyphPoint>;
  const auto lines = [](Points points) { return GlyphStroke{false, std::move(points)}; };
  const auto curve = [](Points points) { return GlyphStroke{true, std::move(points)}; };
  static const std::array<std::vector<GlyphForm>, 10> kForms = {{
      // 0: wide, narrow, begun at the side
      {
          {curve(
              {{.5, 0}, {.85, .2}, {.9, .55}, {.75, .9}, {.45, 1}, {.15, .8}, {.1, .4}, {.25, .1}, {.5, 0}})},
          {curve({{.5, 0}, {.72, .2}, {.75, .6}, {.6, .95}, {.4, .98}, {.25, .7}, {.25, .3}, {.5, 0}})},
          {curve({{.8, .15}, {.45, 0}, {.12, .35}, {.15, .75}, {.5, 1}, {.88, .7}, {.85, .3}, {.6, .02}})},
      },
      // 1: a bar, with a flag, with a flag and a base
      {
          {lines({{.52, 0}, {.5, 1}})},
          {lines({{.25, .25}, {.55, 0}, {.52, 1}})},
          {lines({{.25, .22}, {.52, 0}, {.52, 1}}), lines({{.2, 1}, {.85, 1}})},
      },
      // 2: with a corner, with a loop, round
      {
          {curve({{.12, .25}, {.45, 0}, {.85, .22}, {.7, .5}, {.1, 1}}), lines({{.1, 1}, {.92, 1}})},
          {curve({{.15, .2},
                  {.5, 0},
                  {.82, .25},
                  {.55, .65},
                  {.2, .98},
                  {.08, .85},
                  {.3, .78},
                  {.6, .95},
                  {.95, .9}})},
          {curve({{.1, .3}, {.3, .03}, {.75, .05}, {.82, .38}, {.4, .75}, {.15, .98}, {.5, .95}, {.9, 1}})},
      },
      // 3: two bows, a flat top
      {
          {curve({{.12, .15}, {.45, 0}, {.82, .2}, {.65, .42}, {.4, .47}}),
           curve({{.4, .47}, {.75, .55}, {.88, .78}, {.5, 1}, {.08, .85}})},
          {lines({{.15, .02}, {.82, .02}, {.42, .4}}),
           curve({{.42, .4}, {.8, .5}, {.85, .8}, {.5, 1}, {.1, .88}})},
      },
      // 4: open, closed, closed with a long foot
      {
          {lines({{.22, 0}, {.12, .58}, {.92, .58}}), lines({{.72, .1}, {.68, 1}})},
          {lines({{.68, 1}, {.68, 0}, {.08, .68}, {.95, .68}})},
          {curve({{.3, .02}, {.2, .3}, {.12, .5}}), lines({{.12, .5}, {.85, .48}}),
           lines({{.8, 0}, {.7, 1}})},
      },
      // 5: with a hat in one movement, with the hat apart
      {
          {lines({{.85, .02}, {.25, .02}, {.18, .42}}),
           curve({{.18, .42}, {.55, .36}, {.88, .62}, {.6, .97}, {.1, .92}})},
          {curve({{.25, .05}, {.2, .45}, {.6, .4}, {.85, .7}, {.5, 1}, {.12, .85}}),
           lines({{.25, .05}, {.88, .02}})},
      },
      // 6: a bowed back, a straight back
      {
          {curve({{.75, .03}, {.35, .25}, {.13, .65}, {.4, 1}, {.82, .82}, {.65, .52}, {.2, .68}})},
          {curve({{.6, 0}, {.3, .4}, {.15, .75}, {.5, 1}, {.82, .78}, {.5, .56}, {.18, .75}})},
      },
      // 7: plain, with a bar, with a serif
      {
          {lines({{.1, .02}, {.9, .02}, {.4, 1}})},
          {lines({{.1, .02}, {.9, .02}, {.42, 1}}), lines({{.32, .52}, {.85, .48}})},
          {lines({{.12, .2}, {.12, .02}}), curve({{.12, .04}, {.88, .02}, {.62, .4}, {.48, 1}})},
      },
      // 8: one movement, two rings
      {
          {curve({{.8, .15},
                  {.45, 0},
                  {.2, .22},
                  {.5, .47},
                  {.85, .75},
                  {.5, 1},
                  {.15, .78},
                  {.5, .47},
                  {.8, .15}})},
          {curve({{.5, 0}, {.78, .22}, {.5, .46}, {.22, .22}, {.5, 0}}),
           curve({{.5, .46}, {.87, .72}, {.5, 1}, {.13, .72}, {.5, .46}})},
      },
      // 9: a straight foot, a bowed foot
      {
          {curve({{.8, .28}, {.5, 0}, {.17, .25}, {.45, .53}, {.8, .28}}), lines({{.8, .2}, {.75, 1}})},
          {curve({{.82, .22}, {.45, 0}, {.16, .28}, {.48, .52}, {.8, .3}, {.8, .6}, {.6, .95}, {.2, .95}})},
      },
  }};
  return kForms.at(static_cast<std::size_t>(digit));
}

}  // namespace fedarena
