// Whatever a plugin throws becomes an Error that names the plugin, the algorithm and the call.
#include "harness/loader/guarded_algorithm.hpp"

#include <cfenv>
#include <csignal>
#include <string>
#include <vector>

#include <ATen/Parallel.h>
#include <torch/csrc/autograd/anomaly_mode.h>

#include "harness/loader/plugin_host.hpp"
#include "tests/harness/loader/bad_plugins.hpp"
#include "tests/harness/sdk/open_shard.hpp"
#include "tests/matchers.hpp"

namespace fedarena {
namespace {

const PluginHost& host() {
  static const auto* const loaded = [] {
    auto* fresh = new PluginHost();
    fresh->load_folder(test::bad_plugins());
    return fresh;
  }();
  return *loaded;
}

class NoUplink final : public Uplink {
 public:
  std::int64_t size() const override { return 0; }
  Params mean(Key<Params>) const override { return {}; }
  Params mean(Key<Params>, Key<std::int64_t>) const override { return {}; }
  std::span<const Message> each() const override { return {}; }
};

// Makes every call of an algorithm once, in round 3 with client 7.
void run(const std::string& where, const std::string& what) {
  const auto algorithm = host().create("thrower", {{"where", where}, {"what", what}});
  const Model model({.input_shape = {1}, .outputs = 1, .layers = {Linear{1, 1}}}, torch::kFloat32);
  Params params = Params::zeros(model.layout(), torch::kFloat32);
  Message state;
  const NoCompute compute;
  Batch synthetic;
  Observations observed;
  std::vector<std::int64_t> choices;
  Server server{3,         5,        10,      params,
                state,     model,    compute, Streams(0, 3, kServer),
                synthetic, observed, choices, torch::ones({2, 1})};
  algorithm->start(server);
  const Message downlink = algorithm->broadcast(server);
  EXPECT_EQ(downlink[Key<std::int64_t>{"round"}], 3);
  NoExamples oracle;
  Client client{7, 3, 5, oracle, state, model, compute, Streams(0, 3, 7), observed};
  EXPECT_FALSE(algorithm->access_plan(client));
  EXPECT_EQ(algorithm->train(client, downlink)[Key<std::int64_t>{"client"}], 7);
  EXPECT_EQ(algorithm->uplink_entries(3).at(0).name, "client");
  EXPECT_TRUE(algorithm->centres(downlink).empty());
  algorithm->aggregate(server, NoUplink());
}

std::string failure(const std::string& where, const std::string& what) {
  return message_of([&] { run(where, what); });
}

struct Call {
  std::string where, named;
};

const std::vector<Call> kCalls{
    {"constructor", "its constructor"},    {"start", "start"},
    {"broadcast", "broadcast, round 3"},   {"access_plan", "access_plan, round 3, client 7"},
    {"train", "train, round 3, client 7"}, {"uplink_entries", "uplink_entries, round 3"},
    {"aggregate", "aggregate, round 3"}};

TEST(Guard, PassesCallsThrough) { EXPECT_NO_THROW(run("nowhere", "exception")); }

TEST(Guard, NamesPluginAlgorithmAndCall) {
  for (const Call& call : kCalls) {
    const std::string origin = "algorithm \"thrower\" of plugin good 1.2.3 failed in " + call.named + ": ";
    EXPECT_EQ(failure(call.where, "exception"), origin + "the exception's text and a second line");
    EXPECT_EQ(failure(call.where, "number"), origin + "something that is not a std::exception");
    EXPECT_EQ(failure(call.where, "torch"), origin + "the tensor's text");
    EXPECT_THAT(failure(call.where, "bug"), StartsWith(origin));
    EXPECT_THAT(failure(call.where, "bug"), HasSubstr("check failed: 1 == 2 (1 vs 2)"));
  }
}

// A refusal of settings is one; so a failure must not pass for it.
TEST(Guard, TellsAFailureFromAnError) {
  for (const Call& call : kCalls) {
    EXPECT_THROW(run(call.where, "exception"), PluginFailure) << call.where;
    try {
      run(call.where, "error");
    } catch (const Error& error) {
      EXPECT_EQ(dynamic_cast<const PluginFailure*>(&error), nullptr) << call.where;
    }
  }
}

TEST(Guard, KeepsThePartsOfAnError) {
  for (const Call& call : kCalls) {
    EXPECT_EQ(failure(call.where, "error"), "wrong number (algorithm \"thrower\" of plugin good 1.2.3, in " +
                                                call.named + "); allowed: a right one\n  Count again.");
  }
}

TEST(Guard, NamesPlausibleMistakesWhereTheyAreMade) {
  for (const std::string where : {"start", "aggregate"}) {
    const std::string place =
        "(algorithm \"thrower\" of plugin good 1.2.3, in " + where + (where == "start" ? ")" : ", round 3)");
    EXPECT_THAT(failure(where, "empty"), AllOf(StartsWith("server.params is empty"), HasSubstr(place)));
    EXPECT_THAT(failure(where, "double"),
                AllOf(StartsWith("server.params is of type Double"), HasSubstr(place)));
    EXPECT_THAT(failure(where, "layout"),
                AllOf(StartsWith("server.params has another layout (7 parameters)"), HasSubstr(place)));
    EXPECT_THAT(failure(where, "sparse"),
                AllOf(StartsWith("server.synthetic is a tensor without numbers"), HasSubstr(place)));
  }
  EXPECT_THAT(failure("train", "empty"),
              StartsWith("\"update\" in the client's message is empty (algorithm"));
  EXPECT_THAT(failure("access_plan", "negative"),
              StartsWith("the plan of accesses has the number -1; allowed: numbers from 0 (algorithm"));
  EXPECT_THAT(failure("access_plan", "sizes"),
              StartsWith("the plan of accesses has 1048577 sizes of batches; allowed: at most 1048576"));
  EXPECT_THAT(failure("centres", "one"),
              AllOf(StartsWith("1 centre is given, and number_of_centres() is 0 (algorithm"),
                    HasSubstr("; allowed: as many in every round as it says")));
  EXPECT_THAT(failure("train", "name"), StartsWith("the client's message has a name of 256 characters"));
  EXPECT_THAT(failure("train", "huge"),
              StartsWith("the client's message takes 4194304.0 GiB; allowed: at most "));
  EXPECT_THAT(failure("train", "undefined"), StartsWith("\"image\" in the client's message is an undefined"));
  EXPECT_THAT(failure("train", "state"), StartsWith("\"kept\" in the client's state is empty"));
}

// What several calls, clients or cells share.
TEST(Guard, RefusesChangesOfWhatIsThereToBeRead) {
  const auto changed = [](const std::string& what) {
    return StartsWith(what + " was changed, which is there to be read (algorithm \"thrower\" of plugin good");
  };
  EXPECT_THAT(failure("start", "proxy"), changed("server.proxy"));
  EXPECT_THAT(failure("broadcast", "state"), changed("\"calls\" in server.state"));
  EXPECT_THAT(failure("broadcast", "params"), changed("server.params"));
  EXPECT_THAT(failure("train", "downlink"), changed("\"sent\" in the message from the server"));
}

// Numbers that hang on who trains at the same time.
TEST(Guard, RefusesDrawsFromWhatAllClientsShare) {
  torch::manual_seed(1);
  for (const Call& call : kCalls) {
    for (const std::string what : {"seed", "draw"}) {
      EXPECT_THAT(failure(call.where, what),
                  AllOf(StartsWith("LibTorch's own generator of random numbers was used"),
                        HasSubstr("good 1.2.3, in " + call.named + ")"), HasSubstr("client.streams")))
          << what;
    }
    torch::manual_seed(1);
  }
}

// So that nobody's numbers hang on whose plugin ran before.
TEST(Guard, RefusesSettingsOfTorchThatAllShareAndPutsThemBack) {
  for (const Call& call : kCalls) {
    for (const std::string what : {"type", "anomalies", "threads", "mkldnn", "observer"}) {
      const int threads = at::get_num_threads();
      EXPECT_THAT(failure(call.where, what),
                  AllOf(StartsWith("a setting of LibTorch was changed that all clients and cells share"),
                        HasSubstr("good 1.2.3, in " + call.named + ")")))
          << what;
      EXPECT_EQ(torch::get_default_dtype(), caffe2::TypeMeta::Make<float>());
      EXPECT_FALSE(torch::autograd::AnomalyMode::is_enabled());
      EXPECT_EQ(at::get_num_threads(), threads);
    }
    run(call.where, "no gradients");
    EXPECT_TRUE(torch::GradMode::is_enabled()) << call.named;
  }
}

TEST(Guard, RefusesWhatCannotBeSent) {
  EXPECT_THAT(failure("train", "half"), StartsWith("\"image\" in the client's message is of type Half"));
  EXPECT_THAT(failure("train", "sparse"), HasSubstr("allowed: a dense one"));
  EXPECT_THAT(failure("train", "twice"),
              StartsWith("the name \"client\" stands twice in the client's message"));
}

TEST(Guard, KeepsRoundingToItself) {
  std::vector<std::string> places{"destructor"};
  for (const Call& call : kCalls) places.push_back(call.where);
  for (const std::string& place : places) {
    run(place, "rounding");
    EXPECT_EQ(std::fegetround(), FE_TONEAREST) << place;
    std::fesetround(FE_TONEAREST);
  }
}

TEST(GuardDeathTest, TakesExitForAFailure) {
  EXPECT_EXIT(run("train", "exit"), testing::ExitedWithCode(2),
              "algorithm \"thrower\" of plugin good 1.2.3, in train, round 3, client 7, ended the program\n"
              "  Throw an exception .*All complete rounds of a run are kept: --resume continues it");
  EXPECT_EXIT(run("train", "quick_exit"), testing::ExitedWithCode(2),
              "algorithm \"thrower\" of plugin good 1.2.3, in train, round 3, client 7, ended the program");
  EXPECT_EXIT(std::exit(0), testing::ExitedWithCode(0), "");
}

TEST(GuardDeathTest, NamesWhoCrashed) {
  EXPECT_EXIT(run("train", "crash"), testing::KilledBySignal(SIGSEGV),
              "algorithm \"thrower\" of plugin good 1.2.3, in train, round 3, client 7, crashed the program\n"
              "  All complete rounds of a run are kept");
  EXPECT_EXIT(
      run("train", "recursion"), testing::KilledBySignal(SIGSEGV),
      "algorithm \"thrower\" of plugin good 1.2.3, in train, round 3, client 7, crashed the program\n");
  EXPECT_EXIT(run("train", "thread"), testing::KilledBySignal(SIGABRT),
              "in train, round 3, client 7, was at work when another thread crashed the program\n");
}

TEST(Guard, LetsInterruptionsPass) {
  for (const Call& call : kCalls) EXPECT_THROW(run(call.where, "interrupted"), Interrupted) << call.where;
}

}  // namespace
}  // namespace fedarena
