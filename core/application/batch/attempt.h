// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/host.h>

#include <functional>
#include <optional>
#include <string>

#include "core/application/batch/content_hash.h"
#include "core/application/batch/directory.h"
#include "core/application/batch/plan.h"
#include "core/application/batch/record.h"
#include "core/application/decoding/job.h"
#include "core/application/decoding/outcome.h"

namespace bulkhead::batch {

// The result of an attempt to decode one input.
struct Verdict {
  enum class Kind {
    // The input was decoded, or failed because of its own contents. It has a
    // record in the directory and is not tried again.
    kResult,
    // The backend failed, a deadline or limit was exceeded, or the input was
    // changed meanwhile. It has no record and may be tried again.
    kLoss,
    // The output could not be written, or the machine has no sandbox. Every
    // other input would fail as well, so the run ends.
    kEnd,
  };
  Kind kind = Kind::kResult;
  Record record;  // For kResult.
  // For kResult: true if another input with the same contents was reported as
  // poison before. This input is then counted but not reported.
  bool copy_of_poison = false;
  Status status;  // For kLoss and kEnd.
};

// Returns whether an error of this code is a loss (Verdict::Kind::kLoss).
bool IsLoss(Code code);

// One attempt to decode one input of a batch. Checks whether the contents are
// known to kill workers, decodes to a temporary path, publishes the output
// (moves it to its final path) and writes the record.
//
//     Attempt attempt(directory, records, recipe, item, item.input, "0");
//     auto verdict = attempt.Begin([] { return false; });
//     if (!verdict) verdict = attempt.Decode(host, job);
//
// A caller that makes the output itself, such as a user's function, calls
// Finish() instead of Decode().
//
// Not thread-safe.
class Attempt {
 public:
  // The directory, the records and the recipe must outlive the object. `path`
  // is the path under which this process opens the input. `writer` is the name
  // of the unfinished output, which no other thread uses with this Directory.
  Attempt(const Directory& directory, const Records& records,
          const Recipe& recipe, Item item, std::string path,
          std::string writer);

  // Hashes the input. Returns nullopt if the caller must call Decode() or
  // Finish(). Returns a verdict if the input need not be decoded, because its
  // name is too long or its contents are known to kill workers. When `stopped`
  // returns true, stops reading and returns nullopt; the caller then drops the
  // attempt.
  std::optional<Verdict> Begin(const std::function<bool()>& stopped);

  // Decodes the input as the job says, and calls Finish(). Sets the job's file,
  // output and pattern. Returns nullopt if the job was cancelled; it may then
  // be repeated.
  std::optional<Verdict> Decode(Host& host, decoding::Job job);

  // Returns the path at which the output is created, a file or a directory.
  std::string output() const { return directory_.Unfinished(writer_); }

  // If `outcome` is a result, publishes the output under its final name and
  // writes the record. Called once, after decoding.
  Verdict Finish(const decoding::Outcome& outcome);

 private:
  // Writes the record of a result and returns the verdict. Called after the
  // output was published, so that a record never names a missing output.
  Verdict Keep(Record record, bool copy_of_poison) const;

  const Directory& directory_;
  const Records& records_;
  const Recipe& recipe_;
  const Item item_;
  const std::string path_;
  const std::string writer_;
  FileStamp stamp_;
  std::optional<std::string> sha256_;
};

}  // namespace bulkhead::batch
