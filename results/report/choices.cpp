// Who took which of several models, one seed of each row.
#include "results/measures/choices.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "results/report/box_map.hpp"
#include "results/report/sections.hpp"
#include "results/text/markup.hpp"

namespace fedarena::results {
namespace {

constexpr std::size_t kMostRows = 120, kMostColumns = 150;
// In report.css; further models have them again.
constexpr std::size_t kModelColours = 7;

std::string key(const std::vector<std::int64_t>& models) {
  std::string html;
  for (const std::int64_t model : models) {
    html += fmt::format(" <span class=\"model{}\">■</span> {}", model % std::int64_t{kModelColours}, model);
  }
  return html;
}

std::string figure(const RowRuns& row, const Choices& choices) {
  const std::vector<std::size_t> clients = evenly_chosen(choices.rows.size(), kMostRows);
  const std::vector<std::size_t> rounds = evenly_chosen(choices.rounds.size(), kMostColumns);
  const BoxMap map{.columns = rounds.size(), .rows = clients.size()};
  std::vector<std::string> colours;
  for (std::size_t model = 0; model < kModelColours; ++model)
    colours.push_back(fmt::format("class=\"model{}\"", model));
  const auto colour = [&](std::size_t column, std::size_t line) -> std::optional<std::size_t> {
    const std::vector<Choices::Taken>& taken = choices.rows[clients[line]].taken;
    const auto found = std::ranges::lower_bound(taken, rounds[column], {}, &Choices::Taken::position);
    if (found == taken.end() || found->position != rounds[column]) return std::nullopt;
    return static_cast<std::size_t>(found->model) % kModelColours;
  };
  const std::string name = fmt::format("{}, seed {}", row_name(row.key), row.summary().seed);
  const std::string caption =
      fmt::format("{}: rows are {}, by the model taken most often; columns are {}. {}.", name,
                  chosen_text(clients.size(), choices.rows.size(), "clients"),
                  chosen_text(rounds.size(), choices.rounds.size(), "rounds"), choices_text(choices));
  return "<figure class=\"map\">" +
         map.svg(colour, colours, fmt::format("The model that each client took in each round: {}", name)) +
         fmt::format("<figcaption>{} Models:{}</figcaption>\n</figure>\n", html_escaped(caption),
                     key(choices.models));
}

}  // namespace

std::string choices_figure(const RowRuns& row, const RowRounds& rounds) {
  const Choices choices = choices_of(rounds.front());
  return choices.rows.empty() ? "" : figure(row, choices);
}

std::string choices_body(std::span<const RowParts> rows) {
  std::string html;
  for (const RowParts& row : rows) html += row.choices;
  if (html.empty()) return html;
  return "<p>Where an algorithm has several models: which one each client took, or was given, in each round. "
         "<code>fedarena plot RUN --choices</code> draws one run.</p>\n" +
         html;
}

}  // namespace fedarena::results
