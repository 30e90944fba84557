#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "fedarena/accounting/account.hpp"
#include "fedarena/accounting/calibration.hpp"

#include "results/record/json_fields.hpp"

namespace fedarena {

/// "rdp", "pld" and "gaussian". The last one is exact, and knows Gaussian mechanisms without sampling only.
const std::vector<std::string>& accountant_names();

/// What the commands ask an accountant.
struct Question {
  std::vector<Access> accesses;
  AccountSettings settings;
  bool lower = false;  ///< a lower bound on epsilon as well, of PLD
};

/// What an accountant says of what a command is asked for.
struct Answer {
  std::string accountant = {};
  std::string unproven = {};         ///< why it has no answer; then the others mean nothing
  double number = 0;                 ///< what is asked for
  std::string text = {};             ///< the number as it is printed
  results::Json json = {};           ///< and as JSON has it
  std::size_t unit = 0;              ///< epsilon, delta: of the unit that is worst off
  Solution solution = {};            ///< noise: what keeps epsilon
  double order = 0;                  ///< the best order of RDP; infinity: the sum of pure epsilons; 0: none
  std::optional<double> lower = {};  ///< no smaller epsilon is true
  std::string no_lower = {};         ///< why there is none, where one was asked for
  bool wide = false;  ///< of PLD: an upper bound that is not certified to be within 0.1 % of the truth

  bool proven() const { return unproven.empty(); }
};

/// The epsilon at the delta of the settings, as the answer's number. Throws Unproven for accesses that it has
/// no bound for, Error for what it does not take; so do the others.
Answer ask(const std::string& accountant, const Question& question);

/// The least delta at which the accountant proves `epsilon`. The delta of the settings does not matter.
Answer ask_delta(const std::string& accountant, const Question& question, double epsilon);

/// The accountant as a function, to calibrate with.
EpsilonOf epsilon_by(const std::string& accountant, const AccountSettings& settings, Sampling sampling,
                     Adjacency adjacency);

}  // namespace fedarena
