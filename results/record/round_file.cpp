#include "results/record/round_file.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "fedarena/base/error.hpp"
#include "fedarena/base/file.hpp"

#include "results/record/json_fields.hpp"

namespace fedarena::results {
namespace {

constexpr std::size_t kReadBlock = std::size_t{1} << 18;
// The least that a line has.
constexpr std::uintmax_t kShortestLine = 180;
constexpr std::uintmax_t kMuch = std::uintmax_t{16} << 20;

[[noreturn]] void refuse_excess(Place place, std::string found, std::string allowed) {
  throw Error(
      Complaint{.place = std::move(place),
                .found = std::move(found),
                .allowed = std::move(allowed),
                .remedy = "no command reads more; restore the file if it is damaged, or leave this run out"});
}

std::string in_mebibytes(std::uintmax_t bytes) { return fmt::format("{} MiB", bytes >> 20); }

// The record of a line without its end.
RoundRecord record_of(std::string_view line, std::int64_t round, const std::filesystem::path& file) {
  const Place place{.file = file.string(), .line = static_cast<int>(round)};
  RoundRecord record = parse_round(line, place);
  if (record.round != round) {
    throw Error::at(place, fmt::format("field \"round\" is {}", record.round),
                    {.allowed = fmt::format("{}, one round a line", round), .remedy = kBrokenRecord});
  }
  return record;
}

// What commands add up over the rounds of a run: the sums have to fit where they are kept.
class RoundSums {
 public:
  void add(const RoundRecord& round, const std::filesystem::path& file) {
    add("clients", round.clients, clients_, round, file);
    add("uplink_bytes", round.uplink_bytes, bytes_, round, file);
    add("downlink_bytes", round.downlink_bytes, bytes_, round, file);
    add("gradients", round.cost.gradients, gradients_, round, file);  // at least as many as examples
    add("operations", round.cost.operations, operations_, round, file);
  }

 private:
  static void add(const char* field, std::int64_t count, std::int64_t& sum, const RoundRecord& round,
                  const std::filesystem::path& file) {
    const std::int64_t room = std::numeric_limits<std::int64_t>::max() - sum;
    if (count > room) {
      throw Error::at({.file = file.string(), .line = static_cast<int>(round.round)},
                      fmt::format("field \"{}\" is {}", field, count),
                      {.allowed = fmt::format("at most {}, so that rounds can be added up", room),
                       .remedy = kBrokenRecord});
    }
    sum += count;
  }

  std::int64_t clients_ = 0, bytes_ = 0, gradients_ = 0, operations_ = 0;
};

}  // namespace

std::size_t size_in_memory(const RoundRecord& record) {
  std::size_t size = sizeof(record) + record.choices.size() * sizeof(ModelChoice) +
                     record.observed.size() * sizeof(std::pair<std::string, double>);
  for (const auto& [name, value] : record.observed) size += name.size();  // beyond their strings, maybe
  if (record.classes) size += record.classes->accuracy.size() * sizeof(std::optional<double>);
  return size;
}

// Every line ends with a line feed, so that what follows the last one is the torn end of an interrupted
// write.
RoundLines for_each_round(const std::filesystem::path& file,
                          const std::function<void(RoundRecord record)>& take, const RoundLimits& limits) {
  const RegularFile opened(file);
  RoundLines lines;
  std::string block(kReadBlock, '\0');
  std::string begun;  // of a line that goes on in the next block
  RoundSums sums;
  std::uintmax_t begin = 0;
  const auto check_size = [&](std::uintmax_t size) {
    if (size > limits.file)
      refuse_excess({.file = file.string()}, fmt::format("has more than {}", in_mebibytes(limits.file)),
                    fmt::format("at most {} of rounds", in_mebibytes(limits.file)));
  };
  check_size(opened.size());
  while (true) {
    const auto count = read_some(opened.descriptor(), std::as_writable_bytes(std::span(block)));
    if (count < 0) fail_on_file(file, "cannot be read", errno);
    if (count == 0) return lines;
    lines.size += static_cast<std::uintmax_t>(count);
    check_size(lines.size);  // the run may be at work
    std::string_view rest(block.data(), static_cast<std::size_t>(count));
    const auto round = [&] { return static_cast<std::int64_t>(lines.ends.size()) + 1; };
    for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
      std::string_view line = rest.substr(0, end);
      if (!begun.empty()) line = begun.append(line);
      RoundRecord record = record_of(line, round(), file);
      sums.add(record, file);
      begin += line.size() + 1;
      lines.ends.push_back(begin);
      begun.clear();
      rest.remove_prefix(end + 1);
      take(std::move(record));
    }
    begun.append(rest);
    if (begun.size() > limits.line) {
      refuse_excess({.file = file.string(), .line = static_cast<int>(round())},
                    fmt::format("a line of more than {}", in_mebibytes(limits.line)),
                    fmt::format("at most {}", in_mebibytes(limits.line)));
    }
  }
}

std::vector<RoundRecord> all_rounds(const std::filesystem::path& file, const RoundLimits& limits) {
  std::vector<RoundRecord> records;
  std::error_code ignored;  // the reader says what is wrong with the file
  const std::uintmax_t bytes = std::filesystem::file_size(file, ignored);
  // A long list that grows lies in memory twice for a moment. What is reserved and never used is not there.
  if (!ignored && bytes > kMuch)
    records.reserve(std::min<std::uintmax_t>(bytes / kShortestLine, limits.records / sizeof(RoundRecord)) +
                    1);
  std::size_t size = 0;
  const auto keep = [&](RoundRecord record) {
    size += size_in_memory(record);
    if (size > limits.records) {
      refuse_excess(
          {.file = file.string(), .line = static_cast<int>(record.round)},
          fmt::format("the rounds so far take more than {} of memory", in_mebibytes(limits.records)),
          fmt::format("at most {}", in_mebibytes(limits.records)));
    }
    records.push_back(std::move(record));
  };
  for_each_round(file, keep, limits);
  return records;
}

}  // namespace fedarena::results
