#include "harness/loader/guarded_algorithm.hpp"

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace fedarena {
namespace {

// LibTorch appends a stack trace to its messages; the first line says what happened.
std::string first_line(std::string_view text) { return std::string(text.substr(0, text.find('\n'))); }

class GuardedAlgorithm final : public Algorithm {
 public:
  GuardedAlgorithm(const AlgorithmInfo& info, const Settings& settings)
      : origin_(fmt::format("algorithm \"{}\" of plugin {}", info.name, info.plugin)) {
    inner_ = call("its constructor", [&] { return info.create(settings); });
  }

  void start(Server& server) const override {
    call("start", [&] { inner_->start(server); });
  }
  Message broadcast(const Server& server) const override {
    return call(fmt::format("broadcast, round {}", server.round), [&] { return inner_->broadcast(server); });
  }
  Message train(Client& client, const Message& downlink) const override {
    return call(fmt::format("train, round {}, client {}", client.round, client.id),
                [&] { return inner_->train(client, downlink); });
  }
  void aggregate(Server& server, const Uplink& uplink) const override {
    call(fmt::format("aggregate, round {}", server.round), [&] { inner_->aggregate(server, uplink); });
  }
  std::int64_t most_accesses() const override {
    return call("most_accesses", [&] { return inner_->most_accesses(); });
  }

 private:
  template <typename Call>
  auto call(std::string_view where, const Call& body) const -> decltype(body()) {
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
      fail(where, "something that is no std::exception");
    }
  }

  [[noreturn]] void fail(std::string_view where, const std::string& what) const {
    throw Error(Complaint{.found = fmt::format("{} failed in {}: {}", origin_, where, what)});
  }

  std::string origin_;
  std::unique_ptr<const Algorithm> inner_;
};

}  // namespace

std::unique_ptr<const Algorithm> guarded(const AlgorithmInfo& info, const Settings& settings) {
  return std::make_unique<GuardedAlgorithm>(info, settings);
}

}  // namespace fedarena
