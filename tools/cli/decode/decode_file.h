// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "tools/cli/decode/decode_job.h"
#include "tools/cli/decode/progress.h"

namespace bulkhead::cli {

// What came of one file.
struct FileOutcome {
  Status status;
  uint64_t frames = 0;  // that were written, also where it failed later
  double seconds = 0;
  RecoveryStats recovery;
  std::vector<DamagedRange> damage;
  // Of the video stream, damaged ones included; nullopt: it was not decoded to
  // its end, and nothing made an index.
  std::optional<uint64_t> frame_count;
  std::optional<uint64_t> frame_count_from_header;
  bool reader_gone = false;  // nobody reads stdout any more
};

// Opens, decodes and writes one file. What was written before a failure stays.
FileOutcome DecodeFile(Host& host, const DecodeJob& job, Progress::Shown shown);

}  // namespace bulkhead::cli
