// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "core/application/batch/content_hash.h"
#include "core/application/batch/directory.h"
#include "core/application/batch/plan.h"
#include "core/application/decoding/outcome.h"

namespace bulkhead::batch {

// The record of one input, a JSON object that is stored as one line. Its keys
// are described in tools/cli/batch/README.md. A record does not contain the
// time, the machine or the shard that wrote it. So a batch leaves the same
// records however it is divided among processes, except if workers died.
using Record = nlohmann::ordered_json;

// Returns a path as text for records: each byte that is not UTF-8, and each
// backslash, becomes \xHH in lower case. This can be undone, so two different
// paths have different texts.
std::string TextOf(std::string_view path);

// Returns the versions of Bulkhead and of the backend that has `device`, and
// the tier of the sandbox in which the backend runs.
Result<Record> MakersForRecords(Host& host, const std::string& device);

// The work that a batch does on each of its inputs.
struct Recipe {
  Record options;          // The user's options that affect outputs.
  Record makers;           // From MakersForRecords().
  std::string suffix;      // The end of the outputs' names, without its dot.
  bool has_output = true;  // False if frames are decoded but not written.
  bool has_frames = true;  // True if each outcome has `frames`.
};

// Returns the record of an input that was decoded, or that failed because of
// its own contents. Where the outcome's message contains `path`, the name under
// which the input was opened, the record has `item.input`. `output_bytes` is
// the size of the output; nullopt if there is none.
Record MakeRecord(const Item& item, const std::string& path,
                  const FileStamp& stamp,
                  const std::optional<std::string>& sha256,
                  const Recipe& recipe, const decoding::Outcome& outcome,
                  const std::optional<uint64_t>& output_bytes);

// Returns kBadInput if the file name of the item's record has more bytes than
// the file system allows. (The name of its output is shorter.) `suffix` is
// Recipe::suffix, for the message. The error is this input's result; the batch
// continues.
Status CheckNames(const Item& item, const std::string& suffix);

// Returns the code with this name ("kBadInput"); kInternal if no code has it.
Code CodeNamed(std::string_view name);
// Returns the code of the error in a record; kOk if the record has no error.
Code CodeOf(const Record& record);

// Returns a record as a line of ASCII, with its line feed.
std::string LineOf(const Record& record);
// Parses the line of a record, which another user may have written. Returns
// nullopt if a key that this library reads is missing or has a value of another
// type, or if the JSON is nested deeply.
std::optional<Record> ParseRecord(const std::string& line_untrusted);

// The records in one output directory, of inputs that were decoded with the
// same options. Other users may have written to the directory, so a file that
// ParseRecord() rejects is treated as missing. Thread-safe.
class Records {
 public:
  // `directory` must outlive the object. `options` are Recipe::options.
  Records(const Directory& directory, Record options)
      : directory_(directory), options_(std::move(options)) {}

  // Returns the record of an earlier run if it is still valid, else nullopt. It
  // is valid if all of these are true:
  // - The input could be read, and its size and modification time are the same.
  // - The options are equal.
  // - The output exists with the size in the record. (A record of an old
  //   release has no size; any size is then accepted.)
  std::optional<Record> Find(const Item& item, const FileStamp& stamp) const;
  // Returns whether there is a record of the item, valid or not.
  bool Has(const Item& item) const;
  // Removes the record of the item, if there is one.
  void Remove(const Item& item) const;
  // Stores the record of the item. `writer` is as in Attempt's constructor.
  Status Write(const Item& item, const Record& record,
               const std::string& writer) const;

  // Returns the record of an input with the same contents that killed workers
  // when it was decoded with the same options. The record is changed for
  // `item`. Returns nullopt if there is none. `sha256` is the contents' hash.
  std::optional<Record> FindPoison(const Item& item, const FileStamp& stamp,
                                   const std::string& sha256) const;
  // Stores the record of an input that kills workers, so that all processes of
  // the batch find it by FindPoison(). Returns true if these contents were not
  // stored before.
  Result<bool> WritePoison(const Record& record,
                           const std::string& writer) const;

 private:
  const Directory& directory_;
  const Record options_;
};

}  // namespace bulkhead::batch
