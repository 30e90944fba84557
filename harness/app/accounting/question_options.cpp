#include "harness/app/accounting/question_options.hpp"

#include "harness/app/accounting/accountants.hpp"
#include "harness/app/accounting/checks.hpp"
#include "harness/app/accounting/number_text.hpp"

namespace fedarena {
namespace {

void add_choice(CLI::App& command, const std::string& option, std::string& choice,
                const std::vector<std::string>& names, const std::string& doc) {
  command
      .add_option_function<std::string>(
          option,
          [option, &choice, names](const std::string& text) {
            check_name(option, text, names);
            choice = text;
          },
          doc)
      ->type_name("NAME");
}

}  // namespace

std::vector<std::string> QuestionOptions::accountants() const {
  if (accountant.empty()) return {"rdp", "pld"};
  return {accountant};
}

Error missing_delta() {
  return Error(Complaint{.found = "--delta is missing",
                         .allowed = "a number from 0 to 1",
                         .remedy = "It should be well below one over the number of units, such as 1e-5."});
}

void add_number(CLI::App& command, const std::string& option, std::optional<double>& number,
                const Constraint& constraint, const std::string& doc) {
  command
      .add_option_function<std::string>(
          option,
          [option, &number, constraint](const std::string& text) {
            number = read_number(option, text, constraint);
          },
          doc)
      ->type_name("NUMBER");
}

void add_question_options(CLI::App& command, QuestionOptions& options) {
  command
      .add_option_function<std::string>(
          "--delta",
          [&options](const std::string& text) {
            options.settings.delta = read_number("--delta", text, Constraint::between(0, 1));
            options.has_delta = true;
          },
          "the probability with which epsilon may fail")
      ->type_name("NUMBER");
  add_choice(command, "--accountant", options.accountant, accountant_names(),
             "rdp, pld or gaussian (exact, without sampling); left out: rdp and pld");
  add_choice(command, "--orders", options.settings.orders, {"default", "opacus"},
             "rdp: default, or opacus, which published figures rest on");
  add_choice(command, "--conversion", options.settings.conversion, {"balle", "classic"},
             "rdp: balle (the default), or classic, which is looser");
  add_choice(command, "--assume", options.settings.assume, {"nothing", "poisson"},
             "nothing (the default), or poisson: account samples of a fixed size as Poisson samples, which "
             "nobody has proven right");
  add_choice(command, "--format", options.format, {"text", "json"}, "text (the default) or json");
}

}  // namespace fedarena
