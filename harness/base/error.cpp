#include "fedarena/base/error.hpp"

#include "fedarena/base/text.hpp"

namespace fedarena {
namespace {

// Names and texts of hostile input may have any length.
Complaint readable(Complaint complaint) {
  constexpr std::size_t kLongest = 2000;
  for (std::string* part :
       {&complaint.place.file, &complaint.found, &complaint.allowed, &complaint.nearest, &complaint.remedy})
    *part = shortened(*part, kLongest);
  return complaint;
}

std::string compose(const Complaint& complaint) {
  std::string text = complaint.place.str();
  if (!text.empty()) text += ": ";
  text += complaint.found;
  if (!complaint.allowed.empty()) text += "; allowed: " + complaint.allowed;
  if (!complaint.nearest.empty()) text += "; did you mean \"" + complaint.nearest + "\"?";
  bool begins = !complaint.remedy.empty();
  for (const char letter : complaint.remedy) {
    if (begins) text += "\n  ";
    begins = letter == '\n';
    if (!begins) text += letter;
  }
  return text;
}

}  // namespace

std::string Place::str() const {
  std::string text = file;
  if (line > 0) text += fmt::format(":{}", line);
  if (line > 0 && column > 0) text += fmt::format(":{}", column);
  return text;
}

Error::Error(Complaint complaint)
    : std::runtime_error(compose(readable(complaint))), complaint_(readable(std::move(complaint))) {}

Error Error::at(Place place, std::string found, Complaint rest) {
  rest.place = std::move(place);
  rest.found = std::move(found);
  return Error(std::move(rest));
}

namespace detail {

void fail_check(std::string_view condition, std::string_view values, std::string_view file, int line) {
  throw Bug(fmt::format("{}:{}: check failed: {} ({})", file, line, condition, values));
}

}  // namespace detail
}  // namespace fedarena
