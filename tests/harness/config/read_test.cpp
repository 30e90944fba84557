// What an experiment file says, and the reference that explains it.

#include "harness/config/sections/help.hpp"
#include "sample.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

TEST(FieldsHelp, AlignsNameTypeDefaultRangeAndSentence) {
  EXPECT_EQ(fields_help(sample_catalog().algorithms[1].fields),
            "rate        number   0.05        > 0                    Step size.\n"
            "batch_size  integer  32          >= 1                   Examples in a batch.\n"
            "mu          number   0.01        from 0 to 10           Pull towards the global model.\n"
            "average     string   \"examples\"  \"examples\", \"clients\"  Weights of the mean.\n"
            "nesterov    boolean  false       true or false          Whether momentum looks ahead.\n");
  EXPECT_THAT(fields_help(sample_catalog().algorithms[1].fields, {"mu"}),
              HasSubstr("mu          number   required    from 0 to 10 "));
  EXPECT_EQ(fields_help({}), "");
}

TEST(ExperimentHelp, NamesEveryChoiceAndEverySetting) {
  const Catalog catalog = sample_catalog();
  const std::string help = experiment_help(catalog);
  for (const auto* entries :
       {&catalog.datasets, &catalog.partitions, &catalog.models, &catalog.algorithms, &catalog.policies}) {
    for (const CatalogEntry& entry : *entries) {
      EXPECT_THAT(help, HasSubstr(fmt::format("= \"{}\"  {}\n", entry.name, entry.summary)));
      for (const Field& field : entry.fields) EXPECT_THAT(help, HasSubstr(field.doc));
    }
  }
}

TEST(ExperimentHelp, NamesEveryKeyOfTheFile) {
  const std::string help = experiment_help(sample_catalog());
  for (const char* line : {
           "\n[experiment]  What is run, how often and where.\n",
           "\n  name    string            required   letters, digits, '-', '_' and '.', ",
           "\n  rounds  integer           required   from 1 to 1000000 ",
           "\n  dtype   string            \"float32\"  \"float32\", \"float64\" ",
           "\n[partition]  How the examples are dealt to the clients.\n"
           "  kind  string  required  \"classes\", \"dirichlet\"  The way of dealing.\n",
           "\n[cohort]  ",
           "Rounds between evaluations; the last round is always evaluated.\n",
           "\n[stopping]  Rules that end a run early, by validation examples alone.\n",
           "\n[privacy]  ",
           "\n[training]  ",
           "\n[[algorithms]]  ",
           "\n  name = \"dp-fedavg\"  Averaging of noised models.\n"
           "    Requires the privacy policy \"record\".\n",
           "\n[algorithms.privacy]  Below an algorithm, for it alone: ",
           "\n  policy  string  \"\"  \"none\", \"record\", \"client\"  The policy of this algorithm; left "
           "out: that of "
           "[privacy].\n",
           "\n[sweep]  Values to combine into a grid, each \"section.key\" = [values] with the path in "
           "quotes; ",
           "\n[profiles.NAME]  Overrides under a name, each \"section.key\" = value with the path in "
           "quotes; ",
       }) {
    EXPECT_THAT(help, HasSubstr(line));
  }
}

TEST(ReadExperiment, TakesWhatTheFileSays) {
  const Experiment experiment = parse_sample(kSample);
  EXPECT_EQ(experiment.name, "quickstart");
  EXPECT_EQ(experiment.seeds, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(experiment.rounds, 20);
  EXPECT_EQ(experiment.data, (Choice{"glyphs", {}}));
  EXPECT_EQ(setting(experiment.partition.settings, "clients"), Value(std::int64_t{5}));
  EXPECT_EQ(setting(experiment.model.settings, "width"), Value(std::int64_t{64}));
  EXPECT_EQ(experiment.cohort.size, 5);
  EXPECT_EQ(experiment.evaluation.every, 2);
  EXPECT_EQ(experiment.privacy, (Choice{"none", {}}));
}

TEST(ReadExperiment, FillsInEveryDefault) {
  const Experiment experiment = parse_sample(R"(
    experiment = {name = "least", seeds = [0], rounds = 1}
    data.name = "glyphs"
    partition.kind = "classes"
    model.name = "convnet"
    algorithms = [{name = "fedavg"}])");
  EXPECT_EQ(experiment.device, "cpu");
  EXPECT_EQ(experiment.dtype, "float32");
  EXPECT_EQ(experiment.cohort, Cohort{});
  EXPECT_EQ(experiment.evaluation, Evaluation{});
  EXPECT_EQ(experiment.privacy.name, "none");
  EXPECT_EQ(experiment.partition.settings,
            (Settings{{"clients", std::int64_t{10}}, {"classes_per_client", std::int64_t{2}}}));
  EXPECT_EQ(setting(experiment.model.settings, "layers"), Value(std::vector<std::int64_t>{64, 64}));
  EXPECT_EQ(
      experiment.algorithms.front(),
      (AlgorithmEntry{"fedavg", "fedavg", {{"rate", 0.01}, {"batch_size", std::int64_t{32}}}, {"none", {}}}));
}

TEST(ReadExperiment, GivesTrainingToEveryAlgorithmThatHasNoOwn) {
  const Experiment experiment = parse_sample(kSample);
  ASSERT_EQ(experiment.algorithms.size(), 2U);
  EXPECT_EQ(experiment.algorithms[0].label, "FedAvg");
  EXPECT_EQ(experiment.algorithms[0].settings, (Settings{{"rate", 0.5}, {"batch_size", std::int64_t{64}}}));
  EXPECT_EQ(experiment.algorithms[1].label, "fedprox");
  EXPECT_EQ(experiment.algorithms[1].settings, (Settings{{"rate", 0.25},
                                                         {"batch_size", std::int64_t{64}},
                                                         {"mu", 1.0},
                                                         {"average", std::string("examples")},
                                                         {"nesterov", false}}));
}

TEST(ReadExperiment, AcceptsAFileWithAByteOrderMarkAndWindowsLineEnds) {
  std::string text = "\xef\xbb\xbf";
  for (const char letter : kSample) text += letter == '\n' ? std::string("\r\n") : std::string(1, letter);
  EXPECT_EQ(parse_sample(text), parse_sample(kSample));
}

TEST(CohortSize, IsEverybodyUnlessSaidOtherwise) {
  Experiment experiment;
  EXPECT_EQ(experiment.cohort_size(7), 7);
  experiment.cohort.size = 3;
  EXPECT_EQ(experiment.cohort_size(7), 3);
  EXPECT_THROW(experiment.cohort_size(2), Error);
}

TEST(CohortSize, RoundsAFractionAndNeverTakesNobody) {
  Experiment experiment;
  experiment.cohort.fraction = 0.29;
  EXPECT_EQ(experiment.cohort_size(100), 29);
  experiment.cohort.fraction = 0.001;
  EXPECT_EQ(experiment.cohort_size(100), 1);
  experiment.cohort.fraction = 1;
  EXPECT_EQ(experiment.cohort_size(3), 3);
}

TEST(CohortSize, IsOfTheClientsThatTrain) {
  Experiment experiment;
  experiment.evaluation.held_out_clients = 0.3;
  EXPECT_EQ(experiment.held_out_clients(10), 3);
  EXPECT_EQ(experiment.cohort_size(10), 7);
  experiment.cohort.fraction = 0.5;
  EXPECT_EQ(experiment.cohort_size(12), 4);  // of 8
  experiment.cohort = {.size = 8};
  EXPECT_THROW(experiment.cohort_size(10), Error);
  experiment.evaluation.held_out_clients = 0.01;
  EXPECT_EQ(experiment.held_out_clients(10), 1);
  EXPECT_THROW(experiment.held_out_clients(1), Error);
}

// [audit]: canaries, guesses and the policies that they fit.

std::string audited_sample(const std::string& audit, const std::string& policy = "record") {
  return with("policy = \"none\"", "policy = \"" + policy + "\"") + "\n[audit]\n" + audit;
}

TEST(AuditSection, TakesAFifthOfTheCanariesForGuesses) {
  const Audit audit = parse_sample(audited_sample("kind = \"gradient\"\n")).audit;
  EXPECT_EQ(audit, (Audit{"gradient", 1000, 200, "on"}));
  EXPECT_EQ(parse_sample(audited_sample("kind = \"gradient\"\ncanaries = 57\n")).audit.guesses, 10);
  EXPECT_EQ(parse_sample(audited_sample("kind = \"gradient\"\ncanaries = 2\n")).audit.guesses, 2);
  EXPECT_EQ(
      parse_sample(audited_sample("kind = \"client\"\nguesses = 40\nnoise = \"off\"\n", "client")).audit,
      (Audit{"client", 1000, 40, "off"}));
}

TEST(AuditSection, IsPartOfTheResolvedFileOnlyWhereThereAreCanaries) {
  EXPECT_THAT(to_toml(parse_sample(kSample)), Not(HasSubstr("audit")));
  EXPECT_THAT(to_toml(parse_sample(audited_sample("kind = \"none\"\ncanaries = 7\n"))),
              Not(HasSubstr("audit")));
  const Experiment experiment = parse_sample(audited_sample("kind = \"gradient\"\n"));
  EXPECT_THAT(to_toml(experiment),
              HasSubstr("[audit]\nkind = \"gradient\"\ncanaries = 1000\nguesses = 200\n"));
  EXPECT_EQ(parse_sample(to_toml(experiment)), experiment);
}

TEST(AuditSection, MayBeSetAndSwept) {
  const std::string text = with("policy = \"none\"", "policy = \"record\"");
  EXPECT_EQ(parse_sample(text, {"audit.kind=gradient", "audit.canaries=20"}).audit,
            (Audit{"gradient", 20, 4, "on"}));
}

}  // namespace
}  // namespace fedarena
