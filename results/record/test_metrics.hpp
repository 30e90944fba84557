#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fedarena::results {

/// How often a class is the true one, the answer, and both.
struct ClassCount {
  std::int64_t examples = 0, predicted = 0, correct = 0;
};

/// What one evaluation says of each class.
struct ClassMetrics {
  std::vector<std::optional<double>> accuracy;  ///< [classes], a fraction; none where a class has no example
  double macro_f1 = 0;                          ///< see `macro_f1`
  bool operator==(const ClassMetrics&) const = default;
};

/// What one evaluation says of clients, each tested on test examples of its own. Clients without any do not
/// count; every other client counts alike.
struct ClientMetrics {
  std::int64_t tested = 0;    ///< clients that have test examples, at least one
  double accuracy_mean = 0;   ///< a fraction
  double accuracy_worst = 0;  ///< the least of any client
  double accuracy_std = 0;    ///< divisor n: these are all clients, not a sample
  double macro_f1_mean = 0;
  std::int64_t diverged = 0;  ///< clients of a nan or infinite loss, whose accuracy is that of guessing
  bool operator==(const ClientMetrics&) const = default;
};

/// The same of regression data: clients' root mean squared errors, in the target's unit; each may be nan or
/// infinite.
struct ClientErrors {
  std::int64_t tested = 0;  ///< as above
  double rmse_mean = 0;
  double rmse_worst = 0;  ///< the largest of any client; nan, where there is one, is larger than any number
  double rmse_std = 0;    ///< divisor n
  bool operator==(const ClientErrors&) const = default;
};

/// A client's own evaluation.
struct ClientScore {
  std::int64_t client = 0;          ///< its number in the federation
  std::int64_t test_examples = 0;   ///< that it was tested on, at least one
  double accuracy = 0;              ///< a fraction; 0 on regression data
  double macro_f1 = 0;              ///< see `macro_f1`; 0 on regression data
  std::optional<double> rmse = {};  ///< on regression data alone
  bool diverged = false;            ///< its loss is nan or infinite; false on regression data
  bool operator==(const ClientScore&) const = default;
};

/// What each client's test said after one round: `clients.json`.
struct ClientScores {
  std::int64_t round = 1;            ///< from 1
  std::vector<ClientScore> clients;  ///< those that were tested, at least one, ascending; all with an
                                     ///< accuracy or all with an error
  bool operator==(const ClientScores&) const = default;
};

/// The largest mean over clients of all evaluated rounds (PPPFL: BMTA and
/// BMT-F1). They are chosen on test examples, which the last round's numbers are not.
struct BestOverRounds {
  double accuracy_mean = 0;
  std::int64_t accuracy_round = 0;  ///< the first with that mean
  double macro_f1_mean = 0;
  std::int64_t macro_f1_round = 0;
  bool operator==(const BestOverRounds&) const = default;
};

/// One evaluated round of a run.
struct EvaluatedRound {
  std::int64_t round = 0;
  ClientMetrics clients;
};

/// The mean of 2 correct / (examples + predicted) over the classes that occur among examples or answers; 0
/// where none does.
double macro_f1(std::span<const ClassCount> classes);

ClassMetrics class_metrics(std::span<const ClassCount> classes);

/// Of at least one client, all with an accuracy.
ClientMetrics client_metrics(std::span<const ClientScore> clients);

/// Of at least one client, all with an error.
ClientErrors client_errors(std::span<const ClientScore> clients);

/// Of at least one round.
BestOverRounds best_over_rounds(std::span<const EvaluatedRound> rounds);

/// The root mean squared error of a regression, from its loss: half the squared distance between output and
/// target, averaged over the test examples.
inline double root_mean_squared_error(double loss) { return 2 * std::sqrt(loss / 2); }

/// The JSON text, one line a client. Scores that could not be read back are a Bug.
std::string to_json_text(const ClientScores& scores);

/// Reads such a text. Anything but whole, valid scores is an Error that names `file` and the field.
ClientScores parse_client_scores(std::string_view text, const std::string& file);

}  // namespace fedarena::results
