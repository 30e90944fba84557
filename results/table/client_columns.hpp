#pragma once

#include <array>
#include <optional>
#include <span>

#include "results/record/test_metrics.hpp"
#include "results/statistics/statistics.hpp"

namespace fedarena::results {

/// What a row says of its clients, over seeds: the first four, or on regression data the others.
struct ClientColumns {
  std::optional<Spread> accuracy = {}, worst = {};               ///< after the last round
  std::optional<Spread> best_accuracy = {}, best_macro_f1 = {};  ///< of the best rounds
  std::optional<Spread> rmse = {}, worst_rmse = {};              ///< after the last round
};

/// One of them: its heading for readers, its key for programs.
struct ClientColumn {
  const char* heading;
  const char* key;
  std::optional<Spread> ClientColumns::*member;
  bool share;  ///< whether it is a fraction, shown in percent
};
inline constexpr std::array<ClientColumn, 6> kClientColumns = {
    {{"clients (%)", "client_accuracy", &ClientColumns::accuracy, true},
     {"worst client (%)", "client_accuracy_worst", &ClientColumns::worst, true},
     {"BMTA (%)", "best_client_accuracy", &ClientColumns::best_accuracy, true},
     {"BMT-F1 (%)", "best_client_macro_f1", &ClientColumns::best_macro_f1, true},
     {"clients (RMSE)", "client_rmse", &ClientColumns::rmse, false},
     {"worst client (RMSE)", "client_rmse_worst", &ClientColumns::worst_rmse, false}}};

/// The clients of one seed's run.
struct SeedClients {
  ClientMetrics last;
  BestOverRounds best;
};

/// Of at least one seed.
ClientColumns client_columns(std::span<const SeedClients> seeds);
ClientColumns client_columns(std::span<const ClientErrors> seeds);

}  // namespace fedarena::results
