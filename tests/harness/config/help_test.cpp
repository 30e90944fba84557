#include "harness/config/sections/help.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample.hpp"

namespace fedarena {
namespace {

using testing::HasSubstr;

TEST(FieldsHelp, AlignsNameTypeDefaultRangeAndSentence) {
  EXPECT_EQ(fields_help(sample_catalog().algorithms[1].fields),
            "rate        number   0.05        > 0                    Step size.\n"
            "batch_size  integer  32          >= 1                   Examples in a batch.\n"
            "mu          number   0.01        from 0 to 10           Pull towards the global model.\n"
            "average     string   \"examples\"  \"examples\", \"clients\"  Weights of the mean.\n"
            "nesterov    boolean  false       true or false          Whether momentum looks ahead.\n");
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

}  // namespace
}  // namespace fedarena
