// A plugin that works, with an algorithm that throws where and what it is told. Loading it leaves a trace in
// the environment, or throws as the environment tells it.
#include <cfenv>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

#include <ATen/Parallel.h>
#include <ATen/record_function.h>
#include <torch/csrc/autograd/anomaly_mode.h>

#include <fedarena/algorithm.hpp>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace {

using namespace fedarena;

void throw_if_told(const char* variable, const char* text) {
  if (std::getenv(variable) != nullptr) throw std::runtime_error(text);
}

// Nobody can tell, so that no compiler makes a loop of it.
int without_end(int depth) {
  volatile int room[256] = {depth};
  return room[0] > 0 ? without_end(room[0] + 1) + room[0] : 0;
}

void let_nothing_out() noexcept { throw_if_told("FEDARENA_TEST_LOADING_ENDS", "must not get out"); }

// Libraries built with -ffast-math flush subnormal numbers when they are loaded.
void round_otherwise() {
  std::fesetround(FE_UPWARD);
#if defined(__SSE__)
  _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
#endif
}

const bool initialised = [] {
  ::setenv("FEDARENA_TEST_INITIALISED", "1", 1);
  throw_if_told("FEDARENA_TEST_LOADING_THROWS", "no such table");
  let_nothing_out();
  if (std::getenv("FEDARENA_TEST_LOADING_CRASHES") != nullptr) std::raise(SIGSEGV);
  if (std::getenv("FEDARENA_TEST_LOADING_EXITS") != nullptr) std::exit(0);
  if (std::getenv("FEDARENA_TEST_LOADING_ROUNDS") != nullptr) round_otherwise();
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
  explicit Thrower(Config config) : config_(std::move(config)) { pass("constructor"); }
  ~Thrower() override {
    if (told("destructor", "rounding")) std::fesetround(FE_UPWARD);
  }
  Thrower(const Thrower&) = delete;
  Thrower& operator=(const Thrower&) = delete;

  void start(Server& server) const override {
    pass("start");
    if (config_.where == "start") spoil(server);
    if (told("start", "proxy")) server.proxy.zero_();
  }
  Message broadcast(const Server& server) const override {
    pass("broadcast");
    if (told("broadcast", "state")) server.state.put(Key<double>{"calls"}, 1.0);
    if (told("broadcast", "params")) server.params *= 2;
    return {{kSent, server.params}, {Key<std::int64_t>{"round"}, server.round}};
  }
  Message train(Client& client, const Message& downlink) const override {
    pass("train");
    pass("train in round " + std::to_string(client.round));
    if (told("train", "downlink")) downlink[kSent].flat().add_(1);
    if (told("train", "half")) return {{Key<torch::Tensor>{"image"}, torch::zeros({1}, torch::kFloat16)}};
    if (told("train", "sparse")) return {{Key<torch::Tensor>{"image"}, torch::zeros({2, 2}).to_sparse()}};
    if (told("train", "huge"))
      return {{Key<torch::Tensor>{"image"}, torch::zeros({1}).expand({std::int64_t{1} << 50})}};
    if (told("train", "twice"))
      return {{Key<std::int64_t>{"client"}, client.id}, {Key<double>{"client"}, 1.0}};
    if (config_.where == "personalise")
      (void)client.oracle.gradient(zeros(client.model), {.batch_size = 1500});
    if (told("train", "name")) return {{Key<std::int64_t>{kLongName.c_str()}, client.id}};
    if (told("train", "empty")) return {{Key<Params>{"update"}, Params()}};
    if (told("train", "undefined")) return {{Key<torch::Tensor>{"image"}, torch::Tensor()}};
    if (told("train", "state")) client.state.put(Key<Params>{"kept"}, Params());
    return {{Key<std::int64_t>{"client"}, client.id}};
  }
  std::optional<AccessPlan> access_plan(const Client&) const override {
    pass("access_plan");
    AccessPlan plan{.votes = told("access_plan", "negative") ? -1 : 0};
    const std::int64_t sizes = told("access_plan", "sizes") ? (1 << 20) + 1 : 0;
    for (std::int64_t size = 0; size < sizes; ++size)
      plan.gradients.emplace_hint(plan.gradients.end(), size, 1);
    if (plan != AccessPlan()) return plan;
    return std::nullopt;
  }
  std::vector<UplinkEntry> uplink_entries(std::int64_t /*round*/) const override {
    pass("uplink_entries");
    return {Key<std::int64_t>{"client"}};
  }
  std::vector<Params> centres(const Message& /*downlink*/) const override {
    return {static_cast<std::size_t>(told("centres", "one") ? 1 : 0), Params()};
  }
  bool personalises() const override { return config_.where == "personalise"; }
  Params personalise(Client& client, const Message&) const override {
    pass("personalise");
    return zeros(client.model);
  }
  void aggregate(Server& server, const Uplink&) const override {
    pass("aggregate");
    if (config_.where == "aggregate") spoil(server);
  }

 private:
  static constexpr Key<Params> kSent{"sent"};
  inline static const std::string kLongName = std::string(256, 'n');

  static Params zeros(const Model& model) { return Params::zeros(model.layout(), model.options()); }

  bool told(const char* where, const char* what) const {
    return config_.where == where && config_.what == what;
  }

  // Plausible mistakes.
  void spoil(Server& server) const {
    if (config_.what == "empty") server.params = Params();
    if (config_.what == "double") {
      server.params = Params(server.params.layout(), server.params.flat().to(torch::kFloat64));
    }
    if (config_.what == "sparse") server.synthetic = {torch::zeros({2, 2}).to_sparse(), torch::zeros({2})};
    if (config_.what == "layout") {
      auto layout = std::make_shared<Layout>();
      layout->add({7});
      server.params = Params::zeros(layout, server.params.flat().options());
    }
  }

  void pass(const std::string& where) const {
    if (config_.where != where || std::getenv("FEDARENA_TEST_SPARED") != nullptr) return;
    if (config_.what == "exception") throw std::runtime_error("the exception's text\nand a second line");
    if (config_.what == "number") throw 42;
    if (config_.what == "bug") FEDARENA_CHECK(1, ==, 2);
    if (config_.what == "torch") TORCH_CHECK(false, "the tensor's text");
    if (config_.what == "error") {
      throw Error(Complaint{.found = "wrong number", .allowed = "a right one", .remedy = "Count again."});
    }
    if (config_.what == "interrupted") throw Interrupted();
    if (config_.what == "rounding") std::fesetround(FE_UPWARD);
    if (config_.what == "seed") torch::manual_seed(5);
    if (config_.what == "draw") torch::randn({1});
    if (config_.what == "type") torch::set_default_dtype(caffe2::TypeMeta::Make<double>());
    if (config_.what == "anomalies") torch::autograd::AnomalyMode::set_enabled(true);
    if (config_.what == "threads") at::set_num_threads(at::get_num_threads() + 1);
    if (config_.what == "observer")
      at::addGlobalCallback(at::RecordFunctionCallback(
          [](const at::RecordFunction&) { return std::unique_ptr<at::ObserverContext>(); }));
    if (config_.what == "mkldnn") at::globalContext().setUserEnabledMkldnn(false);
    if (config_.what == "no gradients") torch::GradMode::set_enabled(false);
    if (config_.what == "crash") std::raise(SIGSEGV);
    if (config_.what == "recursion") (void)without_end(1);
    if (config_.what == "thread") std::thread([] { throw std::runtime_error("nobody catches it"); }).join();
    if (config_.what == "exit") std::exit(0);
    if (config_.what == "quick_exit") std::quick_exit(0);
  }

  Config config_;
};

}  // namespace

FEDARENA_PLUGIN("good", "1.2.3") {
  if (std::getenv("FEDARENA_TEST_INSTALLING_CRASHES") != nullptr) std::abort();
  if (std::getenv("FEDARENA_TEST_INSTALLING_ROUNDS") != nullptr) round_otherwise();
  registry.add<Thrower>("thrower",
                        {.summary = "Throws.", .citation = "none", .downlink = "round", .uplink = "client"});
  registry.add<Thrower>("second",
                        {.summary = "Throws.", .citation = "none", .downlink = "round", .uplink = "client"});
}
