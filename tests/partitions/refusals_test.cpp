// What cannot be dealt is refused, with the reason and, where there is one, a remedy.
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "fedarena/base/error.hpp"

#include "partitions/class_shares.hpp"
#include "partitions/partition.hpp"
#include "tests/matchers.hpp"
#include "tests/partitions/labelled.hpp"

namespace fedarena {
namespace {

const Labelled& ten_classes() {
  static const Labelled data = Labelled::balanced(10, 10);
  return data;
}

std::string refused_of_ten(const std::string& kind, const Settings& settings) {
  return refusal(kind, settings, ten_classes());
}

struct Refused {
  std::string kind;
  Settings settings;
  std::string message;
};

TEST(Refusals, SayWhatCannotBeAndWhatToDo) {
  for (const Refused& refused : std::vector<Refused>{
           {"dirichelt",
            {},
            "unknown partition \"dirichelt\"; allowed: iid, quantity, classes, shared-classes, shards, "
            "dirichlet, dirichlet-niid-bench, dirichlet-flower, dirichlet-pfllib, dirichlet-pfl, by-user; "
            "did "
            "you mean \"dirichlet\"?"},
           {"iid",
            {{"alpha", 0.5}},
            "unknown key \"alpha\"; allowed: clients, train_fraction, noise, rotations"},
           {"dirichlet",
            {{"client", 3}},
            "unknown key \"client\"; allowed: clients, train_fraction, noise, rotations, alpha, "
            "min_examples; did you mean \"clients\"?"},
           {"classes",
            {{"clients", 5}, {"classes_per_client", 3}},
            "5 clients with 3 classes each need 15 classes, because no two clients share one, and the data "
            "has 10\n  lower clients or classes_per_client, or use partition \"dirichlet\""},
           {"classes",
            {{"clients", 1}, {"classes_per_client", 1}},
            "1 client with 1 class each use 1 of the 10 classes and leave the others out\n"
            "  raise clients or classes_per_client, or list the classes to use in class_order"},
           {"classes",
            {{"clients", 2}, {"class_order", Indices{0, 1, 2}}},
            "class_order lists 3 classes and 2 clients with 2 classes each take 4\n"
            "  list exactly the classes to use"},
           {"classes",
            {{"clients", 2}, {"class_order", Indices{0, 1, 2, 1}}},
            "class_order lists class 1 twice; allowed: every class at most once"},
           {"classes",
            {{"clients", 1}, {"class_order", Indices{0, 10}}},
            "class_order lists class 10; allowed: classes 0 to 9"},
           {"classes",
            {{"clients", 1}, {"class_order", Indices{0, -1}}},
            "class_order is [0, -1]; allowed: a list of integers >= 0"},
           {"shards",
            {{"clients", 50}, {"shards_per_client", 3}},
            "50 clients with shards_per_client = 3 need 150 shards and the data has 100 examples\n"
            "  lower clients or shards_per_client"},
           {"shared-classes",
            {{"classes_per_client", 11}},
            "classes_per_client is 11 and the data has examples of 10 classes\n  lower classes_per_client"},
           {"shared-classes",
            {{"clients", 3}, {"classes_per_client", 3}},
            "3 clients with classes_per_client = 3 hold at most 9 of the 10 classes and leave the others "
            "out\n  raise clients or classes_per_client, or use partition \"classes\" with class_order"},
           {"dirichlet-pfl",
            {{"examples_per_client", 21}},
            "5 clients with examples_per_client = 21 need 105 examples and the data has 100\n"
            "  lower clients or examples_per_client"},
           {"dirichlet",
            {{"min_examples", 0}},
            "min_examples is 0; allowed: an integer from 1 to 1000000000"}}) {
    EXPECT_EQ(refused_of_ten(refused.kind, refused.settings), refused.message);
  }
  EXPECT_THROW(partition_fields("dirichelt"), Error);
  EXPECT_THROW(partition_summary("dirichelt"), Error);
}

TEST(Refusals, NoClients) {
  for (const std::string& kind : partition_names()) {
    if (kind == "by-user") continue;  // all of them, there
    EXPECT_EQ(refused_of_ten(kind, {{"clients", 0}}), "clients is 0; allowed: an integer from 1 to 1000000")
        << kind;
  }
}

TEST(Refusals, MoreClientsThanExamples) {
  for (const std::string& kind : partition_names()) {
    EXPECT_EQ(refused_of_ten(kind, {{"clients", 101}}),
              "clients is 101 and the data has 100 training examples, which cannot give every client one\n"
              "  ask for fewer clients or use more examples")
        << kind;
  }
}

TEST(Refusals, NoExamples) {
  EXPECT_NE(refusal("iid", {{"clients", 1}}, {}).find("0 training examples"), std::string::npos);
}

TEST(Refusals, KindsByClassOnRegressionData) {
  for (const std::string& kind : partition_names()) {
    if (kind == "iid" || kind == "quantity" || kind == "by-user") continue;
    EXPECT_EQ(refusal(kind, {}, unlabelled(100)),
              "partition \"" + kind + "\" deals by class label, which this data set does not have\n" +
                  "  use partition \"iid\" for regression");
  }
}

TEST(Refusals, ClientWhoseClassesAreAbsent) {
  const Labelled data({0, 0, 1, 1}, 4);
  EXPECT_EQ(refusal("classes", {{"clients", 2}}, data),
            "client 1 would hold no example: the data has none of its classes\n"
            "  leave classes without examples out of class_order");
}

TEST(Refusals, AlphaThatIsNotPositive) {
  for (const std::string& kind : partition_names()) {
    if (find_field(partition_fields(kind), "alpha") == nullptr) continue;
    for (const auto& [alpha, text] : std::vector<std::pair<double, std::string>>{
             {0.0, "0.0"}, {-1.0, "-1.0"}, {std::nan(""), "nan"}, {HUGE_VAL, "inf"}}) {
      EXPECT_EQ(refused_of_ten(kind, {{"alpha", alpha}}), "alpha is " + text + "; allowed: a number > 0")
          << kind;
    }
  }
}

// With one class and next to no alpha one client takes all of it.
TEST(Refusals, LeastNumbersThatCannotBeMet) {
  const Labelled one_class = Labelled::balanced(1, 100);
  for (const auto& [kind, draws] : std::vector<std::pair<std::string, int>>{
           {"dirichlet", 1000}, {"quantity", 1000}, {"dirichlet-flower", 11}}) {
    EXPECT_EQ(refused_of_ten(kind, {{"min_examples", 21}}),
              "5 clients with min_examples = 21 need 105 examples and the data has 100\n"
              "  lower clients or min_examples");
    EXPECT_EQ(refusal(kind, {{"alpha", 1e-6}}, one_class),
              fmt::format("no draw of {} left every one of 5 clients at least 10 examples, at alpha = 1e-06\n"
                          "  raise alpha, or lower clients or min_examples",
                          draws));
  }
}

// Of 300 clients whose shares are exponentially distributed about 20, four in ten have fewer than 10.
TEST(Refusals, DrawsThatCannotSucceedAreFew) {
  const Labelled data = Labelled::balanced(1, 6000);
  for (const std::string kind : {"dirichlet", "quantity"}) {
    EXPECT_THAT(
        refusal(kind, {{"alpha", 1.0}, {"clients", 300}, {"min_examples", 10}}, data),
        MatchesRegex("no draw of 20 left every one of 300 clients at least 10 examples, at alpha = 1.0; each "
                     "left (8|9|10|11|12)[0-9] or more with fewer\n  raise alpha, or lower clients or "
                     "min_examples"))
        << kind;
  }
}

TEST(Draws, GoOnAsLongAsOneMaySucceed) {
  const auto made = [](std::uint64_t most, const std::function<std::int64_t(std::uint64_t)>& short_clients) {
    Draws draws(most);
    while (draws.go_on()) draws.fail(short_clients(draws.made()));
    return draws.made();
  };
  EXPECT_EQ(made(1000, [](std::uint64_t) { return 50; }), 20U);
  EXPECT_EQ(made(1000, [](std::uint64_t) { return 49; }), 1000U);
  EXPECT_EQ(made(1000, [](std::uint64_t draw) { return draw == 19 ? 1 : 4000; }), 1000U);
  EXPECT_EQ(made(11, [](std::uint64_t) { return 4000; }), 11U);
}

TEST(Refusals, InputThatContradictsItselfIsABug) {
  const Labelled data({0, 5}, 2);
  EXPECT_THROW(make_partition("iid", {{"clients", 1}}, data, 1), Bug);
  PartitionInput short_input = ten_classes();
  short_input.examples = 99;
  EXPECT_THROW(make_partition("iid", {}, short_input, 1), Bug);
}

}  // namespace
}  // namespace fedarena
