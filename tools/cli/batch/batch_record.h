// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "tools/cli/batch/batch_directory.h"
#include "tools/cli/batch/batch_plan.h"
#include "tools/cli/batch/content_hash.h"
#include "tools/cli/decode/decode_file.h"
#include "tools/cli/decode/decode_job.h"
#include "tools/cli/options.h"

namespace bulkhead::cli {

// The record of one input: one line of JSON. A record does not say when, where
// and by which shard it was written, so that any division of a batch leaves the
// same records, unless workers died.
using BatchRecord = nlohmann::ordered_json;

// Returns a path as records have it: a byte that is not UTF-8, and a backslash,
// is \xHH, in lower case. So each path has a text of its own, and whoever puts
// the byte HH back for each \xHH has the path.
std::string TextOf(std::string_view path);

// Returns the options that change an output, for records: those that were
// given, as they were typed.
BatchRecord OptionsForRecords(const DecodeOptions& options,
                              const GlobalOptions& global,
                              const std::string& format);

// Returns the versions of Bulkhead and of the backend that has `device`, and
// the tier of the sandbox in which the backend runs.
Result<BatchRecord> MakersForRecords(Host& host, const std::string& device);

// Returns the record of an input that was decoded, or failed for a reason of
// its own. `makers` are those of MakersForRecords. `output_bytes` is the size
// of the output.
BatchRecord MakeRecord(const BatchItem& item, const FileStamp& stamp,
                       const std::optional<std::string>& sha256,
                       const BatchRecord& options, const BatchRecord& makers,
                       const DecodeJob& job, const FileOutcome& outcome,
                       const std::optional<uint64_t>& output_bytes);

// Returns kBadInput if the name of the item's output, which ends in `suffix`,
// or of its record has more bytes than a name can have. It is an error of the
// file: all others have their outputs all the same.
Status CheckNames(const BatchItem& item, const std::string& suffix);

// Returns the code of the failure that a record tells of; kOk if of none.
Code CodeOf(const BatchRecord& record);

// The records of one output directory. Thread-safe.
class BatchRecords {
 public:
  BatchRecords(const BatchDirectory& directory, BatchRecord options)
      : directory_(directory), options_(std::move(options)) {}

  // Returns the record of an earlier run if the input has the same size and
  // time of modification, the options are the same, and the output is there, of
  // the size that the record has; those of older releases have none. An
  // input that could not be read has none: it is tried again.
  std::optional<BatchRecord> Find(const BatchItem& item,
                                  const FileStamp& stamp) const;
  bool Has(const BatchItem& item) const;
  void Remove(const BatchItem& item) const;
  // `writer` sets threads apart.
  Status Write(const BatchItem& item, const BatchRecord& record,
               const std::string& writer) const;

  // Returns a record for an input whose contents another input had that killed
  // workers with the same options; nullopt if there was none.
  std::optional<BatchRecord> FindPoison(const BatchItem& item,
                                        const FileStamp& stamp,
                                        const std::string& sha256) const;
  // Tells all processes of the batch of such an input. Returns true to the
  // first that tells of these contents.
  Result<bool> WritePoison(const BatchRecord& record,
                           const std::string& writer) const;

 private:
  const BatchDirectory& directory_;
  const BatchRecord options_;
};

}  // namespace bulkhead::cli
