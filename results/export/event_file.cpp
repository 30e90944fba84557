#include "results/export/event_file.hpp"

#include <bit>
#include <cmath>
#include <concepts>
#include <limits>
#include <string_view>

#include <boost/crc.hpp>
#include <fmt/format.h>

#include "results/record/claim_text.hpp"
#include "results/record/run_setup.hpp"
#include "results/table/notes.hpp"
#include "results/text/markup.hpp"
#include "results/text/number_format.hpp"

namespace fedarena::results {
namespace {

// Wire types of the protobuf encoding.
constexpr std::uint32_t kVarint = 0;
constexpr std::uint32_t kEightBytes = 1;
constexpr std::uint32_t kLengthDelimited = 2;
constexpr std::uint32_t kFourBytes = 5;

// The bytes of a number, the least significant first.
template <std::unsigned_integral Number>
std::string little_endian(Number number) {
  std::string bytes;
  for (unsigned shift = 0; shift < 8 * sizeof(Number); shift += 8) {
    bytes += static_cast<char>(static_cast<unsigned char>(number >> shift));
  }
  return bytes;
}

// Checksums of bytes that hold checksums are weak, hence TensorFlow turns and shifts those that it stores.
std::uint32_t masked_crc32c(std::string_view bytes) {
  constexpr std::uint32_t kMaskDelta = 0xA282EAD8;
  const std::uint32_t checksum = crc32c(bytes);
  return ((checksum >> 15) | (checksum << 17)) + kMaskDelta;
}

// Numbers of fields, as TensorFlow's event.proto, summary.proto, tensor.proto and types.proto give them.
namespace event {
constexpr std::uint32_t kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5;
}
namespace summary {
constexpr std::uint32_t kValue = 1;
}
namespace value {
constexpr std::uint32_t kTag = 1, kSimpleValue = 2, kTensor = 8, kMetadata = 9;
}
namespace metadata {
constexpr std::uint32_t kPluginData = 1, kPluginName = 1;
}
namespace tensor {
constexpr std::uint32_t kDtype = 1, kShape = 2, kStringValue = 8;
constexpr std::uint64_t kString = 7;  // of the dtypes
}  // namespace tensor

// A double that no float holds has no defined conversion.
float as_float(double number) {
  if (std::abs(number) <= std::numeric_limits<float>::max() || std::isnan(number)) {
    return static_cast<float>(number);
  }
  return number > 0 ? std::numeric_limits<float>::infinity() : -std::numeric_limits<float>::infinity();
}

ProtobufMessage scalar(const RoundValue& number) {
  ProtobufMessage message;
  message.bytes(value::kTag, std::string(number.group) + "/" + number.name);
  float real = as_float(number.number);
  if (number.upper_bound && real < number.number) real = std::nextafter(real, HUGE_VALF);
  message.real(value::kSimpleValue, real);
  return message;
}

ProtobufMessage text_summary(const std::string& tag, const std::string& text) {
  ProtobufMessage plugin;
  plugin.message(metadata::kPluginData, ProtobufMessage().bytes(metadata::kPluginName, "text"));
  ProtobufMessage strings;
  strings.integer(tensor::kDtype, tensor::kString);
  strings.message(tensor::kShape, ProtobufMessage());
  strings.bytes(tensor::kStringValue, text);
  ProtobufMessage message;
  message.bytes(value::kTag, tag).message(value::kTensor, strings).message(value::kMetadata, plugin);
  return ProtobufMessage().message(summary::kValue, message);
}

std::string event_record(double seconds, std::int64_t round, const ProtobufMessage& summary) {
  ProtobufMessage message;
  message.real(event::kWallTime, seconds).integer(event::kStep, static_cast<std::uint64_t>(round));
  message.message(event::kSummary, summary);
  return tf_record(message.encoded());
}

}  // namespace

// Seven bits a byte, the least significant first; the eighth says that more follow.
void ProtobufMessage::varint(std::uint64_t value) {
  constexpr std::uint64_t kMore = 0x80;
  for (; value >= kMore; value >>= 7)
    encoded_ += static_cast<char>(static_cast<unsigned char>(value | kMore));
  encoded_ += static_cast<char>(static_cast<unsigned char>(value));
}

void ProtobufMessage::tag(std::uint32_t field, std::uint32_t wire_type) { varint(field << 3 | wire_type); }

ProtobufMessage& ProtobufMessage::integer(std::uint32_t field, std::uint64_t value) {
  tag(field, kVarint);
  varint(value);
  return *this;
}

ProtobufMessage& ProtobufMessage::real(std::uint32_t field, double value) {
  tag(field, kEightBytes);
  encoded_ += little_endian(std::bit_cast<std::uint64_t>(value));
  return *this;
}

ProtobufMessage& ProtobufMessage::real(std::uint32_t field, float value) {
  tag(field, kFourBytes);
  encoded_ += little_endian(std::bit_cast<std::uint32_t>(value));
  return *this;
}

ProtobufMessage& ProtobufMessage::bytes(std::uint32_t field, std::string_view value) {
  tag(field, kLengthDelimited);
  varint(value.size());
  encoded_ += value;
  return *this;
}

ProtobufMessage& ProtobufMessage::message(std::uint32_t field, const ProtobufMessage& value) {
  return bytes(field, value.encoded());
}

std::string tf_record(std::string_view bytes) {
  const std::string length = little_endian(static_cast<std::uint64_t>(bytes.size()));
  std::string record = length + little_endian(masked_crc32c(length));
  record += bytes;
  return record + little_endian(masked_crc32c(bytes));
}

std::uint32_t crc32c(std::string_view bytes) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> checksum;
  checksum.process_bytes(bytes.data(), bytes.size());
  return static_cast<std::uint32_t>(checksum.checksum());
}

std::string settings_text(const Summary& summary, bool control) {
  std::string text = "| setting | value |\n|:--|:--|\n";
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!value.empty()) text += fmt::format("| {} | {} |\n", markdown_escaped(name), markdown_escaped(value));
  };
  add("experiment", summary.experiment);
  add("data set", summary.dataset);
  add("note on the data", summary.dataset_note);
  add("partition", summary.partition);
  add("model", summary.model);
  for (const auto& [path, value] : summary.sweep) add(path, value);
  add("algorithm", summary.algorithm);
  add("label", summary.label);
  for (const auto& [name, value] : summary.algorithm_parameters) add(name, value);
  if (summary.tuning) {
    add("tuned by", trials_text(summary.tuning));
    add("chosen by tuning", chosen_text(*summary.tuning, summary.label));
  }
  add("seed", std::to_string(summary.seed));
  add("rounds", std::to_string(summary.rounds));
  add("clients", std::to_string(summary.clients));
  add("numbers in the model", std::to_string(summary.parameters));
  add("privacy policy", summary.policy);
  if (summary.privacy) {
    add("adjacency", summary.privacy->adjacency);
    add("delta", short_number(summary.privacy->settings.delta));
    add("orders of RDP", summary.privacy->settings.orders);
    add("conversion of RDP", summary.privacy->settings.conversion);
    add("epsilon assumes", assumption(summary));
    add("epsilon takes as public, beside sizes", public_text(*summary.privacy));
    if (control) add("control of an audit", "ran without noise, so epsilon is infinite");
  }
  return text;
}

std::string event_file(const ExportedRun& run, const Measures& measures) {
  const bool secret = is_secret(DrawnSizes::kBatches, run.summary.privacy);
  double seconds = 0;
  std::string file = tf_record(ProtobufMessage()
                                   .real(event::kWallTime, seconds)
                                   .bytes(event::kFileVersion, "brain.Event:2")
                                   .encoded());
  file += event_record(
      seconds, 0,
      text_summary("settings", settings_text(run.summary, is_control(run.summary, run.settings))));
  for (const RoundRecord& round : run.rounds) {
    seconds += secret ? 1 : round.train_seconds + round.evaluation_seconds;
    ProtobufMessage scalars;
    for (const RoundValue& number : round_values(run, round, measures)) {
      scalars.message(summary::kValue, scalar(number));
    }
    file += event_record(seconds, round.round, scalars);
  }
  return file;
}

}  // namespace fedarena::results
