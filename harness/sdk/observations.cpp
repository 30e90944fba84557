#include "fedarena/observations.hpp"

#include <algorithm>

#include "fedarena/base/error.hpp"

namespace fedarena {
namespace {

constexpr std::size_t kMostCharacters = 40;
// Of one name, over all clients of a round.
constexpr std::int64_t kMostValues = 1'000'000'000'000'000'000;

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_name(std::string_view text) {
  if (text.empty() || text.size() > kMostCharacters || !is_letter(text.front()) || text.back() == '-')
    return false;
  return text.find("--") == std::string_view::npos && std::all_of(text.begin(), text.end(), [](char c) {
           return is_letter(c) || is_digit(c) || c == '-';
         });
}

}  // namespace

void Observations::add(std::string_view name, const Values& values) {
  if (closed_) {
    throw Error(
        Complaint{.found = fmt::format("the observation \"{}\" is recorded inside of a vote", name),
                  .allowed = "what votes answer, and nothing else, while private examples are in their hands",
                  .remedy = "Record what the oracle answered, after noisy_sum() has returned"});
  }
  const auto found = values_.find(name);
  if (found == values_.end() && !is_name(name)) {
    throw Error(Complaint{
        .found = fmt::format("an observation is called \"{}\"", name),
        .allowed =
            fmt::format("small letters, digits and single hyphens, a letter first, at most {} characters",
                        kMostCharacters)});
  }
  const std::int64_t before = found == values_.end() ? 0 : found->second.count;
  if (values.count < 1 || values.count > kMostValues - before) {
    throw Error(Complaint{
        .found = fmt::format("the observation \"{}\" is recorded as {} values at once", name, values.count),
        .allowed = fmt::format("1 or more, {} of a name in all", kMostValues),
        .remedy = "What is written down is the mean: leave out what nothing was observed of"});
  }
  Values& all = found == values_.end() ? values_[std::string(name)] : found->second;
  all.sum += values.sum;
  all.count += values.count;
}

void Observations::add(const Observations& others) {
  for (const auto& [name, values] : others.values_) add(name, values);
}

}  // namespace fedarena
