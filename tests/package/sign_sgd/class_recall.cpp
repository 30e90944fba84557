// FedAvg whose clients tell how well they know their worst class: McMahan, Moore, Ramage, Hampson, Aguera y
// Arcas, "Communication-efficient learning of deep networks from decentralized data", AISTATS 2017, Algorithm
// 1 (arXiv:1602.05629).
//
// Differs from the paper: each client's least recall over the classes is observed, from sums of votes.
#include <fedarena/algorithm.hpp>
#include <fedarena/model_averaging.hpp>

namespace {

using namespace fedarena;

class ClassRecall final : public Configured<ModelAveraging> {
 public:
  using Configured::Configured;

  Message train(Client& client, const Message& downlink) const override {
    const Params& start = downlink[kModel];
    if (client.oracle.size() > 0) client.observed.add("least-recall", least_recall(client, start));
    return update_message(client, start, train_locally(client, start, config_));
  }

  std::optional<AccessPlan> access_plan(const Client& client) const override {
    AccessPlan plan = training_plan(client, config_);
    if (client.oracle.size() > 0) plan.votes = 2;  // those of parts are plan.part_votes
    return plan;
  }

  void aggregate(Server& server, const Uplink& uplink) const override {
    average_updates(server, uplink, config_);
  }

 private:
  static double least_recall(Client& client, const Params& at) {
    const Vote vote = [&](const Voters& voters) {
      const torch::NoGradGuard constant;
      const torch::Tensor labels = voters.examples.targets.flatten();  // each voter has one example
      const torch::Tensor outputs = client.model.forward(at, voters.examples.inputs.flatten(0, 1));
      const torch::Tensor held = at::one_hot(labels, outputs.size(1)).to(outputs.options());
      const torch::Tensor right = held * (outputs.argmax(1) == labels).unsqueeze(1);
      return at::stack({held, right}, 1);  // [voters, 2 votes, a number for each class]
    };
    const torch::Tensor sums =
        client.oracle.noisy_sum(vote, {.votes = 2, .numbers = client.model.num_classes(), .bound = 1});
    return (sums[1] / sums[0].clamp_min(1)).min().item<double>();
  }
};

}  // namespace

FEDARENA_PLUGIN("class_recall", "1.0.0") {
  registry.add<ClassRecall>("class-recall",
                            {.summary = "FedAvg that observes each client's recall of its worst class.",
                             .citation = "McMahan et al., AISTATS 2017, arXiv:1602.05629",
                             .downlink = "model",
                             .uplink = "model update, number of examples",
                             .requires_classes = true});
}
