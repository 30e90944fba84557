#include <string_view>
#include <vector>

#include "results/number_format.hpp"
#include "results/render.hpp"

namespace fedarena::results {
namespace {

std::string csv_field(std::string_view field) {
  if (field.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(field);
  std::string text = "\"";
  for (const char letter : field) {
    if (letter == '"') text += '"';
    text += letter;
  }
  return text + '"';
}

std::string line_of(const std::vector<std::string>& fields) {
  std::string text;
  for (const std::string& field : fields) {
    if (!text.empty()) text += ',';
    text += csv_field(field);
  }
  return text + "\n";
}

}  // namespace

std::string render_csv(const Table& table) {
  std::string text =
      "experiment,dataset,partition,model,label,algorithm,rounds,seeds,accuracy_mean,accuracy_std,privacy,"
      "epsilon,uplink_bytes_per_client_round,downlink_bytes_per_client_round,seconds\n";
  for (const Row& row : table.rows) {
    text += line_of({row.setting.experiment, row.setting.dataset, row.setting.partition, row.setting.model,
                     row.label, row.algorithm, std::to_string(row.rounds), std::to_string(row.seeds.size()),
                     exact_number(row.accuracy_mean), row.accuracy_std ? exact_number(*row.accuracy_std) : "",
                     row.privacy, row.epsilon ? exact_number(*row.epsilon) : "none",
                     exact_number(row.uplink_bytes), exact_number(row.downlink_bytes),
                     exact_number(row.seconds)});
  }
  return text;
}

}  // namespace fedarena::results
