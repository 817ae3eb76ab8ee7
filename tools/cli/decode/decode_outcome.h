// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/application/decoding/decode_file.h"

namespace bulkhead::cli::decode {

// Functions with which `bulkhead decode` reports the result of one file.

// Returns a summary: "75 frames in 0.50 s, 150 frames/s".
std::string DescribeWork(const decoding::Outcome& outcome, bool audio);

// Prints how often the worker was replaced and the last cause, and whether the
// stream moved to another device. Prints nothing if neither happened.
void SayRecoveries(const decoding::Job& job, const RecoveryStats& recovery);

// Prints a line for each damaged range, and a line if the header counts frames
// that are missing, as in a truncated file.
void SayDamage(const decoding::Job& job, const decoding::Outcome& outcome);

// Prints a line for each note, up to kMostNotes. Notes are not failures.
void SayNotes(const decoding::Job& job, const decoding::Outcome& outcome);

// Returns the result of one file for --json. Keys have the names of the C++
// members; an unknown value is null.
nlohmann::ordered_json FactsOf(const decoding::Job& job,
                               const decoding::Outcome& outcome);

}  // namespace bulkhead::cli::decode
