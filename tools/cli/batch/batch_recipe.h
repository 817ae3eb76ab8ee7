// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/application/batch/outcome.h"
#include "core/application/batch/record.h"
#include "tools/cli/decode/decode_file.h"
#include "tools/cli/decode/decode_job.h"
#include "tools/cli/options.h"

namespace bulkhead::cli {

// Functions that convert the options and the outcomes of `bulkhead decode` into
// the types of the batch engine (core/application/batch).

// Returns the options that may change an output, as typed, for the record of
// each input: format, device, on_corrupt, and the others that the user gave.
batch::Record OptionsForRecords(const DecodeOptions& options,
                                const GlobalOptions& global,
                                const std::string& format);

// Returns the outcome of `job` for batch::Attempt::Finish().
batch::Outcome OutcomeOf(const DecodeJob& job, const FileOutcome& outcome);

}  // namespace bulkhead::cli
