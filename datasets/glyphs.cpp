// Ten classes of synthetic hand-drawn digits, for tests and examples that must run without a download: every
// class equally often, in random order. The same bytes on every machine: only integers and the IEEE
// operations + - * / and sqrt are used. Takes all cores.
#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "fedarena/base/pool.hpp"
#include "fedarena/base/stream.hpp"

#include "datasets/glyph_forms.hpp"
#include "datasets/source.hpp"

namespace fedarena {
namespace {

constexpr int kGlyphsSide = 28;
constexpr int kPixels = kGlyphsSide * kGlyphsSide;
constexpr int kGlyphsClasses = 10;
constexpr std::int64_t kGlyphsTest = 2'000;
// Part of every result on this data: never change it, nor anything else that moves a byte.
constexpr std::uint64_t kSeed = 0x676c797068730001;

struct GlyphsConfig {
  std::int64_t train = 12'000;

  static Schema<GlyphsConfig> schema() {
    return {{"train", &GlyphsConfig::train, "How many images are drawn for training.",
             Constraint::between(10, 10'000'000)}};
  }
};

using Canvas = std::array<double, kPixels>;

double between(Stream& stream, double low, double high) { return low + (high - low) * stream.uniform(); }
bool happens(Stream& stream, double probability) { return stream.uniform() < probability; }

/// From the unit box of a glyph to pixels: scale, shear, rotation, shift.
struct Placement {
  double xx, xy, yx, yy, x0, y0;

  GlyphPoint operator()(GlyphPoint p) const {
    const double x = p.x - 0.5;
    const double y = p.y - 0.5;
    return {x0 + xx * x + xy * y, y0 + yx * x + yy * y};
  }
};

Placement draw_placement(Stream& stream) {
  const double height = between(stream, 15, 22);
  const double width = height * between(stream, 0.5, 0.9);
  const double shear = between(stream, -0.3, 0.3);
  // t = tan(angle / 2) gives cosine and sine without libm, whose last bits differ between machines.
  const double t = between(stream, -0.17, 0.17);
  const double cosine = (1 - t * t) / (1 + t * t);
  const double sine = 2 * t / (1 + t * t);
  const double x0 = 14 + between(stream, -2.5, 2.5);
  const double y0 = 14 + between(stream, -2.5, 2.5);
  return {cosine * width,
          (cosine * shear - sine) * height,
          sine * width,
          (sine * shear + cosine) * height,
          x0,
          y0};
}

/// Straight pieces of a few pixels at most that follow the stroke; curves are Catmull-Rom splines, so
/// polynomials.
std::vector<GlyphPoint> flatten(const GlyphStroke& stroke) {
  const auto& points = stroke.points;
  if (!stroke.smooth) return points;
  constexpr int kSteps = 6;
  std::vector<GlyphPoint> path{points.front()};
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const GlyphPoint& a = points[i == 0 ? 0 : i - 1];
    const GlyphPoint& b = points[i];
    const GlyphPoint& c = points[i + 1];
    const GlyphPoint& d = points[std::min(i + 2, points.size() - 1)];
    for (int step = 1; step <= kSteps; ++step) {
      const double t = static_cast<double>(step) / kSteps;
      const auto blend = [t](double p, double q, double r, double s) {
        return 0.5 *
               (2 * q + t * ((r - p) + t * ((2 * p - 5 * q + 4 * r - s) + t * (3 * q - 3 * r + s - p))));
      };
      path.push_back({blend(a.x, b.x, c.x, d.x), blend(a.y, b.y, c.y, d.y)});
    }
  }
  return path;
}

/// Inks every pixel whose centre is within half the pen's width of the segment; a pixel's edge is one pixel
/// soft.
void ink(Canvas& canvas, GlyphPoint from, GlyphPoint to, double width, double strength) {
  const double reach = width / 2 + 0.5;
  const auto first = [&](double v) { return std::max(0, static_cast<int>(std::floor(v - reach))); };
  const auto last = [&](double v) {
    return std::min(kGlyphsSide - 1, static_cast<int>(std::ceil(v + reach)));
  };
  const double dx = to.x - from.x;
  const double dy = to.y - from.y;
  const double length2 = dx * dx + dy * dy;
  for (int row = first(std::min(from.y, to.y)); row <= last(std::max(from.y, to.y)); ++row) {
    for (int column = first(std::min(from.x, to.x)); column <= last(std::max(from.x, to.x)); ++column) {
      const double px = column + 0.5 - from.x;
      const double py = row + 0.5 - from.y;
      const double along = length2 > 0 ? std::clamp((px * dx + py * dy) / length2, 0.0, 1.0) : 0.0;
      const double ex = px - along * dx;
      const double ey = py - along * dy;
      const double cover = std::clamp(reach - std::sqrt(ex * ex + ey * ey), 0.0, 1.0);
      double& pixel = canvas[static_cast<std::size_t>(row * kGlyphsSide + column)];
      pixel = std::max(pixel, strength * cover);
    }
  }
}

void draw_digit(Canvas& canvas, int digit, Stream& stream) {
  const auto forms = glyph_forms(digit);
  GlyphForm form = forms[stream.below(forms.size())];
  const Placement place = draw_placement(stream);
  const double width = between(stream, 1.2, 3.2);
  for (GlyphStroke& stroke : form) {
    for (GlyphPoint& point : stroke.points) {
      point.x += between(stream, -0.07, 0.07);
      point.y += between(stream, -0.05, 0.05);
    }
    const auto path = flatten(stroke);
    for (std::size_t i = 0; i + 1 < path.size(); ++i)
      ink(canvas, place(path[i]), place(path[i + 1]), width, 1);
  }
}

/// What makes a linear classifier fail and a convolution not: stray strokes, and a patch that hides a part.
void add_clutter(Canvas& canvas, Stream& stream) {
  const auto strays = stream.below(3);
  for (std::uint64_t i = 0; i < strays; ++i) {
    const GlyphPoint from{between(stream, 0, kGlyphsSide), between(stream, 0, kGlyphsSide)};
    const GlyphPoint to{from.x + between(stream, -7, 7), from.y + between(stream, -7, 7)};
    // Named, as the order in which a call's arguments are evaluated differs between compilers.
    const double width = between(stream, 0.8, 1.8);
    const double strength = between(stream, 0.3, 0.7);
    ink(canvas, from, to, width, strength);
  }
  if (happens(stream, 0.4)) {
    const auto size = 3 + static_cast<int>(stream.below(3));
    const auto top = static_cast<int>(stream.below(static_cast<std::uint64_t>(kGlyphsSide - size + 1)));
    const auto left = static_cast<int>(stream.below(static_cast<std::uint64_t>(kGlyphsSide - size + 1)));
    for (int row = top; row < top + size; ++row)
      for (int column = left; column < left + size; ++column)
        canvas[static_cast<std::size_t>(row * kGlyphsSide + column)] = 0;
  }
}

/// Paper and ink of random brightness, and noise on every pixel.
void expose(const Canvas& canvas, std::uint8_t* pixels, Stream& stream) {
  const double paper = between(stream, 0, 50);
  const double inked = between(stream, 150, 255);
  const double noise = between(stream, 5, 45);
  std::uint64_t bits = 0;
  for (int i = 0; i < kPixels; ++i) {
    // Eight pixels share the 64 bits of one draw.
    if (i % 8 == 0) bits = stream();
    const double grain = static_cast<double>(bits & 0xff) / 255 - 0.5;
    bits >>= 8;
    const double value = paper + (inked - paper) * canvas[static_cast<std::size_t>(i)] + noise * grain;
    pixels[i] = static_cast<std::uint8_t>(std::floor(std::clamp(value, 0.0, 255.0) + 0.5));
  }
}

/// `part` 0 is the training set, 1 the test set; image i is a function of (part, i) alone.
Examples draw_part(std::int64_t part, std::int64_t count) {
  Stream shuffle(StreamName{kSeed, part, kServer, Purpose::kDataset, 0});
  const auto order = shuffle.permutation(count);
  Examples examples{torch::empty({count, 1, kGlyphsSide, kGlyphsSide}, torch::kUInt8),
                    torch::empty({count}, torch::kInt64)};
  auto* pixels = examples.inputs.data_ptr<std::uint8_t>();
  auto* labels = examples.targets.data_ptr<std::int64_t>();
  constexpr std::int64_t kAtATime = 1000;
  const WorkPool pool(WorkPool::available_cores());
  pool.for_each(static_cast<std::size_t>((count + kAtATime - 1) / kAtATime), [&](std::size_t piece) {
    const std::int64_t first = static_cast<std::int64_t>(piece) * kAtATime;
    for (std::int64_t i = first; i < std::min(count, first + kAtATime); ++i) {
      labels[i] = order[static_cast<std::size_t>(i)] % kGlyphsClasses;
      Stream stream(StreamName{kSeed, part, kServer, Purpose::kDataset, static_cast<std::uint64_t>(i) + 1});
      Canvas canvas{};
      draw_digit(canvas, static_cast<int>(labels[i]), stream);
      add_clutter(canvas, stream);
      expose(canvas, pixels + i * kPixels, stream);
    }
  });
  return examples;
}

Dataset load_glyphs(const Settings& settings, const SearchPath& /*search_path*/) {
  Dataset glyphs;
  glyphs.train = draw_part(0, GlyphsConfig::schema().read(settings).train);
  glyphs.test = draw_part(1, kGlyphsTest);
  glyphs.classes = kGlyphsClasses;
  glyphs.mean = {0.1814};
  glyphs.deviation = {0.2134};
  glyphs.note =
      "glyphs is synthetic: digits drawn by the program, not handwriting; its accuracies compare with "
      "nothing published.";
  return glyphs;
}

}  // namespace

DatasetSource glyphs_source() {
  return {
      .name = "glyphs",
      .summary =
          "Synthetic digits drawn by the program, no files needed: 12,000 train and 2,000 test images, 28 x "
          "28 grey, 10 classes.",
      .fields = GlyphsConfig::schema().fields(),
      .origin = DatasetOrigin::kDrawn,
      .load = load_glyphs};
}

}  // namespace fedarena
