#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "fedarena/accounting/account.hpp"
#include "fedarena/accounting/event.hpp"
#include "fedarena/base/error.hpp"
#include "fedarena/base/schema.hpp"

#include "harness/app/accounting/accountants.hpp"
#include "results/record/json_fields.hpp"

namespace fedarena {

/// How to account and what to print, as several commands ask it.
struct QuestionOptions {
  std::string accountant;  ///< "": RDP and PLD
  AccountSettings settings;
  bool has_delta = false;
  std::string format = "text";

  /// The accountants that are asked.
  std::vector<std::string> accountants() const;
  bool json() const { return format == "json"; }
};

/// Adds --delta, --accountant, --orders, --conversion, --assume and --format.
void add_question_options(CLI::App& command, QuestionOptions& options);

/// The Error for a command line without --delta.
Error missing_delta();

/// What one accountant says of what a command is asked for.
struct Finding {
  Answer answer = {};
  double number = 0;        ///< what is asked for; this and the others mean nothing without a proof
  std::string text = {};    ///< the number as it is printed
  results::Json json = {};  ///< and as JSON has it
  std::size_t unit = 0;     ///< epsilon: of the unit that is worst off
  Solution solution = {};   ///< noise: what keeps epsilon

  bool proven() const { return answer.claim.epsilon.has_value(); }
};

/// What each accountant of the options says. One that throws Error has found nothing, for that reason; where
/// no other is asked, the Error goes on.
std::vector<Finding> ask_each(const QuestionOptions& options,
                              const std::function<Finding(const std::string& accountant)>& ask);

/// The proven finding with the least number, or with the greatest. Throws Error where no accountant has an
/// answer, with the reasons.
const Finding& best_of(const std::vector<Finding>& findings, bool least);

/// "RDP at order 6 (orders opacus, conversion balle)", "PLD", "exact".
std::string explanation(const Answer& answer, const AccountSettings& settings);

/// What an answer is said of: the accesses of the unit that is worst off, and the neighbours that all units'
/// accesses hide.
struct Subject {
  std::vector<Access> accesses;
  std::set<Adjacency> neighbours;

  /// The settings may assume other neighbours than the accesses say.
  Subject(const AccountSettings& settings, const std::vector<std::vector<Access>>& units,
          std::size_t worst = 0);
};

/// Prints the numbers on stdout, and on stderr what they are: the claim and what it is said of.
void print_text(const std::vector<Finding>& findings, const Subject& subject, const AccountSettings& settings,
                const std::string& claim, const char* before_accesses);

/// Adds whose answer is best, and under the key what each accountant found.
void add_findings(results::Json& json, const std::string& key, const std::vector<Finding>& findings,
                  const Finding& best);

/// Adds what every answer says of its question, and prints it.
void print_json(results::Json json, const Subject& subject, const AccountSettings& settings);

}  // namespace fedarena
