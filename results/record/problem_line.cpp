#include "results/record/problem_line.hpp"

#include <filesystem>
#include <utility>

#include "results/text/text.hpp"

namespace fedarena::results {

std::string problem_line(const Error& error) {
  Complaint complaint = error.complaint();
  complaint.remedy.clear();
  complaint.place.file = std::filesystem::path(complaint.place.file).filename().string();
  return one_line(Error(std::move(complaint)).what());
}

}  // namespace fedarena::results
