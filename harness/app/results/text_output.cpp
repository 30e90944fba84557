#include "harness/app/results/text_output.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "fedarena/base/print.hpp"

#include "harness/app/options.hpp"
#include "results/record/durable_file.hpp"
#include "results/text/number_format.hpp"

namespace fedarena {
namespace {

const std::map<std::string, std::string>& endings() {
  static const std::map<std::string, std::string> kEndings{
      {"csv", ".csv"}, {"html", ".html"}, {"json", ".json"}, {"latex", ".tex"}, {"markdown", ".md"}};
  return kEndings;
}

}  // namespace

void add_text_output(CLI::App& command, TextOutput& output) {
  add_choice(command, "--format", output.format, keys_of(endings()),
             "csv, html, json, latex or markdown; the default is what the ending of -o says, or markdown");
  add_value(command, "-o,--output", "FILE", output.file,
            "the file to write in place of the terminal: .csv, .html, .json, .md or .tex");
}

std::string format_of(const TextOutput& output) {
  if (!output.file) return output.format.empty() ? "markdown" : output.format;
  std::vector<std::string> allowed;
  for (const auto& [format, ending] : endings()) {
    if (output.format.empty() || output.format == format) allowed.push_back(ending);
  }
  check_output("--output", *output.file, allowed);
  const auto chosen = std::ranges::find(endings(), output.file->extension().string(),
                                        &std::pair<const std::string, std::string>::second);
  return chosen->first;
}

void write_text(const TextOutput& output, const std::string& format, const std::string& text,
                const std::vector<std::string>& notes) {
  if (output.file) {
    results::replace_file(*output.file, text);
    print("{}: {}\n", output.file->string(), results::human_bytes(static_cast<double>(text.size())));
  } else {
    print("{}", text);
  }
  if (format != "csv") return;
  for (const std::string& note : notes) print(stderr, "note: {}\n", note);
}

}  // namespace fedarena
