// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/cli/decode/decode_file.h"
#include "tools/cli/decode/decode_job.h"

namespace bulkhead::cli {

// Functions by which `bulkhead decode` reports the result of one file.

// Returns the failure with the advice in words of the command, where the
// library's is for C++.
Status InWordsOfTheCommand(const Status& status);

// Returns a summary: "75 frames in 0.50 s, 150 frames/s".
std::string DescribeWork(const FileOutcome& outcome, bool audio);

// Prints how often the worker was replaced, and the last cause; nothing if it
// never was.
void SayRecoveries(const DecodeJob& job, const RecoveryStats& recovery);

// Prints a line for each damaged range, and one if frames are missing that the
// file's header counts, as in a truncated file.
void SayDamage(const DecodeJob& job, const FileOutcome& outcome);

// Prints a line for each note, up to a number. Notes are no failure.
void SayNotes(const DecodeJob& job, const FileOutcome& outcome);

// Returns the whole result for --json. Keys have the names of the C++ members;
// an unknown value is null.
nlohmann::ordered_json FactsOf(const DecodeJob& job,
                               const FileOutcome& outcome);

}  // namespace bulkhead::cli
