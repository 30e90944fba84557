// What people write by hand: experiments, overrides, published figures. And the experiment of a run
// directory.
#include <optional>

#include "harness/app/results/references_file.hpp"
#include "results/record/run_setup.hpp"
#include "tests/fuzz/text/text_targets.hpp"
#include "tests/harness/config/sample.hpp"
#include "tests/results/published_figures.hpp"

namespace fedarena::fuzz {
namespace {

const Catalog& catalog() {
  static const Catalog kCatalog = sample_catalog();
  return kCatalog;
}

void read_an_experiment(std::string_view bytes) {
  const config::Document document = config::parse_document(bytes, "e.toml");
  std::optional<std::string> profile;
  if (bytes.find("[profiles.quick]") != std::string_view::npos) profile = "quick";
  const FilePlan plan = read_plan(document, {}, catalog(), profile);
  for (const GridPoint& point : plan.points) {
    const std::string written = to_toml(point.experiment);
    results::resolved_settings(written);
    require(read_grid(config::parse_document(written, "again.toml"), {}, catalog()).front().experiment ==
                point.experiment,
            "the experiment changes when it is written");
  }
}

void read_override(std::string_view bytes) {
  static const config::Document kDocument = parsed(kSample);
  read_grid(kDocument, {std::string(bytes)}, catalog());
}

// Whatever is refused, the message begins with the file.
void read_figures(std::string_view bytes) {
  try {
    parse_references(bytes, "references.toml");
  } catch (const Error& error) {
    require(std::string_view(error.what()).starts_with("references.toml"), "a message without the file");
    throw;
  }
}

const std::vector<std::string>& toml_words() {
  static const std::vector<std::string> words = split(
      "[[|]]|\"\"\"|'''|.|#|\r|-|1979-05-27T07:32:00Z|07:32:00|epsilon = 1\n|[algorithms]\n|[[data]]\n|"
      "[algorithms.privacy]\n|privacy.policy = \"record\"\n|a.b.c = 1\n|[[algorithms]]\n|[sweep]\n|"
      "[tuning]\n|[profiles.quick]\n|seeds = [1, 1]\n|{kind = \"iid\"}");
  return words;
}

}  // namespace

std::vector<Target> experiment_targets() {
  return {
      {.name = "experiment",
       .read = read_an_experiment,
       .seeds = {kSample, kProfiled, kSwept, private_sample(), tuning_sample()},
       .words = toml_words()},
      {.name = "override",
       .read = read_override,
       .seeds = {"experiment.rounds=5", "training.rate=0.1", "model.layers=[1, 2]",
                 "algorithms.FedAvg.rate=0.2", "experiment.name=x", "sweep.model.width=[8, 9]",
                 "privacy.policy=client"},
       .words = toml_words()},
      {.name = "published", .read = read_figures, .seeds = {test::kPublishedFigures}, .words = toml_words()}};
}

}  // namespace fedarena::fuzz
