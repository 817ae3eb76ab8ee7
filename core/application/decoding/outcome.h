// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/damage.h>
#include <bulkhead/host.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace bulkhead::decoding {

// The outcome of decoding one input. `bulkhead decode` reports it, and the
// batch engine makes the input's record from it.
struct Outcome {
  Status status;
  // The number of frames written, including those before a failure. Unknown
  // (nullopt) for audio and probes, and where Python could not open the input.
  // If DecodeFile() could not open the input, 0.
  std::optional<uint64_t> frames = {};
  // The number of frames in the video stream, including damaged ones. Unknown
  // (nullopt) if the stream was neither indexed nor decoded to its end.
  std::optional<uint64_t> frame_count = {};
  // As in VideoMetadata.
  std::optional<uint64_t> frame_count_from_header = {};
  std::vector<DamagedRange> damage = {};             // Of video.
  std::vector<DamagedSamples> damaged_samples = {};  // Of audio.
  RecoveryStats recovery = {};
  double seconds = 0;  // The time of decoding, without that of opening.
  // The header counts frames that the stream does not have, as in a truncated
  // file.
  bool lacks_frames = false;
  // `status` says why the output could not be opened or written. The input may
  // be sound.
  bool output_failed = false;
  // The reader of stdout has gone away, so that no output can be written.
  bool reader_gone = false;
};

// Returns the JSON of a value, or null if there is none.
template <typename Value>
nlohmann::ordered_json OrNull(const std::optional<Value>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json();
}

// Each function returns the JSON of its argument, for records and for `bulkhead
// decode --json`. The keys are the names of the C++ members; an unknown value
// is null.
nlohmann::ordered_json FactsOf(const DamagedRange& range);
nlohmann::ordered_json FactsOf(const DamagedSamples& damage);
nlohmann::ordered_json FactsOf(const std::optional<Failover>& failover);

}  // namespace bulkhead::decoding
