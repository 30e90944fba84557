#include "harness/loader/guarded_algorithm.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

#include <c10/util/Exception.h>
#include <c10/util/SmallVector.h>
#include <fmt/format.h>

#include "fedarena/base/text.hpp"

#include "harness/loader/shared_torch.hpp"
#include "harness/sdk/message_snapshot.hpp"
#include "harness/sdk/plugin_visit.hpp"
#include "harness/sdk/sendable.hpp"

namespace fedarena {
namespace {

// In one line, since it stands in records; LibTorch appends a stack trace to its messages, and the line
// before it says what happened.
std::string brief(const std::exception& thrown) {
  constexpr std::size_t kLongest = 1000;
  const auto* of_torch = dynamic_cast<const c10::Error*>(&thrown);
  const char* text = of_torch != nullptr ? of_torch->what_without_backtrace() : thrown.what();
  std::string_view all = text == nullptr ? "an exception without a text" : text;
  if (of_torch != nullptr) all = all.substr(0, all.find('\n'));
  std::string line(all.substr(0, kLongest));
  std::ranges::replace(line, '\n', ' ');
  return all.size() > kLongest ? line + " ..." : line;
}

void check_params(const Params& params, const Model& model, const std::string& what) {
  const auto refuse = [&](const std::string& found, const std::string& allowed, const char* remedy = "") {
    throw Error(Complaint{.found = fmt::format("{} {}", what, found), .allowed = allowed, .remedy = remedy});
  };
  if (params.empty())
    refuse("is empty", "parameters of the model's layout, such as zeros_like(server.params)");
  if (params.layout()->fingerprint() != model.layout()->fingerprint()) {
    refuse(fmt::format("has another layout ({} parameters)", params.layout()->numel()),
           fmt::format("the model's ({} parameters)", model.layout()->numel()),
           "Send and keep numbers of another shape as a tensor; where a sum of them is noised, pad them");
  }
  const auto type = torch::typeMetaToScalarType(model.options().dtype());
  if (params.flat().scalar_type() != type) {
    refuse(fmt::format("is of type {}", torch::toString(params.flat().scalar_type())),
           fmt::format("{}, as the model", torch::toString(type)));
  }
  if (const std::string why = unlike_parameters(params.flat(), model.layout()->numel()); !why.empty())
    throw Error::of("{} {}", what, why);
}

// As it is sent: in memory it may repeat one number.
double bytes_of(const torch::Tensor& tensor) {
  const auto shape = tensor.sizes();
  return std::accumulate(shape.begin(), shape.end(), static_cast<double>(tensor.element_size()),
                         std::multiplies<>());
}

// Of a message, beside which lies what is encoded and decoded of it: more than that would end the whole run.
double most_bytes() {
  static const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  return memory / 3;
}

// What could not be sent or kept.
void check_message(const Message& message, const Model& model, const std::string& what) {
  constexpr double kGiB = 1 << 30;
  check_entries(message, what);
  double bytes = 0;
  for (const Message::Entry& entry : message.entries()) {
    const auto* params = std::get_if<Params>(&entry.content);
    if (params != nullptr) check_params(*params, model, fmt::format("\"{}\" in {}", entry.name, what));
    const auto* tensor = std::get_if<torch::Tensor>(&entry.content);
    if (tensor != nullptr || params != nullptr)
      bytes += bytes_of(tensor != nullptr ? *tensor : params->flat());
  }
  if (bytes > most_bytes())
    throw Error::of("{} takes {:.1f} GiB; allowed: at most {:.1f}, a third of the machine's memory", what,
                    bytes / kGiB, most_bytes() / kGiB);
}

// What an algorithm is handed for reading is shared: with other clients, with what is sent, with other calls.
class ReadOnly {
 public:
  // All outlive this.
  void add(std::string_view what, const torch::Tensor& tensor) {
    tensors_.push_back(SeenTensor{what, tensor, writes_to(tensor), &tensor});
  }
  void add(std::string_view what, const Message& message) {
    messages_.push_back(SeenMessage{what, MessageSnapshot(message), &message});
  }

  void check() const {
    for (const SeenMessage& seen : messages_) {
      const std::string name = seen.before.changed(*seen.now);
      if (!name.empty()) refuse(fmt::format("\"{}\" in {}", name, seen.what));
    }
    for (const SeenTensor& seen : tensors_) {
      if (!seen.now->is_same(seen.before) || writes_to(*seen.now) != seen.writes) refuse(seen.what);
    }
  }

 private:
  struct SeenTensor {
    std::string_view what;
    torch::Tensor before;
    std::int64_t writes;
    const torch::Tensor* now;
  };
  struct SeenMessage {
    std::string_view what;
    MessageSnapshot before;
    const Message* now;
  };
  [[noreturn]] static void refuse(std::string_view what) {
    throw Error(Complaint{.found = fmt::format("{} was changed, which is there to be read", what),
                          .remedy = "Change a copy: a clone() of a tensor, or Params of its own"});
  }

  // As many as any call has, without asking for memory in every round of every client.
  c10::SmallVector<SeenTensor, 3> tensors_;
  c10::SmallVector<SeenMessage, 1> messages_;
};

ReadOnly inputs_of(const Server& server) {
  ReadOnly inputs;
  inputs.add("server.proxy", server.proxy);
  inputs.add("server.pixel_range", server.pixel_range);
  return inputs;
}

ReadOnly inputs_of(const Client& client, const Message& downlink) {
  ReadOnly inputs;
  inputs.add("the message from the server", downlink);
  inputs.add("client.pixel_range", client.pixel_range);
  return inputs;
}

void check_plan(const AccessPlan& plan) {
  auto [least, most] = std::minmax({plan.votes, plan.part_votes});
  for (const auto& [batch_size, count] : plan.gradients) {
    least = std::min({least, batch_size, count});
    most = std::max(most, count);
  }
  if (least < 0) throw Error::of("the plan of accesses has the number {}; allowed: numbers from 0", least);
  // Sums of them are far from what an integer holds.
  constexpr std::int64_t kMost = std::int64_t{1} << 40, kMostSizes = std::int64_t{1} << 20;
  if (std::ssize(plan.gradients) > kMostSizes)
    throw Error::of("the plan of accesses has {} sizes of batches; allowed: at most {}",
                    plan.gradients.size(), kMostSizes);
  if (most > kMost)
    throw Error::of("the plan of accesses has the number {}; allowed: at most {}", most, kMost);
}

class GuardedAlgorithm final : public Algorithm {
 public:
  GuardedAlgorithm(const AlgorithmInfo& info, const Settings& settings)
      : origin_(fmt::format("algorithm \"{}\" of plugin {}", info.name, info.plugin)) {
    inner_ = call({origin_, "its constructor"}, [&] {
      std::unique_ptr<const Algorithm> made = info.create ? info.create(settings) : nullptr;
      if (made == nullptr) throw Error::of("what makes it returned nothing");
      return made;
    });
  }
  ~GuardedAlgorithm() override {
    const PluginCall destroyed{origin_, "its destructor"};
    const PluginVisit visit(&destroyed);
    inner_.reset();
  }
  GuardedAlgorithm(const GuardedAlgorithm&) = delete;
  GuardedAlgorithm& operator=(const GuardedAlgorithm&) = delete;

  void start(Server& server) const override {
    call({origin_, "start"}, [&] {
      const ReadOnly inputs = inputs_of(server);
      inner_->start(server);
      inputs.check();
      check_server(server);
    });
  }
  Message broadcast(const Server& server) const override {
    return call({origin_, "broadcast", server.round}, [&] {
      // It is called as often as somebody wants to know, for tests of personal models too.
      ReadOnly inputs = inputs_of(server);
      inputs.add("server.state", server.state);
      inputs.add("server.params", server.params.flat());
      Message message = inner_->broadcast(server);
      inputs.check();
      check_message(message, server.model, "the message to clients");
      return message;
    });
  }
  Message train(Client& client, const Message& downlink) const override {
    return call({origin_, "train", client.round, client.id}, [&] {
      const ReadOnly inputs = inputs_of(client, downlink);
      Message message = inner_->train(client, downlink);
      inputs.check();
      check_message(message, client.model, "the client's message");
      check_message(client.state, client.model, "the client's state");
      return message;
    });
  }
  std::vector<UplinkEntry> uplink_entries(std::int64_t round) const override {
    return call({origin_, "uplink_entries", round}, [&] {
      std::vector<UplinkEntry> entries = inner_->uplink_entries(round);
      for (const UplinkEntry& entry : entries) check_name(entry.name, "what it declares to send");
      return entries;
    });
  }
  std::vector<Params> centres(const Message& downlink) const override {
    return call({origin_, "centres"}, [&] {
      std::vector<Params> centres = inner_->centres(downlink);
      if (const std::size_t declared = inner_->number_of_centres(); centres.size() != declared)
        throw Error(
            Complaint{.found = fmt::format("{} given, and number_of_centres() is {}",
                                           counted(centres.size(), "centre is", "centres are"), declared),
                      .allowed = "as many in every round as it says"});
      for (const Params& centre : centres) {
        const std::string why =
            centre.empty() ? "is empty" : unlike_parameters(centre.flat(), centre.layout()->numel());
        if (!why.empty()) throw Error::of("a centre {}", why);
      }
      return centres;
    });
  }
  std::size_t number_of_centres() const override {
    return call({origin_, "number_of_centres"}, [&] { return inner_->number_of_centres(); });
  }
  void aggregate(Server& server, const Uplink& uplink) const override {
    call({origin_, "aggregate", server.round}, [&] {
      const ReadOnly inputs = inputs_of(server);
      inner_->aggregate(server, uplink);
      inputs.check();
      check_server(server);
    });
  }
  std::optional<AccessPlan> access_plan(const Client& client) const override {
    return call({origin_, "access_plan", client.round, client.id}, [&] {
      std::optional<AccessPlan> plan = inner_->access_plan(client);
      if (plan) check_plan(*plan);
      return plan;
    });
  }
  bool personalises() const override {
    return call({origin_, "personalises"}, [&] { return inner_->personalises(); });
  }
  Params personalise(Client& client, const Message& downlink) const override {
    return call({origin_, "personalise", client.round, client.id}, [&] {
      const ReadOnly inputs = inputs_of(client, downlink);
      Params personal = inner_->personalise(client, downlink);
      inputs.check();
      check_params(personal, client.model, "the client's model");
      return personal;
    });
  }

 private:
  static void check_server(const Server& server) {
    check_params(server.params, server.model, "server.params");
    check_message(server.state, server.model, "server.state");
    for (const torch::Tensor* tensor : {&server.synthetic.inputs, &server.synthetic.targets}) {
      if (const std::string why = tensor->defined() ? unsendable(*tensor) : ""; !why.empty())
        throw Error::of("server.synthetic {}", why);
    }
  }

  template <typename Call>
  auto call(const PluginCall& visited, const Call& body) const -> decltype(body()) {
    const PluginVisit visit(&visited);
    const SharedGenerators generators;
    const SharedSettings settings;
    const auto check = [&] {
      settings.check();
      generators.check();
    };
    try {
      if constexpr (std::is_void_v<decltype(body())>) {
        body();
        check();
      } else {
        auto result = body();
        check();
        return result;
      }
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      const Complaint& told = error.complaint();
      throw Error::at(told.place, fmt::format("{} ({}, in {})", told.found, origin_, visited.where()), told);
    } catch (const std::exception& thrown) {
      fail(visited, brief(thrown));
    } catch (...) {
      fail(visited, "something that is not a std::exception");
    }
  }

  [[noreturn]] static void fail(const PluginCall& call, const std::string& what) {
    throw PluginFailure(
        Complaint{.found = fmt::format("{} failed in {}: {}", call.origin, call.where(), what)});
  }

  std::string origin_;
  std::unique_ptr<const Algorithm> inner_;
};

}  // namespace

std::unique_ptr<const Algorithm> guarded(const AlgorithmInfo& info, const Settings& settings) {
  return std::make_unique<GuardedAlgorithm>(info, settings);
}

}  // namespace fedarena
