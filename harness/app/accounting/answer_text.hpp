#pragma once

#include <string>
#include <vector>

#include "fedarena/base/error.hpp"

#include "harness/app/accounting/accountants.hpp"
#include "harness/app/accounting/question_options.hpp"
#include "results/record/json_fields.hpp"

namespace fedarena {

/// "RDP at order 6 (orders opacus, conversion balle)", "PLD", "exact".
std::string explanation(const Answer& answer, const AccountSettings& settings);

/// One line for each kind of access: "200 x Poisson-sampled Gaussian (rate 0.01, noise multiplier 1)".
std::string access_lines(const std::vector<Access>& accesses);

/// The neighbours that the accesses protect: a name, "mixed", or "none" where the mechanism knows of none.
std::string adjacency_of(const std::vector<Access>& accesses);

/// How units were sampled: a name, "mixed", or "none".
std::string sampling_of(const std::vector<Access>& accesses);

/// What every answer in JSON says of its question.
void describe_question(results::Json& json, const std::vector<Access>& accesses,
                       const AccountSettings& settings);

/// ", ASSUMING ..." where the answer rests on what the settings assume, else nothing.
std::string assumption_text(const std::vector<Access>& accesses, const AccountSettings& settings);

/// What one accountant cannot do need not stop another: the answer that says why. Where no other is asked,
/// throws the error again.
Answer refusal(const std::string& accountant, const Error& error, const QuestionOptions& options);

/// Throws the Error for a question that no accountant has an answer to.
[[noreturn]] void refuse_unproven(const std::vector<Answer>& answers);

}  // namespace fedarena
