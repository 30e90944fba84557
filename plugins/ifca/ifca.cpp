// IFCA: Ghosh, Chung, Yin, Ramchandran, "An efficient framework for clustered federated learning", NeurIPS
// 2020, Algorithm 1 with model averaging (arXiv:2006.04088). Each client takes the hypothesis of least loss,
// trains it, and sends its change and which one it was. With assign = "k-means" it sends the trained model
// alone, and the server finds out by Lloyd's iterations from the hypotheses: Galli, Biswas, Jung, Cucinotta,
// Palamidessi, "Group privacy for personalized federated learning", 2022 (arXiv:2206.03396).
//
// Differs from the papers: the first hypothesis is the run's initial model, the others are drawn like it or,
// with init = "normal", from N(0, I). One that nobody chose stays; the one that most clients chose is tested
// as the global model. Clients count by their examples, as in FedAvg; the paper's mean is weighting =
// "uniform". With k-means a hypothesis becomes the mean of the models that are nearest to it: neither
// weighting nor server_rate has a part in that. Messages are read singly and losses exact: only "local" with
// k-means has an epsilon.
#include <algorithm>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <fedarena/algorithm.hpp>
#include <fedarena/k_means.hpp>
#include <fedarena/model_averaging.hpp>

namespace {

using namespace fedarena;
using Hypotheses = std::vector<Params>;

constexpr Key<Params> kTrained{"trained_model"};
constexpr Key<std::int64_t> kChoice{"hypothesis"};

struct Config : ModelAveraging {
  std::int64_t hypotheses = 2;
  std::string assign = "clients";
  std::string init = "model";

  static Schema<Config> schema() {
    return Schema<Config>{
        {"hypotheses", &Config::hypotheses, "models that clients choose from", Constraint::between(1, 1000)},
        {"assign", &Config::assign,
         "who says which hypothesis a client's training belongs to; with k-means hypotheses are plain means, "
         "without "
         "weighting and server_rate",
         Constraint::one_of({"clients", "k-means"})},
        {"init", &Config::init, "how all hypotheses but the first begin: as the model does, or from N(0, I)",
         Constraint::one_of({"model", "normal"})},
    }
        .extends<ModelAveraging>();
  }
};

class Ifca final : public Configured<Config> {
 public:
  using Configured::Configured;

  void start(Server& server) const override {
    put(server.state, 0, server.params);
    for (std::int64_t j = 1; j < config_.hypotheses; ++j) {
      Stream draws = server.streams(Purpose::kAlgorithm, static_cast<std::uint64_t>(j));
      Params own = zeros_like(server.params);
      if (config_.init == "normal") own.flat().copy_(normal(draws, {own.flat().numel()}));
      if (config_.init == "model") own = server.model.initial(draws);
      put(server.state, j, std::move(own));
    }
  }

  Message broadcast(const Server& server) const override { return server.state; }

  Message train(Client& client, const Message& downlink) const override {
    const Hypotheses all = hypotheses_in(downlink);
    const std::size_t choice = best(client, all);
    Params trained = train_locally(client, all[choice], config_);
    if (config_.assign == "k-means") return {{kTrained, std::move(trained)}};
    Message uplink = update_message(client, all[choice], trained);
    uplink.put(kChoice, static_cast<std::int64_t>(choice));
    return uplink;
  }

  std::vector<UplinkEntry> uplink_entries(std::int64_t /*round*/) const override {
    if (config_.assign == "k-means") return {kTrained};
    return undeclared("which hypothesis they chose",
                      "Set assign = \"k-means\" in its section, or choose another policy");
  }

  std::vector<Params> centres(const Message& downlink) const override {
    return config_.assign == "k-means" ? hypotheses_in(downlink) : Hypotheses();
  }
  std::size_t number_of_centres() const override {  // in every round
    return config_.assign == "k-means" ? static_cast<std::size_t>(config_.hypotheses) : 0;
  }

  void aggregate(Server& server, const Uplink& uplink) const override {
    const Hypotheses old = hypotheses_in(server.state);
    const std::span<const Message> messages = uplink.each();
    if (messages.empty()) return;
    const bool told = config_.assign == "clients";
    std::vector<torch::Tensor> vectors, starts;
    for (const Params& one : old) starts.push_back(one.flat());
    std::vector<double> weights;
    Choices choices;
    for (const Message& message : messages) {
      vectors.push_back((told ? message[kUpdate] : message[kTrained]).flat());
      weights.push_back(told && config_.by_examples() ? static_cast<double>(message[kExamples]) : 1);
      if (told) choices.push_back(static_cast<std::size_t>(message[kChoice]));
    }
    const torch::Tensor sent = torch::stack(vectors), before = torch::stack(starts);
    if (!told) choices = lloyd(sent, before).choices;
    std::vector<std::int64_t> chosen(old.size());
    for (const std::size_t j : choices) ++chosen.at(j);
    server.choices.assign(choices.begin(), choices.end());
    for (std::size_t j = 0; j < old.size(); ++j)
      server.observed.add("hypothesis-" + std::to_string(j), static_cast<double>(chosen[j]));
    const auto most = static_cast<std::size_t>(std::ranges::max_element(chosen) - chosen.begin());
    const auto means = cluster_means(sent, choices, weights, told ? torch::zeros_like(before) : before);
    for (std::size_t j = 0; j < old.size(); ++j) {
      Params mean(old[j].layout(), means[static_cast<std::int64_t>(j)].clone());
      if (told) mean = old[j] + config_.server_rate * std::move(mean);
      if (j == most) server.params = mean;
      put(server.state, static_cast<std::int64_t>(j), std::move(mean));
    }
  }

  bool personalises() const override { return true; }
  Params personalise(Client& client, const Message& downlink) const override {
    Hypotheses all = hypotheses_in(downlink);
    return std::move(all[best(client, all)]);
  }

 private:
  static std::string name_of(std::int64_t hypothesis) { return "hypothesis_" + std::to_string(hypothesis); }
  static void put(Message& message, std::int64_t hypothesis, Params params) {
    message.put_entry({name_of(hypothesis), std::move(params)});
  }

  Hypotheses hypotheses_in(const Message& message) const {
    Hypotheses all;
    for (std::int64_t j = 0; j < config_.hypotheses; ++j)
      all.push_back(message[Key<Params>{name_of(j).c_str()}]);
    return all;
  }

  static std::size_t best(Client& client, const Hypotheses& all) {
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < all.size(); ++j) {
      const double loss = client.oracle.loss(all[j]);
      if (loss < least) {
        least = loss;
        best = j;
      }
    }
    return best;
  }
};

}  // namespace

FEDARENA_PLUGIN("ifca", "1.0.0") {
  registry.add<Ifca>("ifca",
                     {.summary = "Clients choose from several models; each is trained by those who chose it.",
                      .citation = "Ghosh et al., NeurIPS 2020, arXiv:2006.04088",
                      .downlink = "all hypotheses",
                      .uplink = "model update, number of examples, chosen hypothesis"});
}
