// A plugin that works, with an algorithm that throws where and what it is told. Loading it leaves a trace in
// the environment, or throws as the environment tells it.
#include <cstdlib>
#include <stdexcept>

#include <fedarena/algorithm.hpp>

namespace {

using namespace fedarena;

void throw_if_told(const char* variable, const char* text) {
  if (std::getenv(variable) != nullptr) throw std::runtime_error(text);
}

void let_nothing_out() noexcept { throw_if_told("FEDARENA_TEST_LOADING_ENDS", "must not get out"); }

const bool initialised = [] {
  ::setenv("FEDARENA_TEST_INITIALISED", "1", 1);
  throw_if_told("FEDARENA_TEST_LOADING_THROWS", "no such table");
  let_nothing_out();
  return true;
}();

struct Config {
  std::string where = "nowhere";
  std::string what = "exception";

  static Schema<Config> schema() {
    return {{"where", &Config::where, "the call that throws"}, {"what", &Config::what, "what it throws"}};
  }
};

class Thrower final : public Algorithm {
 public:
  using Config = ::Config;
  static Schema<Config> schema() { return Config::schema(); }
  explicit Thrower(Config config) : config_(std::move(config)) { pass("constructor"); }

  void start(Server&) const override { pass("start"); }
  Message broadcast(const Server& server) const override {
    pass("broadcast");
    return {{Key<std::int64_t>{"round"}, server.round}};
  }
  Message train(Client& client, const Message&) const override {
    pass("train");
    return {{Key<std::int64_t>{"client"}, client.id}};
  }
  void aggregate(Server&, const Uplink&) const override { pass("aggregate"); }

 private:
  void pass(const std::string& where) const {
    if (config_.where != where) return;
    if (config_.what == "exception") throw std::runtime_error("the exception's text\nand a second line");
    if (config_.what == "number") throw 42;
    if (config_.what == "bug") FEDARENA_CHECK(1, ==, 2);
    if (config_.what == "torch") TORCH_CHECK(false, "the tensor's text");
    if (config_.what == "error") {
      throw Error(Complaint{.found = "wrong number", .allowed = "a right one", .remedy = "Count again."});
    }
    if (config_.what == "interrupted") throw Interrupted();
  }

  Config config_;
};

}  // namespace

FEDARENA_PLUGIN("good", "1.2.3") {
  registry.add<Thrower>("thrower",
                        {.summary = "Throws.", .citation = "none", .downlink = "round", .uplink = "client"});
  registry.add<Thrower>("second",
                        {.summary = "Throws.", .citation = "none", .downlink = "round", .uplink = "client"});
}
