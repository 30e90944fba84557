#include "harness/loader/guarded_algorithm.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/print.hpp"

namespace fedarena {
namespace {

// LibTorch appends a stack trace to its messages; the first line says what happened.
std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

// Where this thread is in a plugin, for the case that the plugin ends the process; empty outside of them.
thread_local const std::string* inside = nullptr;

void refuse_exit() {
  if (inside == nullptr) return;
  print(stderr,
        "fedarena: {} ended the program\n"
        "  Throw an exception there instead of calling exit(). All complete rounds of a run are kept: "
        "--resume continues it.\n",
        *inside);
  ::_exit(1);
}

// While a plugin has the thread: `inside`, and the rounding of floating-point numbers, which it must not
// leave changed to those who come after it.
class Visit {
 public:
  explicit Visit(const std::string& where) : outside_(inside) {
    // Nothing is called at _Exit(), which only malice calls.
    static const int registered = std::atexit(refuse_exit) + std::at_quick_exit(refuse_exit);
    FEDARENA_CHECK(registered, ==, 0);
    inside = &where;
  }
  ~Visit() { inside = outside_; }
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

 private:
  const std::string* outside_;
  KeptFloatEnvironment environment_;
};

void check_params(const Params& params, const Model& model, const std::string& what) {
  const auto refuse = [&](const std::string& found, const std::string& allowed) {
    throw Error(Complaint{.found = fmt::format("{} {}", what, found), .allowed = allowed});
  };
  if (params.empty())
    refuse("is empty", "parameters of the model's layout, such as zeros_like(server.params)");
  if (params.layout()->fingerprint() != model.layout()->fingerprint()) {
    refuse(fmt::format("has another layout ({} parameters)", params.layout()->numel()),
           fmt::format("the model's ({} parameters)", model.layout()->numel()));
  }
  const auto type = torch::typeMetaToScalarType(model.options().dtype());
  if (params.flat().scalar_type() != type) {
    refuse(fmt::format("is of type {}", torch::toString(params.flat().scalar_type())),
           fmt::format("{}, as the model", torch::toString(type)));
  }
}

// What could not be sent or kept.
void check_message(const Message& message, const Model& model, const std::string& what) {
  constexpr std::size_t kLongest = 255;
  for (const Message::Entry& entry : message.entries()) {
    if (entry.name.size() > kLongest) {
      throw Error::of("{} has a name of {} characters, which begins \"{}\"; allowed: at most {}", what,
                      entry.name.size(), entry.name.substr(0, 20), kLongest);
    }
    const std::string named = fmt::format("\"{}\" in {}", entry.name, what);
    if (const auto* params = std::get_if<Params>(&entry.content)) check_params(*params, model, named);
    if (const auto* tensor = std::get_if<torch::Tensor>(&entry.content); tensor && !tensor->defined()) {
      throw Error::of("{} is an undefined tensor; allowed: a tensor, which may be empty", named);
    }
  }
}

void check_plan(const AccessPlan& plan) {
  std::int64_t least = std::min(plan.votes, plan.part_votes);
  for (const auto& [batch_size, count] : plan.gradients) least = std::min({least, batch_size, count});
  if (least < 0) throw Error::of("the plan of accesses has the number {}; allowed: numbers from 0", least);
}

class GuardedAlgorithm final : public Algorithm {
 public:
  GuardedAlgorithm(const AlgorithmInfo& info, const Settings& settings)
      : origin_(fmt::format("algorithm \"{}\" of plugin {}", info.name, info.plugin)) {
    inner_ = call("its constructor", [&] { return info.create(settings); });
  }
  ~GuardedAlgorithm() override {
    const std::string visited = origin_ + ", in its destructor,";
    const Visit visit(visited);
    inner_.reset();
  }
  GuardedAlgorithm(const GuardedAlgorithm&) = delete;
  GuardedAlgorithm& operator=(const GuardedAlgorithm&) = delete;

  void start(Server& server) const override {
    call("start", [&] {
      inner_->start(server);
      check_server(server);
    });
  }
  Message broadcast(const Server& server) const override {
    return call(fmt::format("broadcast, round {}", server.round), [&] {
      Message message = inner_->broadcast(server);
      check_message(message, server.model, "the message to clients");
      return message;
    });
  }
  Message train(Client& client, const Message& downlink) const override {
    return call(fmt::format("train, round {}, client {}", client.round, client.id), [&] {
      Message message = inner_->train(client, downlink);
      check_message(message, client.model, "the client's message");
      check_message(client.state, client.model, "the client's state");
      return message;
    });
  }
  std::vector<UplinkEntry> uplink_entries(std::int64_t round) const override {
    return call(fmt::format("uplink_entries, round {}", round),
                [&] { return inner_->uplink_entries(round); });
  }
  std::vector<Params> centres(const Message& downlink) const override {
    return call("centres", [&] { return inner_->centres(downlink); });
  }
  void aggregate(Server& server, const Uplink& uplink) const override {
    call(fmt::format("aggregate, round {}", server.round), [&] {
      inner_->aggregate(server, uplink);
      check_server(server);
    });
  }
  std::optional<AccessPlan> access_plan(const Client& client) const override {
    return call(fmt::format("access_plan, round {}, client {}", client.round, client.id), [&] {
      std::optional<AccessPlan> plan = inner_->access_plan(client);
      if (plan) check_plan(*plan);
      return plan;
    });
  }
  bool personalises() const override {
    return call("personalises", [&] { return inner_->personalises(); });
  }
  Params personalise(Client& client, const Message& downlink) const override {
    return call(fmt::format("personalise, round {}, client {}", client.round, client.id), [&] {
      Params personal = inner_->personalise(client, downlink);
      check_params(personal, client.model, "the client's model");
      return personal;
    });
  }

 private:
  static void check_server(const Server& server) {
    check_params(server.params, server.model, "server.params");
    check_message(server.state, server.model, "server.state");
  }

  template <typename Call>
  auto call(std::string_view where, const Call& body) const -> decltype(body()) {
    const std::string visited = fmt::format("{}, in {},", origin_, where);
    const Visit visit(visited);
    try {
      return body();
    } catch (const Interrupted&) {
      throw;
    } catch (const Error& error) {
      Complaint complaint = error.complaint();
      complaint.found = fmt::format("{} ({}, in {})", complaint.found, origin_, where);
      throw Error(std::move(complaint));
    } catch (const std::exception& thrown) {
      fail(where, first_line(thrown.what()));
    } catch (...) {
      fail(where, "something that is not a std::exception");
    }
  }

  [[noreturn]] void fail(std::string_view where, const std::string& what) const {
    throw PluginFailure(Complaint{.found = fmt::format("{} failed in {}: {}", origin_, where, what)});
  }

  std::string origin_;
  std::unique_ptr<const Algorithm> inner_;
};

}  // namespace

std::unique_ptr<const Algorithm> guarded(const AlgorithmInfo& info, const Settings& settings) {
  return std::make_unique<GuardedAlgorithm>(info, settings);
}

}  // namespace fedarena
