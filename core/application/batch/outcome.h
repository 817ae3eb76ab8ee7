// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/damage.h>
#include <bulkhead/host.h>

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

namespace bulkhead::batch {

// The outcome of one input in the hands of a decoder.
struct Outcome {
  Status status;
  std::optional<uint64_t> frames;  // nullopt: what was decoded has none.
  // The number of frames in the stream, including damaged ones.
  std::optional<uint64_t> frame_count;
  std::optional<uint64_t> frame_count_from_header;
  std::vector<DamagedRange> damage;
  std::vector<DamagedSamples> damaged_samples;
  uint64_t restarts = 0;  // How often a worker was replaced.
  std::optional<Failover> failover;
};

// Return these as records and `bulkhead decode --json` have them. Keys have the
// names of the C++ members; an unknown value is null.
nlohmann::ordered_json FactsOf(const DamagedRange& range);
nlohmann::ordered_json FactsOf(const DamagedSamples& damage);
nlohmann::ordered_json FactsOf(const std::optional<Failover>& failover);

}  // namespace bulkhead::batch
