// Synthetic images, embedded as PNG.
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/text.hpp"

#include "results/images/image_grid.hpp"
#include "results/images/synthetic_folder.hpp"
#include "results/record/find_runs.hpp"
#include "results/report/sections.hpp"
#include "results/text/markup.hpp"

namespace fedarena::results {
namespace {

constexpr std::size_t kMostOfAClass = 20;
// Of all pictures together, in base 64.
constexpr std::size_t kMostBytes = 6'000'000;

// The latest recorded round whose set was kept; none without one.
std::optional<std::int64_t> latest_round(const SeedResult& seed) {
  std::vector<std::int64_t> kept = SyntheticFolder(seed.path).rounds();
  std::erase_if(kept, [&](std::int64_t round) { return round > seed.rounds_done(); });
  return kept.empty() ? std::nullopt : std::optional(kept.back());
}

// The first images of every class.
LabelledImages first_of_classes(const LabelledImages& images) {
  LabelledImages first{.channels = images.channels,
                       .height = images.height,
                       .width = images.width,
                       .pixels = {},
                       .labels = {}};
  std::map<std::int64_t, std::size_t> counts;
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (++counts[images.labels[i]] > kMostOfAClass) continue;
    const std::span<const float> pixels = images.image(i);
    first.pixels.insert(first.pixels.end(), pixels.begin(), pixels.end());
    first.labels.push_back(images.labels[i]);
  }
  return first;
}

// Empty where the set holds no images, as of tables.
std::string figure(const std::string& title, const SeedResult& seed, std::int64_t round) {
  const SyntheticFolder folder(seed.path);
  SyntheticSet set = folder.read(round);
  if (set.images.shape.size() != 4) return "";
  const LabelledImages all = as_images(std::move(set), folder.folder_of(round).string());
  const LabelledImages shown = first_of_classes(all);
  const Raster raster = image_grid(shown, 1);
  const std::int64_t scale = default_scale(shown);
  const std::string what = fmt::format(
      "{}, seed {}, round {}: {} of {} images of {} classes, {} x {} pixels, a row or more for each class",
      title, seed.seed(), round, shown.size(), all.size(), shown.classes().size(), all.width, all.height);
  return fmt::format(
      "<figure>\n<img src=\"data:image/png;base64,{}\" width=\"{}\" height=\"{}\" alt=\"Synthetic images of "
      "{}\">\n{}\n"
      "</figure>\n",
      base64(to_png(raster)), raster.width * scale / 2, raster.height * scale / 2, html_escaped(what),
      html_element("figcaption", what));
}

}  // namespace

std::string images_body(const Table& table, Problems& problems) {
  std::string html;
  std::size_t left_out = 0;
  const SettingNames titles = setting_names(table);
  for (const Row& row : table.rows) {
    for (const SeedResult& seed : row.seeds) {
      try {
        const std::optional<std::int64_t> round = latest_round(seed);
        if (!round) continue;
        const std::string picture = html.size() < kMostBytes ? figure(titles.of(row), seed, *round) : "";
        if (html.size() + picture.size() > kMostBytes || html.size() >= kMostBytes) {
          ++left_out;
        } else {
          html += picture;
        }
        break;  // one seed of a row
      } catch (const Error& error) {
        problems.push_back({seed.path, problem_line(error)});
      }
    }
  }
  if (html.empty()) return html;
  if (left_out > 0) {
    html += html_element("p", fmt::format("The images of {} are left out, to keep this file small.",
                                          counted(left_out, "more row"))) +
            "\n";
  }
  return "<p>What the server trained on in place of examples, one run of each row. "
         "<code>fedarena images RUN</code> draws other rounds and histograms.</p>\n" +
         html;
}

}  // namespace fedarena::results
