// SPDX-License-Identifier: Apache-2.0
#include "core/worker_protocol/stream_index.h"

#include <string>

namespace bulkhead::worker_protocol {

Status ValidateStreamIndex(int32_t index_untrusted, uint32_t count_untrusted,
                           const Limits& limits) {
  if (index_untrusted < 0 ||
      static_cast<uint32_t>(index_untrusted) >= count_untrusted) {
    return Status(Code::kBackendMisbehaved,
                  "it reported a stream that does not exist");
  }
  if (count_untrusted > limits.streams) {
    return Status(Code::kBackendMisbehaved,
                  "it reported more streams than it may");
  }
  return Status();
}

Status CheckAskedStream(std::optional<int> asked, int32_t opened) {
  if (!asked || *asked == opened) return Status();
  return Status(Code::kBackendMisbehaved,
                "it opened stream " + std::to_string(opened) + ", and stream " +
                    std::to_string(*asked) + " was asked for");
}

}  // namespace bulkhead::worker_protocol
