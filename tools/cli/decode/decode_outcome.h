// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/cli/decode/decode_file.h"
#include "tools/cli/decode/decode_job.h"

namespace bulkhead::cli {

// What `bulkhead decode` tells of a file when it is done with it.

// "75 frames in 0.50 s, 150 frames/s"
std::string DescribeWork(const FileOutcome& outcome, bool audio);

void SayRecoveries(const DecodeJob& job, const RecoveryStats& recovery);

// A line for each range that is damaged, and one where the stream has fewer
// frames than the file's header says, as one has that is cut off.
void SayDamage(const DecodeJob& job, const FileOutcome& outcome);

// All of it. Members are those of the C++ types; what is not known is null.
nlohmann::ordered_json FactsOf(const DecodeJob& job,
                               const FileOutcome& outcome);

}  // namespace bulkhead::cli
