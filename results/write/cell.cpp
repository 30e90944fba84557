#include "results/write/cell.hpp"

#include "fedarena/base/text.hpp"

#include "results/table/table.hpp"

namespace fedarena::results {

Cell number_cell(std::string digits, std::string spread, std::string behind) {
  Cell cell(std::move(behind));
  cell.value = parse_number<double>(digits);
  cell.digits = std::move(digits);
  cell.spread = std::move(spread);
  return cell;
}

Cell result_cell(const Result& result, PlusMinus shown) {
  const std::optional<double> spread = behind(shown, result.spread);
  const std::string text = !spread        ? ""
                           : result.share ? percent(*spread)
                                          : measured_beside(result.spread.mean, *spread);
  return number_cell(mean_text(result), text);
}

Cell published_cell(const Published& published) {
  return number_cell(exact_number(published.mean), published.std ? exact_number(*published.std) : "",
                     published.mark.empty() ? "" : " " + published.mark);
}

std::string plain_text(const Cell& cell) {
  return cell.digits + (cell.spread.empty() ? "" : " ± " + cell.spread) + cell.text;
}

}  // namespace fedarena::results
