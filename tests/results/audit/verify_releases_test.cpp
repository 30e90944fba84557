// What a ledger says was released, and under which noise, against the experiment of its run.
#include "tests/matchers.hpp"
#include "tests/results/audit/forged_run.hpp"

namespace fedarena::results {
namespace {

TEST_F(ForgedRun, IsNoticedByTheMessagesOfItsClients) {
  const auto with = [&](const Settings& settings, const RoundAccesses& sent) {
    Settings all = settings;
    all.insert({{"mechanism", "\"gaussian\""}, {"by_tensor", "false"}});
    return differences(toml("local", all), ledger_of(Unit::kLocal, [&](auto, auto) { return sent; }));
  };
  const auto differ = [](const std::string& what) {
    return differs("message of client 0 and 2 more is " + what);
  };
  const Settings laplace = {{"mechanism", "\"laplace\""}, {"clip_norm", "3.0"}};
  Settings metric = laplace, relative = laplace;
  metric["clip_norm"] = "0.0";
  relative["mechanism"] = "\"laplace-relative\"";
  EXPECT_THAT(with({}, accesses(Gaussian{2, Adjacency::kReplaceOne}, 1)), IsEmpty());
  EXPECT_THAT(with({}, accesses(Gaussian{3, Adjacency::kReplaceOne}, 1)),
              differ("Gaussian (noise multiplier 3, replace-one); recomputed: Gaussian (noise multiplier 2, "
                     "replace-one)"));
  EXPECT_THAT(
      with({}, accesses(Gaussian{2}, 1)),
      differ("Gaussian (noise multiplier 2); recomputed: Gaussian (noise multiplier 2, replace-one)"));
  EXPECT_THAT(with({}, {}), ElementsAre(HasSubstr("messages in a round of client 0 and 2 more is 0")));
  EXPECT_THAT(with(laplace, accesses(Laplace{1000, 1}, 1)), IsEmpty());
  EXPECT_THAT(with(laplace, accesses(Laplace{500, 1}, 2)),
              ElementsAre(HasSubstr("messages in a round of client 0 and 2 more is 2")));
  EXPECT_THAT(with(laplace, accesses(Laplace{1, 1}, 1)),
              ElementsAre(of_all("numbers of a message", "1", "1000")));
  EXPECT_THAT(with(laplace, accesses(Laplace{1000, 0.5}, 1)),
              differ("Laplace in R^1 (epsilon 0.5); recomputed: Laplace in R^1 (epsilon 1)"));
  EXPECT_THAT(with(metric, accesses(MetricLaplace{1000, 2}, 1)), IsEmpty());
  EXPECT_THAT(with(metric, accesses(MetricLaplace{1000, 20}, 1)),
              differ("metric Laplace in R^1 (scale 20); recomputed: metric Laplace in R^1 (scale 2)"));
  const Event exact = ExactAccess{"messages, under noise scaled by their own norm"};
  EXPECT_THAT(with(relative, RoundAccesses({{exact, 1}, {Nominal{"n/nu", 5.5}, 1}})), IsEmpty());
  EXPECT_THAT(
      with(relative, accesses(MetricLaplace{1000, 2}, 1)),
      differ("metric Laplace in R^1 (scale 2); recomputed: exact access (messages, under noise scaled by "
             "their own norm)"));
}

// A message that is noised tensor by tensor is as many releases as the model has tensors: who counts one
// claims an epsilon that is too small.
TEST_F(ForgedRun, IsNoticedByTheTensorsOfItsMessages) {
  const auto of = [&](const std::string& algorithm, const std::string& model, const RoundAccesses& sent) {
    const Settings settings = {{"name", "\"" + algorithm + "\""},
                               {"mechanism", "\"laplace\""},
                               {"clip_norm", "3.0"},
                               {"by_tensor", "true"}};
    return differences(toml("local", settings) + "\n[model]\n" + model,
                       ledger_of(Unit::kLocal, [&](auto, auto) { return sent; }));
  };
  const auto releases = [](std::int64_t count, std::int64_t vectors = 1) {
    const Event first = Laplace{1000 * vectors - (count - 1), 1};
    return count == 1 ? accesses(first, 1) : RoundAccesses({{first, 1}, {Laplace{1, 1}, count - 1}});
  };
  const auto differ = [](std::int64_t count, const std::string& due) {
    return ElementsAre(of_all("messages in a round", std::to_string(count), due));
  };
  struct Known {
    std::string model;
    std::int64_t tensors = 0;
  };
  for (const Known& known : {Known{"name = \"linear\"\nbias = true\n", 2},
                             {"name = \"logistic\"\n", 2},
                             {"name = \"mlp\"\nhidden = [200, 200]\n", 6},
                             {"name = \"mlp\"\nhidden = []\n", 2},
                             {"name = \"convnet\"\ndepth = 3\nnorm = \"instance\"\n", 14},
                             {"name = \"convnet\"\ndepth = 3\nnorm = \"none\"\n", 8},
                             {"name = \"dlg-lenet\"\n", 5},
                             {"name = \"niid-cnn\"\n", 10}}) {
    const std::string due = std::to_string(known.tensors);
    EXPECT_THAT(of("fedavg", known.model, releases(known.tensors)), IsEmpty()) << known.model;
    for (const std::int64_t count : {known.tensors - 1, known.tensors + 1}) {
      EXPECT_THAT(of("fedavg", known.model, releases(count)), differ(count, due)) << known.model;
    }
    EXPECT_THAT(of("fedavg", known.model, releases(1)), differ(1, due)) << known.model;
  }
  const std::string linear = "name = \"linear\"\nbias = true\n";
  EXPECT_THAT(of("fedavg", "name = \"linear\"\nbias = false\n", releases(1)), IsEmpty());
  // Two vectors.
  EXPECT_THAT(of("scaffold", linear, releases(4, 2)), IsEmpty());
  EXPECT_THAT(of("scaffold", linear, releases(2, 2)), differ(2, "4"));
  // Nobody here knows how many vectors another algorithm sends, or which tensors another model has.
  EXPECT_THAT(of("theirs", linear, releases(6)), IsEmpty());
  EXPECT_THAT(of("theirs", linear, releases(1)), differ(1, "at least 2"));
  EXPECT_THAT(of("fedavg", "name = \"theirs\"\n", releases(1)), IsEmpty());
}

// Clients of pppfl make synthetic examples first, and send nothing.
TEST_F(ForgedRun, SendsNothingInARoundThatTrainsNothing) {
  const auto with = [&](const std::string& algorithm, std::int64_t silent) {
    const Ledger ledger = ledger_of(Unit::kLocal, [&](std::int64_t round, auto) {
      return round == silent ? RoundAccesses() : accesses(Gaussian{2, Adjacency::kReplaceOne}, 1);
    });
    const Settings settings = {{"name", algorithm}, {"mechanism", "\"gaussian\""}, {"by_tensor", "false"}};
    return differences(toml("local", settings), ledger);
  };
  const std::string none = of_all("messages in a round", "0", "1");
  EXPECT_THAT(with("\"pppfl\"", 1), IsEmpty());
  EXPECT_THAT(with("\"theirs\"", 2), IsEmpty());
  EXPECT_THAT(with("\"pppfl\"", 2), ElementsAre(none));
  EXPECT_THAT(with("\"fedavg\"", 1), ElementsAre(none));
}

TEST_F(ForgedRun, IsNoticedByTheReleaseOfItsLabels) {
  const auto with = [&](const Settings& settings, const std::vector<Access>& released,
                        const RoundAccesses& of_a_client = {}) {
    Ledger ledger = ledger_of(Unit::kLabel, [&](auto, auto) { return of_a_client; });
    if (!released.empty()) ledger.record_population(1, RoundAccesses(released));
    Settings all = settings;
    all.insert({{"epsilon", "1.5"}, {"stages", "1"}});
    return differences(toml("label", all), ledger);
  };
  const Event release = RandomizedResponse{10, 1.5};
  EXPECT_THAT(with({}, {{release, 1}}), IsEmpty());
  EXPECT_THAT(with({}, {{release, 1}}, accesses(Nominal{"label epsilon of synthetic images", 1, true}, 2)),
              IsEmpty());
  EXPECT_THAT(with({{"stages", "2"}}, {{RandomizedResponse{2, 1.5}, 1}}), IsEmpty());
  EXPECT_THAT(with({{"stages", "2"}}, {{release, 1}}),
              differs("release of labels is 10-ary randomised response (epsilon 1.5); recomputed: 2-ary "
                      "randomised response (epsilon 1.5)"));
  EXPECT_THAT(with({}, {{RandomizedResponse{10, 0.5}, 1}}), ElementsAre(HasSubstr("release of labels is")));
  EXPECT_THAT(with({}, {}), ElementsAre(HasSubstr("releases of labels is 0; recomputed: 1")));
  EXPECT_THAT(with({}, {{release, 2}}), ElementsAre(HasSubstr("releases of labels is 2; recomputed: 1")));
  EXPECT_THAT(with({{"noise_source", "\"system\""}}, {{release, 2}}), IsEmpty());
  EXPECT_THAT(with({}, {{release, 1}}, accesses(gaussian(1), 1)),
              ElementsAre(HasSubstr("access of client 0 and 2 more is")));
  EXPECT_THAT(with({}, {{release, 1}, {DeclaredPublic{"label counts"}, 1}}),
              ElementsAre(HasSubstr("public label counts of all clients is declared")));
}

// Nobody can recompute how far the centres of a round lay apart: not less than nothing, and the same for all.
TEST_F(ForgedRun, IsNoticedByMessagesAroundCentres) {
  const auto with = [&](const std::string& assign, const std::function<double(std::int64_t client)>& noise) {
    const Ledger ledger = ledger_of(Unit::kLocal, [&](std::int64_t round, std::int64_t client) {
      const double spread = 1 / static_cast<double>(round);
      return accesses(Gaussian{noise(client) / (1 + spread), Adjacency::kReplaceOne}, 1);
    });
    return differences(
        toml("local",
             {{"mechanism", "\"gaussian\""}, {"name", "\"ifca\""}, {"assign", assign}, {"hypotheses", "2"}}),
        ledger);
  };
  EXPECT_THAT(with("\"k-means\"", [](std::int64_t) { return 2; }), IsEmpty());
  EXPECT_THAT(with("\"clients\"", [](std::int64_t) { return 2; }),
              ElementsAre(HasSubstr("message of client 0 and 11 more is")));
  EXPECT_THAT(with("\"k-means\"", [](std::int64_t) { return 5; }),
              ElementsAre(HasSubstr("message of client 0 and 11 more is Gaussian (noise multiplier 2.5")));
  EXPECT_THAT(with("\"k-means\"", [](std::int64_t client) { return client == 1 ? 1.5 : 2; }),
              differs("message around centres of client 1 and 3 more is Gaussian (noise multiplier 0.75, "
                      "replace-one); recomputed: Gaussian (noise multiplier 1, replace-one) as of client 0"));
}

// Whose noise multipliers differ, each by its own.
TEST_F(ForgedRun, MayHaveCentresUnderTheNoiseOfEachClient) {
  const auto with = [&](double of_the_second) {
    const Ledger ledger = ledger_of(Unit::kLocal, [&](std::int64_t round, std::int64_t client) {
      const double spread = 1 / static_cast<double>(round);
      return accesses(Gaussian{(client == 1 ? of_the_second : 2) / (1 + spread), Adjacency::kReplaceOne}, 1);
    });
    return differences(toml("local", {{"mechanism", "\"gaussian\""},
                                      {"name", "\"ifca\""},
                                      {"assign", "\"k-means\""},
                                      {"hypotheses", "2"},
                                      {"noise_multiplier", "[2.0, 20.0]"}}),
                       ledger);
  };
  EXPECT_THAT(with(20), IsEmpty());
  EXPECT_THAT(with(30), Contains(HasSubstr("message of client 1")));
}

TEST_F(ForgedRun, IsNoticedByTheNoiseOfEachClient) {
  const auto with = [&](const std::string& list) {
    const auto noised = [](std::int64_t client) {
      std::vector<Access> all = honest(client).list();
      std::get<SampledGaussian>(all[0].event).noise_multipliers = {client == 1 ? 3.5 : 2};
      return RoundAccesses(all);
    };
    return differences(toml("record", {{"noise_multiplier", list}}), ledger_of_records(noised));
  };
  EXPECT_THAT(with("[2.0, 3.5]"), IsEmpty());
  EXPECT_THAT(with("[2.0, 3.5, 2.0, 9.0]"), IsEmpty());
  EXPECT_THAT(with("[2.0, 3.6]"), differs("noise multiplier of client 1 is 3.5; recomputed: 3.6"));
  EXPECT_THAT(with("[2.5, 3.5]"), differs("noise multiplier of client 0 and 1 more is 2; recomputed: 2.5"));
  EXPECT_THROW(with("[2.0, x]"), Error);
  EXPECT_THROW(with("[]"), Error);
}

TEST_F(ForgedRun, WhereAnotherKindOfAccessStandsForTheNoise) {
  const auto with = [&](const Event& event, const std::string& public_classes) {
    const auto train = [&](std::int64_t client) {
      std::vector<Access> list = honest(client).list();
      list.push_back({event, 1});
      return RoundAccesses(list);
    };
    return differences(toml("record", {{"public_classes", public_classes}}), ledger_of_records(train));
  };
  EXPECT_THAT(with(DeclaredPublic{"classes"}, "true"), IsEmpty());
  EXPECT_THAT(with(DeclaredPublic{"classes"}, "false"),
              ElementsAre(of_all("public classes", "declared", "not declared")));
  EXPECT_THAT(with(ExactAccess{"classes"}, "false"), IsEmpty());
  EXPECT_THAT(with(ExactAccess{"classes"}, "true"),
              ElementsAre(of_all("public classes", "not declared", "declared")));
  EXPECT_THAT(with(DeclaredPublic{"label counts"}, "true"),
              ElementsAre(HasSubstr("public label counts of ")));
  EXPECT_THAT(with(Laplace{1, 0.1}, "false"), ElementsAre(HasSubstr("recomputed: none of that kind")));
}

// Tests that are dealt by class tell what each client holds.
TEST_F(ForgedRun, WhereTestsThatTellLabelCountsAreNotCharged) {
  const auto with = [&](const std::string& data, const std::vector<Access>& told,
                        const std::string& declared = "false") {
    Ledger ledger = ledger_of_records(honest);
    if (!told.empty()) ledger.record_population(1, RoundAccesses(told));
    return differences(toml("record", {{"public_label_counts", declared}}) +
                           "\n[evaluation]\nper_client = true\n\n[data]\n" + data,
                       ledger);
  };
  const Access exact{ExactAccess{"label counts"}, 1}, open{DeclaredPublic{"label counts"}, 1};
  test_clients(true);
  EXPECT_THAT(with("name = \"mnist\"\n", {exact}), IsEmpty());
  EXPECT_THAT(
      with("name = \"mnist\"\n", {}),
      differs("exact access (label counts) of all clients is missing; recomputed: by the tests of clients"));
  EXPECT_THAT(with("name = \"mnist\"\n", {open}, "true"), IsEmpty());
  EXPECT_THAT(
      with("name = \"mnist\"\n", {}, "true"),
      differs(
          "declared public (label counts) of all clients is missing; recomputed: by the tests of clients"));
  // Perhaps on the examples of their own users.
  EXPECT_THAT(with("name = \"femnist\"\n", {}), IsEmpty());
  EXPECT_THAT(with("name = \"csv\"\nuser = \"patient\"\nstandardise = \"none\"\n", {}),
              Not(Contains(HasSubstr("label counts"))));
  test_clients(false);  // a regression has no classes
  EXPECT_THAT(with("name = \"mnist\"\n", {}), IsEmpty());
}

TEST_F(ForgedRun, WithoutWhatItsAlgorithmReadsExactly) {
  const auto with = [&](const std::string& policy, const std::vector<Access>& read,
                        const std::string& public_classes = "false") {
    const std::string experiment = toml(policy, {{"name", "\"feddm\""},
                                                 {"public_classes", public_classes},
                                                 {"local_epochs",
                                                  "2\nclasses = \"held\"\nimage_init = \"noise\"\n"
                                                  "class_means = \"examples\""}});
    const auto train = [&](std::int64_t client) {
      std::vector<Access> list = honest(client).list();
      list.insert(list.end(), read.begin(), read.end());
      return RoundAccesses(list);
    };
    if (policy == "record") return differences(experiment, ledger_of_records(train));
    std::vector<Access> all{{gaussian(1), 1}};
    all.insert(all.end(), read.begin(), read.end());
    return differences(experiment, ledger_of_clients(RoundAccesses(all)));
  };
  const Access classes{ExactAccess{"classes"}, 1}, examples{ExactAccess{"examples"}, 1};
  const std::string missing = " of client 0 and 2 more is missing; recomputed: in rounds 1 to 4";
  EXPECT_THAT(with("record", {classes, examples}), IsEmpty());
  EXPECT_THAT(with("record", {classes}), differs("exact access (examples)" + missing));
  EXPECT_THAT(with("record", {examples}), differs("exact access (classes)" + missing));
  EXPECT_THAT(with("record", {{DeclaredPublic{"classes"}, 1}, examples}, "true"), IsEmpty());
  EXPECT_THAT(with("record", {examples}, "true"), differs("declared public (classes)" + missing));
  EXPECT_THAT(with("client", {{ExactAccess{"messages"}, 1}}), IsEmpty());
  EXPECT_THAT(with("client", {}),
              differs("exact access (messages) is missing; recomputed: in rounds 1 to 4"));
}

TEST_F(ForgedRun, IsNoticedByWhatItTakesAsPublic) {
  const std::string proxy = "the server's proxy data", features = "means and deviations of the features";
  const std::string has_proxy = "\n[proxy]\nname = \"mnist\"\n";
  const std::string tests_clients = "\n[evaluation]\nper_client = true\n";
  const auto scaled = [](const std::string& data, const std::string& standardise) {
    return fmt::format("\n[data]\nname = \"{}\"\nstandardise = {}\ntask = \"regression\"\nfeatures = \"x\"\n",
                       data, standardise);
  };
  const auto of_records = [&](const std::string& more, const std::vector<std::string>& declared) {
    Ledger ledger = ledger_of_records(honest);
    ledger.declare_public(declared);
    return differences(toml("record") + more, ledger);
  };
  EXPECT_THAT(of_records(has_proxy + scaled("csv", "\"features\""), {proxy, features}), IsEmpty());
  EXPECT_THAT(of_records(has_proxy + scaled("csv", "\"features\""), {features}),
              differs("public_data is \"means and deviations of the features\"; recomputed: \"the server's "
                      "proxy data, means and deviations of the features\""));
  EXPECT_THAT(of_records(scaled("csv", "\"all\""), {features + " and the target"}), IsEmpty());
  const std::string digests = "who holds which examples (dealt in the order of their digests)";
  EXPECT_THAT(of_records(scaled("image-folder", "true"), {"the classes", features, digests}), IsEmpty());
  EXPECT_THAT(of_records(scaled("image-folder", "false"), {digests}),
              differs("public_data is \"" + digests + "\"; recomputed: \"the classes, " + digests + "\""));
  const std::string counted = "\n[data]\nname = \"csv\"\ntask = \"auto\"\ncategorical = \"city\"\n";
  EXPECT_THAT(of_records(counted, {"which columns hold numbers", "the categories", "the classes"}),
              IsEmpty());
  for (const std::string& constant : {scaled("csv", "\"none\""), scaled("femnist", "true"), tests_clients,
                                      std::string("\n[proxy]\nname = \"none\"\n")})
    EXPECT_THAT(of_records(constant, {}), IsEmpty()) << constant;
  const std::string begun = "\n[model]\nname = \"mlp\"\nweights = \"w.npz\"\n";
  EXPECT_THAT(of_records(begun, {"the initial weights"}), IsEmpty());
  EXPECT_THAT(of_records(begun, {}),
              differs("public_data is \"nothing\"; recomputed: \"the initial weights\""));
  const std::string validates = "\n[evaluation]\nvalidation_fraction = 0.1\n";
  EXPECT_THAT(of_records(validates, {"the validation examples"}), IsEmpty());
  EXPECT_THAT(of_records(validates, {}),
              differs("public_data is \"nothing\"; recomputed: \"the validation examples\""));
  EXPECT_THAT(of_records("\n[evaluation]\nvalidation_fraction = 0.0\nheld_out_clients = 0.0\n", {}),
              IsEmpty());
  Ledger messages = ledger_of(Unit::kLocal, [](auto, auto) {
    return accesses(Gaussian{2, Adjacency::kReplaceOne}, 1);
  });
  const std::string tested =
      toml("local", {{"mechanism", "\"gaussian\""}, {"by_tensor", "false"}}) + tests_clients;
  EXPECT_THAT(differences(tested, messages),
              differs("public_data is \"nothing\"; recomputed: \"the clients' own test examples\""));
  const auto by_user = [&](const std::string& data) {
    return toml("local", {{"mechanism", "\"gaussian\""}, {"by_tensor", "false"}}) +
           "\n[partition]\nkind = \"by-user\"\n\n[data]\nname = \"" + data + "\"\n";
  };
  EXPECT_THAT(differences(by_user("linear-mixture"), messages),
              ElementsAre(HasSubstr("recomputed: \"the clients' own test examples\"")));
  EXPECT_THAT(differences(by_user("femnist"), messages), IsEmpty()) << "which files may split by user";
  messages.declare_public({"the clients' own test examples"});
  EXPECT_THAT(differences(tested, messages), IsEmpty());
  EXPECT_THAT(differences(by_user("linear-mixture"), messages), IsEmpty());
  EXPECT_THAT(differences(by_user("femnist"), messages), IsEmpty());
}

TEST_F(ForgedRun, UnderThePolicyOfClients) {
  const auto fixed = [](double rate, std::vector<double> noise_multipliers) {
    return SampledGaussian{Sampling::kWithoutReplacement, rate, std::move(noise_multipliers),
                           Adjacency::kReplaceOne};
  };
  const Settings settings = {{"sampling", "\"without-replacement\""}};
  const auto with = [&](const Settings& more, const RoundAccesses& population,
                        const RoundAccesses& as_if = {}) {
    Settings all = settings;
    all.insert(more.begin(), more.end());
    return differences(toml("client", all), ledger_of_clients(population, as_if));
  };
  EXPECT_THAT(with({}, accesses(fixed(1, {2}), 1)), IsEmpty());
  EXPECT_THAT(with({}, accesses(fixed(0.5, {2}), 1)), differs("sampling rate is 0.5; recomputed: 1"));
  EXPECT_THAT(with({}, accesses(fixed(1, {3}), 1)), differs("noise multiplier is 3; recomputed: 2"));
  EXPECT_THAT(with({}, accesses(fixed(1, {2}), 2)), differs("accesses in a round is 2; recomputed: 1"));
  EXPECT_THAT(with({}, {}), differs("accesses in a round is 0; recomputed: 1"));
  EXPECT_THAT(with({}, accesses(ExactAccess{"messages"}, 3)), IsEmpty());
  // As feddf has it: messages one by one, then their mean; as ifca has it, with nothing to rescale.
  const Access read{ExactAccess{"messages"}, 1};
  EXPECT_THAT(with({}, RoundAccesses({read, {fixed(1, {2}), 1}})), IsEmpty());
  EXPECT_THAT(with({}, RoundAccesses({{fixed(1, {2}), 1}, read})), IsEmpty());
  EXPECT_THAT(with({}, RoundAccesses({read, {fixed(1, {2}), 2}})),
              differs("accesses in a round is 2; recomputed: 1"));
  EXPECT_THAT(with({}, RoundAccesses({read, {fixed(1, {3}), 1}})),
              differs("noise multiplier is 3; recomputed: 2"));

  // The count of adaptive clipping: 3 is 5 of the sum and 3.75 of the bit, whose norm is a half.
  EXPECT_THAT(with({{"adaptive_clipping", "true"}, {"noise_multiplier", "3.0"}, {"count_noise", "1.875"}},
                   accesses(fixed(1, {5, 3.75}), 1)),
              IsEmpty());
  // Three clients stand for 30 of 300: a tenth of the noise, charged as all of it at a rate of 0.1.
  const Settings larger = {{"as_if_cohort", "30"}, {"as_if_population", "300"}};
  EXPECT_THAT(with(larger, accesses(fixed(1, {0.2}), 1), accesses(fixed(0.1, {2}), 1)), IsEmpty());
  EXPECT_THAT(with(larger, accesses(fixed(1, {0.2}), 1), accesses(fixed(0.01, {2}), 1)),
              differs("sampling rate as if is 0.01; recomputed: 0.1"));
  EXPECT_THAT(with(larger, accesses(fixed(1, {0.2}), 1)),
              differs("accesses as if is none; recomputed: some"));
  EXPECT_THAT(with(larger, RoundAccesses({read, {fixed(1, {0.2}), 1}}), accesses(fixed(0.1, {2}), 1)),
              IsEmpty());
  EXPECT_THAT(with(larger, accesses(ExactAccess{"messages"}, 1), accesses(fixed(0.1, {2}), 1)),
              differs("answers as if is 4; recomputed: 0"));
}

TEST_F(ForgedRun, UnderThePolicyOfClientsBeforeTheFirstRound) {
  Ledger ledger = ledger_of(Unit::kClient, {}, {.rounds = 0});
  const Settings larger = {{"as_if_cohort", "30"}, {"as_if_population", "300"}};
  for (const Settings& settings : {Settings(), Settings({{"noise_source", "\"system\""}}), larger})
    EXPECT_THAT(differences_before_a_round(toml("client", settings), ledger), IsEmpty());
  ledger.record(1, 0, {});
  EXPECT_THAT(differences_before_a_round(toml("client", {{"noise_source", "\"system\""}}), ledger),
              Contains("ledger.json: accesses is none; recomputed: some"));
}

// A rule stopped the run after its second round. Whatever these did, each of the others may have had a sum.
TEST_F(ForgedRun, UnderThePolicyOfClientsWhereRoundsWereLeftOut) {
  const auto with = [&](const std::string& algorithm, const RoundAccesses& left_out) {
    const auto answers = [&](std::int64_t round) { return round > 2 ? left_out : RoundAccesses(); };
    return differences(toml("client", {{"name", algorithm}}), ledger_of_clients(answers, {}, 2));
  };
  EXPECT_THAT(with("\"theirs\"", accesses(gaussian(1), 1)), IsEmpty());
  EXPECT_THAT(with("\"theirs\"", {}), differs("accesses in a round is 0; recomputed: 1"));
}

// Not every server looks at what every round brings.
TEST_F(ForgedRun, UnderThePolicyOfClientsWhereARoundIsSilent) {
  const auto with = [&](const std::string& algorithm, std::int64_t silent, bool as_if,
                        const RoundAccesses& asked = {}) {
    const auto answers = [&](const Event& event) {
      return [=](std::int64_t round) { return round == silent ? asked : accesses(event, 1); };
    };
    const Ledger ledger = ledger_of_clients(answers(gaussian(1, as_if ? 0.2 : 2)),
                                            as_if ? Answers(answers(gaussian(0.1))) : Answers());
    Settings settings = {{"name", algorithm}};
    if (as_if) settings.insert({{"as_if_cohort", "30"}, {"as_if_population", "300"}});
    return differences(toml("client", settings), ledger);
  };
  for (const bool as_if : {false, true}) {
    EXPECT_THAT(with("\"pppfl\"", 1, as_if), IsEmpty());
    EXPECT_THAT(with("\"theirs\"", 3, as_if), IsEmpty());
    const RoundAccesses planned({}, std::vector<Access>());
    EXPECT_THAT(with("\"pppfl\"", 1, as_if, planned), IsEmpty());
    EXPECT_THAT(with("\"theirs\"", 3, as_if, planned), IsEmpty());
    EXPECT_THAT(with("\"pppfl\"", 2, as_if, planned), Contains(HasSubstr("plan of a round")));
    EXPECT_THAT(with("\"fedavg\"", 1, as_if, planned), Contains(HasSubstr("plan of a round")));
    EXPECT_THAT(with("\"pppfl\"", 2, as_if), differs("accesses in a round is 0; recomputed: 1"));
    EXPECT_THAT(with("\"fedavg\"", 1, as_if), differs("accesses in a round is 0; recomputed: 1"));
  }
}

}  // namespace
}  // namespace fedarena::results
