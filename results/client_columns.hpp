#pragma once

#include <array>
#include <span>

#include "results/spread.hpp"
#include "results/test_metrics.hpp"

namespace fedarena::results {

/// What a row says of its clients, over seeds.
struct ClientColumns {
  Spread accuracy, worst;               ///< after the last round
  Spread best_accuracy, best_macro_f1;  ///< of the best rounds
};

/// One of them: its heading for readers, its key for programs.
struct ClientColumn {
  const char* heading;
  const char* key;
  Spread ClientColumns::*member;
};
inline constexpr std::array<ClientColumn, 4> kClientColumns = {
    {{"clients (%)", "client_accuracy", &ClientColumns::accuracy},
     {"worst client (%)", "client_accuracy_worst", &ClientColumns::worst},
     {"BMTA (%)", "best_client_accuracy", &ClientColumns::best_accuracy},
     {"BMT-F1 (%)", "best_client_macro_f1", &ClientColumns::best_macro_f1}}};

/// The clients of one seed's run.
struct SeedClients {
  ClientMetrics last;
  BestOverRounds best;
};

/// Of at least one seed.
ClientColumns client_columns(std::span<const SeedClients> seeds);

}  // namespace fedarena::results
