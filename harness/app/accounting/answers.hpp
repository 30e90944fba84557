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

/// What each accountant of the options says. One that throws Error has no answer, for that reason; where no
/// other is asked, the Error goes on.
std::vector<Answer> ask_each(const QuestionOptions& options,
                             const std::function<Answer(const std::string& accountant)>& ask);

/// The proven answer with the least number, or with the greatest. Throws Error where no accountant has an
/// answer, with the reasons.
const Answer& best_of(const std::vector<Answer>& answers, bool least);

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
void print_text(const std::vector<Answer>& answers, const Subject& subject, const AccountSettings& settings,
                const std::string& claim, const char* before_accesses);

/// Adds whose answer is best, and under the key what each accountant says.
void add_answers(results::Json& json, const std::string& key, const std::vector<Answer>& answers,
                 const Answer& best);

/// Adds what every answer says of its question, and prints it.
void print_json(results::Json json, const Subject& subject, const AccountSettings& settings);

}  // namespace fedarena
