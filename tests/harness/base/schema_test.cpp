#include "fedarena/base/schema.hpp"

#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/infinity.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

struct Optimizer {
  double rate = 0.1;
  std::int64_t steps = 10;

  static const Schema<Optimizer>& schema() {
    static const Schema<Optimizer> schema = {
        {"rate", &Optimizer::rate, "The step size.", Constraint::positive()},
        {"steps", &Optimizer::steps, "How many steps.", Constraint::between(1, 100)}};
    return schema;
  }
};

struct Tag {
  std::string tag = "none";
};

// A second base, so that Optimizer's members do not lie at the start.
struct Training : Tag, Optimizer {
  bool nesterov = false;
  std::string reduction = "mean";
  std::vector<std::int64_t> milestones = {5, 7};
  double decay = 0;

  static const Schema<Training>& schema() {
    static const Schema<Training> schema = Schema<Training>{
        {"nesterov", &Training::nesterov, "Whether momentum looks ahead."},
        {"reduction", &Training::reduction, "How losses combine.", Constraint::one_of({"sum", "mean"})},
        {"milestones", &Training::milestones, "Where the rate drops.", Constraint::at_least(0)},
        {"decay", &Training::decay,
         "Weight decay."}}.extends(Optimizer::schema());
    return schema;
  }

  void validate() const {
    if (decay > rate) throw Error::of("decay {} exceeds rate {}", decay, rate);
  }
};

std::string message_of(const Settings& given) {
  return test::message_of([&] { Training::schema().read(given); });
}

TEST(ToText, WritesWhatAnExperimentFileWrites) {
  EXPECT_EQ(to_text(true), "true");
  EXPECT_EQ(to_text(false), "false");
  EXPECT_EQ(to_text(std::int64_t{-12}), "-12");
  EXPECT_EQ(to_text(0.1), "0.1");
  EXPECT_EQ(to_text(std::string("a b")), "\"a b\"");
  EXPECT_EQ(to_text(std::vector<std::int64_t>{1, 2}), "[1, 2]");
  EXPECT_EQ(to_text(std::vector<std::int64_t>{}), "[]");
}

TEST(ToText, KeepsDoublesRecognisable) {
  EXPECT_EQ(to_text(1.0), "1.0");
  EXPECT_EQ(to_text(-0.0), "-0.0");
  EXPECT_EQ(to_text(1e300), "1e+300");
  EXPECT_EQ(to_text(kInfinity), "inf");
  EXPECT_EQ(to_text(-kInfinity), "-inf");
  EXPECT_EQ(to_text(std::nan("")), "nan");
}

TEST(ToText, LosesNoBitOfADouble) {
  for (const double value : {0.1 + 0.2, 1.0 / 3, 5e-324, 1.7976931348623157e308, 123456789.125}) {
    EXPECT_EQ(std::strtod(to_text(value).c_str(), nullptr), value);
  }
}

TEST(ToText, EscapesStrings) {
  EXPECT_EQ(to_text(std::string("a\"b\\c")), R"("a\"b\\c")");
  EXPECT_EQ(to_text(std::string("a\nb\x7f")), R"("a\nb\u007f")");
  EXPECT_EQ(to_text(std::string("\u00e9")), "\"\u00e9\"");
}

TEST(TypeName, NamesEveryType) {
  EXPECT_EQ(type_name(true), "a boolean");
  EXPECT_EQ(type_name(std::int64_t{1}), "an integer");
  EXPECT_EQ(type_name(1.0), "a number");
  EXPECT_EQ(type_name(std::string()), "a string");
  EXPECT_EQ(type_name(std::vector<std::int64_t>()), "a list of integers");
}

TEST(Constraint, BetweenIncludesItsEnds) {
  const Constraint constraint = Constraint::between(1, 3);
  for (const std::int64_t value : {1, 2, 3}) EXPECT_TRUE(constraint.holds(value));
  for (const std::int64_t value : {0, 4}) EXPECT_FALSE(constraint.holds(value));
  EXPECT_FALSE(constraint.holds(3.0000001));
  EXPECT_EQ(constraint.allowed(std::int64_t{}), "an integer from 1 to 3");
}

TEST(Constraint, AtLeastIncludesItsEnd) {
  const Constraint constraint = Constraint::at_least(0.5);
  EXPECT_TRUE(constraint.holds(0.5));
  EXPECT_FALSE(constraint.holds(0.49));
  EXPECT_EQ(constraint.allowed(0.0), "a number >= 0.5");
}

TEST(Constraint, PositiveExcludesZero) {
  const Constraint constraint = Constraint::positive();
  EXPECT_TRUE(constraint.holds(5e-324));
  EXPECT_FALSE(constraint.holds(0.0));
  EXPECT_FALSE(constraint.holds(-1.0));
  EXPECT_EQ(constraint.allowed(0.0), "a number > 0");
}

TEST(Constraint, OneOfListsItsNames) {
  const Constraint constraint = Constraint::one_of({"sum", "mean"});
  EXPECT_TRUE(constraint.holds(std::string("mean")));
  EXPECT_FALSE(constraint.holds(std::string("Mean")));
  EXPECT_FALSE(constraint.holds(std::string()));
  EXPECT_EQ(constraint.allowed(std::string()), "\"sum\", \"mean\"");
}

TEST(Constraint, HoldsForEveryElementOfAList) {
  const Constraint constraint = Constraint::at_least(0);
  EXPECT_TRUE(constraint.holds(std::vector<std::int64_t>{}));
  EXPECT_TRUE(constraint.holds(std::vector<std::int64_t>{0, 5}));
  EXPECT_FALSE(constraint.holds(std::vector<std::int64_t>{5, -1}));
  EXPECT_EQ(constraint.allowed(std::vector<std::int64_t>()), "a list of integers >= 0");
}

TEST(Constraint, RefusesNumbersThatAreNotFinite) {
  for (const Constraint& constraint : {Constraint(), Constraint::positive(), Constraint::between(0, 1)}) {
    for (const double value : {std::nan(""), kInfinity, -kInfinity}) EXPECT_FALSE(constraint.holds(value));
  }
}

TEST(Constraint, NamesTheTypeWhenAllIsAllowed) {
  EXPECT_EQ(Constraint().allowed(true), "true or false");
  EXPECT_EQ(Constraint().allowed(0.0), "a number");
  EXPECT_EQ(Constraint().allowed(std::string()), "a string");
}

TEST(Schema, TakesDefaultsFromTheStruct) {
  const Training training = Training::schema().read({});
  EXPECT_EQ(training.rate, 0.1);
  EXPECT_EQ(training.steps, 10);
  EXPECT_FALSE(training.nesterov);
  EXPECT_EQ(training.reduction, "mean");
  EXPECT_EQ(training.milestones, (std::vector<std::int64_t>{5, 7}));
}

TEST(Schema, ReadsEveryType) {
  const Training training = Training::schema().read({{"rate", 0.5},
                                                     {"steps", 3},
                                                     {"nesterov", true},
                                                     {"reduction", std::string("sum")},
                                                     {"milestones", std::vector<std::int64_t>{}}});
  EXPECT_EQ(training.rate, 0.5);
  EXPECT_EQ(training.steps, 3);
  EXPECT_TRUE(training.nesterov);
  EXPECT_EQ(training.reduction, "sum");
  EXPECT_TRUE(training.milestones.empty());
  EXPECT_EQ(training.tag, "none");  // a neighbour in memory that no setting names
}

TEST(Schema, PutsTheSettingsOfTheBaseFirst) {
  std::vector<std::string> names;
  for (const Field& field : Training::schema().fields()) names.push_back(field.name);
  EXPECT_THAT(names, ElementsAre("rate", "steps", "nesterov", "reduction", "milestones", "decay"));
}

TEST(Schema, KeepsNameDefaultSentenceAndRangeOfEachSetting) {
  const Field* steps = find_field(Training::schema().fields(), "steps");
  ASSERT_NE(steps, nullptr);
  EXPECT_EQ(steps->doc, "How many steps.");
  EXPECT_EQ(to_text(steps->fallback), "10");
  EXPECT_EQ(steps->allowed(), "an integer from 1 to 100");
  EXPECT_EQ(find_field(Training::schema().fields(), "step"), nullptr);
}

TEST(Schema, TakesAnIntegerForANumber) {
  EXPECT_EQ(Training::schema().read({{"rate", 2}}).rate, 2.0);
  EXPECT_EQ(to_text(complete(Training::schema().fields(), {{"rate", 2}}).front().second), "2.0");
}

TEST(Schema, TakesNoNumberForAnInteger) {
  EXPECT_EQ(message_of({{"steps", 2.0}}), "steps is 2.0 (a number); allowed: an integer from 1 to 100");
}

struct Dealt {
  PerClient share = 0.5;
  static Schema<Dealt> schema() { return {{"share", &Dealt::share, "Of each.", Constraint::positive()}}; }
};

TEST(PerClient, IsDealtInTurnOrTheSameForAll) {
  const PerClient list(std::vector{3.0, 4.0, 5.0}), same = 7;
  EXPECT_EQ(list.of(1), 4);
  EXPECT_EQ(list.of(5), 5);
  EXPECT_EQ(list.least(), 3);
  EXPECT_EQ(list.most(), 5);
  EXPECT_EQ(same.of(5), 7);
  EXPECT_FALSE(same.is_list());
  EXPECT_NE(same, PerClient(std::vector{7.0})) << "a list of one is a list";
}

// Older experiments keep their texts, and so their cells.
TEST(PerClient, IsWrittenAsANumberWhereItIsOne) {
  const auto text_of = [](const Value& value) {
    return to_text(complete(Dealt::schema().fields(), {{"share", value}}).front().second);
  };
  EXPECT_EQ(to_text(Dealt::schema().fields().front().fallback), "0.5");
  EXPECT_EQ(text_of(2), "2.0");
  EXPECT_EQ(text_of(0.25), "0.25");
  EXPECT_EQ(text_of(std::vector<std::int64_t>{1, 2}), "[1.0, 2.0]");
  EXPECT_EQ(text_of(PerClient(std::vector{0.5})), "[0.5]");
  EXPECT_EQ(Dealt::schema().read({{"share", std::vector<std::int64_t>{1, 2}}}).share,
            PerClient(std::vector{1.0, 2.0}));
}

TEST(PerClient, ObeysItsConstraintPerElement) {
  const auto refusal = [](const Value& value) {
    return test::message_of([&] { Dealt::schema().read({{"share", value}}); });
  };
  const std::string allowed = "; allowed: a number > 0, or a list of them";
  EXPECT_EQ(refusal(PerClient(std::vector{0.5, 0.0})), "share is [0.5, 0.0]" + allowed);
  EXPECT_EQ(refusal(PerClient(std::vector{0.5, std::nan("")})), "share is [0.5, nan]" + allowed);
  EXPECT_EQ(refusal(std::vector<std::int64_t>{}), "share is []" + allowed);
  EXPECT_EQ(refusal(std::string("x")), "share is \"x\" (a string)" + allowed);
  EXPECT_EQ(message_of({{"rate", PerClient(std::vector{0.1, 0.2})}}),
            "rate is [0.1, 0.2] (a list of numbers); allowed: a number > 0");
}

TEST(Schema, RefusesOtherTypes) {
  EXPECT_EQ(message_of({{"nesterov", 1}}), "nesterov is 1 (an integer); allowed: true or false");
  EXPECT_EQ(message_of({{"rate", std::string("0.1")}}), "rate is \"0.1\" (a string); allowed: a number > 0");
  EXPECT_EQ(message_of({{"rate", true}}), "rate is true (a boolean); allowed: a number > 0");
  EXPECT_EQ(message_of({{"milestones", 3}}),
            "milestones is 3 (an integer); allowed: a list of integers >= 0");
}

TEST(Schema, RefusesValuesOutOfRange) {
  EXPECT_EQ(message_of({{"steps", 101}}), "steps is 101; allowed: an integer from 1 to 100");
  EXPECT_EQ(message_of({{"rate", 0.0}}), "rate is 0.0; allowed: a number > 0");
  EXPECT_EQ(message_of({{"milestones", std::vector<std::int64_t>{1, -1}}}),
            "milestones is [1, -1]; allowed: a list of integers >= 0");
}

TEST(Schema, RefusesNanAndInfinity) {
  EXPECT_EQ(message_of({{"decay", std::nan("")}}), "decay is nan; allowed: a number");
  EXPECT_EQ(message_of({{"decay", -kInfinity}}), "decay is -inf; allowed: a number");
  EXPECT_EQ(message_of({{"rate", kInfinity}}), "rate is inf; allowed: a number > 0");
}

TEST(Schema, SuggestsTheNearestValueAndKey) {
  EXPECT_EQ(message_of({{"reduction", std::string("maen")}}),
            "reduction is \"maen\"; allowed: \"sum\", \"mean\"; did you mean \"mean\"?");
  EXPECT_EQ(
      message_of({{"step", 1}}),
      "unknown key \"step\"; allowed: rate, steps, nesterov, reduction, milestones, decay; did you mean "
      "\"steps\"?");
}

TEST(Schema, ValidatesTheWholeLast) {
  EXPECT_EQ(message_of({{"decay", 0.2}}), "decay 0.2 exceeds rate 0.1");
  EXPECT_NO_THROW(Training::schema().read({{"decay", 0.2}, {"rate", 0.3}}));
}

TEST(Complete, GivesEveryFieldInOrderOfDeclaration) {
  const Settings settings = complete(Optimizer::schema().fields(), {{"steps", 3}});
  ASSERT_EQ(settings.size(), 2U);
  EXPECT_EQ(settings[0].first, "rate");
  EXPECT_EQ(to_text(settings[0].second), "0.1");
  EXPECT_EQ(settings[1].first, "steps");
  EXPECT_EQ(to_text(settings[1].second), "3");
}

TEST(Complete, SaysThatNoKeyIsAllowedWhereThereIsNone) {
  EXPECT_EQ(test::message_of([] {
              complete({}, {{"steps", 3}});
            }),
            "unknown key \"steps\"; allowed: no keys");
}

TEST(Schema, RefusesAFieldThatTheBaseHasToo) {
  const auto twice = [] {
    return Schema<Training>{{"rate", &Training::decay, "The same name again."}}.extends(Optimizer::schema());
  };
  EXPECT_THROW(twice(), Bug);
}

}  // namespace
}  // namespace fedarena
