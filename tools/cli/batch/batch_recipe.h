// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/application/batch/outcome.h"
#include "core/application/batch/record.h"
#include "tools/cli/decode/decode_file.h"
#include "tools/cli/decode/decode_job.h"
#include "tools/cli/options.h"

namespace bulkhead::cli {

// Functions for what a batch takes over from `bulkhead decode`.

// Returns the options that change an output, for records: those that were
// given, as they were typed.
batch::Record OptionsForRecords(const DecodeOptions& options,
                                const GlobalOptions& global,
                                const std::string& format);

batch::Outcome OutcomeOf(const DecodeJob& job, const FileOutcome& outcome);

}  // namespace bulkhead::cli
