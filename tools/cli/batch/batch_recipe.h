// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/application/batch/record.h"
#include "tools/cli/decode/decode_jobs.h"
#include "tools/cli/options.h"

namespace bulkhead::cli::batch {

// Returns the options that may change an output, as typed. The batch stores
// them in the record of each input. They are the format, the device, on_corrupt
// and all options that differ from their default.
bulkhead::batch::Record OptionsForRecords(const decode::DecodeOptions& options,
                                          const GlobalOptions& global,
                                          const std::string& format);

}  // namespace bulkhead::cli::batch
