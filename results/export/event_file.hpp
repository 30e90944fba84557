#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "results/export/exported_runs.hpp"

namespace fedarena::results {

/// A message in protobuf's wire format, field after field. Fields are given by number; what they mean is up
/// to the reader's schema.
class ProtobufMessage {
 public:
  /// int32, int64, enum; not negative.
  ProtobufMessage& integer(std::uint32_t field, std::uint64_t value);
  ProtobufMessage& real(std::uint32_t field, double value);
  ProtobufMessage& real(std::uint32_t field, float value);
  /// string, bytes.
  ProtobufMessage& bytes(std::uint32_t field, std::string_view value);
  /// A message within the message.
  ProtobufMessage& message(std::uint32_t field, const ProtobufMessage& value);

  const std::string& encoded() const { return encoded_; }

 private:
  void varint(std::uint64_t value);
  void tag(std::uint32_t field, std::uint32_t wire_type);

  std::string encoded_;
};

/// A record of a TFRecord file, as TensorFlow documents the format: the length in eight bytes, its masked
/// CRC-32C, the bytes, their masked CRC-32C.
std::string tf_record(std::string_view bytes);

/// The CRC-32C (Castagnoli) of these bytes, as RFC 3720 defines it: polynomial 0x1EDC6F41, reflected, begun
/// and ended with all bits inverted.
std::uint32_t crc32c(std::string_view bytes);

/// The name of a run's event file; TensorBoard reads files whose names hold "tfevents".
inline constexpr const char* kEventFile = "events.out.tfevents.0000000000.fedarena";

/// What a run is, how it was set, and what its epsilons rest on, as a Markdown table of names and values.
/// `control`: see `is_control`.
std::string settings_text(const Summary& summary, bool control = false);

/// A run as an event file of TensorBoard: its settings as text, and for every round the scalars
/// "<group>/<measure>" with the round as step. Scalars are floats of four bytes; what is larger becomes
/// infinite, and an epsilon is rounded up. An event's time is the seconds that the run has taken so far, so
/// that the bytes depend on the record alone; a second a round where they would tell the sizes of samples
/// that privacy keeps secret.
std::string event_file(const ExportedRun& run, const Measures& measures = {});

}  // namespace fedarena::results
