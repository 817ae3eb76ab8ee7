// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/application/batch/content_hash.h"
#include "core/application/batch/directory.h"
#include "core/application/batch/outcome.h"
#include "core/application/batch/plan.h"

namespace bulkhead::batch {

// The record of one input: one line of JSON. A record does not say when, where
// and by which shard it was written, so that any division of a batch leaves the
// same records, unless workers died.
using Record = nlohmann::ordered_json;

// Returns a path as records have it: a byte that is not UTF-8, and a backslash,
// is \xHH, in lower case. So each path has a text of its own, and whoever puts
// the byte HH back for each \xHH has the path.
std::string TextOf(std::string_view path);

// Returns the versions of Bulkhead and of the backend that has `device`, and
// the tier of the sandbox in which the backend runs.
Result<Record> MakersForRecords(Host& host, const std::string& device);

// Holds what all inputs of a batch have in common.
struct Recipe {
  Record options;      // Those that change an output, as they were given.
  Record makers;       // MakersForRecords()
  std::string suffix;  // Of the outputs.
  bool has_output = true;
  bool has_frames = true;
};

// Returns the record of an input that was decoded, or failed for a reason of
// its own. `path` is what messages of the outcome call the input.
// `output_bytes` is the size of the output.
Record MakeRecord(const Item& item, const std::string& path,
                  const FileStamp& stamp,
                  const std::optional<std::string>& sha256,
                  const Recipe& recipe, const Outcome& outcome,
                  const std::optional<uint64_t>& output_bytes);

// Returns kBadInput if the name of the item's output, which ends in `suffix`,
// or of its record has more bytes than a name can have. It is an error of the
// file: all others have their outputs all the same.
Status CheckNames(const Item& item, const std::string& suffix);

// Returns the code of that name; kInternal if there is none.
Code CodeNamed(std::string_view name);
// Returns the code of the failure that a record has; kOk if it has none.
Code CodeOf(const Record& record);

// Returns a record as one line.
std::string LineOf(const Record& record);
// Reads such a line, which somebody else may have written; nullopt if it lacks
// what is read of records.
std::optional<Record> ParseRecord(const std::string& line_untrusted);

// The records of one output directory. Thread-safe.
class Records {
 public:
  Records(const Directory& directory, Record options)
      : directory_(directory), options_(std::move(options)) {}

  // Returns the record of an earlier run if the input has the same size and
  // time of modification, the options are the same, and the output is there, of
  // the size in the record (older releases' records have none). An input that
  // could not be read has none: it is tried again.
  std::optional<Record> Find(const Item& item, const FileStamp& stamp) const;
  bool Has(const Item& item) const;
  void Remove(const Item& item) const;
  // `writer` sets threads apart.
  Status Write(const Item& item, const Record& record,
               const std::string& writer) const;

  // Returns a record for an input if another one with the same contents has
  // killed workers with the same options; else nullopt.
  std::optional<Record> FindPoison(const Item& item, const FileStamp& stamp,
                                   const std::string& sha256) const;
  // Makes such an input known to all processes of the batch. Returns true to
  // the first that reports these contents.
  Result<bool> WritePoison(const Record& record,
                           const std::string& writer) const;

 private:
  const Directory& directory_;
  const Record options_;
};

}  // namespace bulkhead::batch
