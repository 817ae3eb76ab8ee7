// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/damage.h>
#include <bulkhead/host.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

namespace bulkhead::batch {

// The outcome of decoding one input, as the caller's decoder reports it.
// MakeRecord() makes the record of the input from it.
struct Outcome {
  Status status;
  // The number of frames written; nullopt for audio and probes.
  std::optional<uint64_t> frames;
  // The number of frames in the stream, including damaged ones; nullopt if
  // unknown.
  std::optional<uint64_t> frame_count;
  std::optional<uint64_t> frame_count_from_header;
  std::vector<DamagedRange> damage;             // Of video.
  std::vector<DamagedSamples> damaged_samples;  // Of audio.
  uint64_t restarts = 0;  // The number of times that a worker was replaced.
  std::optional<Failover> failover;
};

// Each function returns the JSON of its argument, for records and for `bulkhead
// decode --json`. The keys are the names of the C++ members; an unknown value
// is null.
nlohmann::ordered_json FactsOf(const DamagedRange& range);
nlohmann::ordered_json FactsOf(const DamagedSamples& damage);
nlohmann::ordered_json FactsOf(const std::optional<Failover>& failover);

}  // namespace bulkhead::batch
