// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <functional>
#include <optional>
#include <string>

#include "core/application/batch/content_hash.h"
#include "core/application/batch/directory.h"
#include "core/application/batch/outcome.h"
#include "core/application/batch/plan.h"
#include "core/application/batch/record.h"

namespace bulkhead::batch {

// The end of an attempt at an input. It is one of three things. What is
// wrong with the file is its result: it gets a record, and nobody tries it
// again. What is wrong with the backend or with the time that it had is a loss:
// it gets no record, and may be tried again. A disk that takes no output, or a
// machine without a sandbox, would fail every other input as well, so it ends
// the run.
struct Verdict {
  enum class Kind { kResult, kLoss, kEnd };
  Kind kind = Kind::kResult;
  Record record;  // Of a result. It is in the directory, as the output is.
  // A result: an input of the same contents was reported, so this one is only
  // counted.
  bool told_before = false;
  Status status;  // Of a loss or an end.
};

// One attempt at one input, around the decoder, which is the caller's:
//
//     Attempt attempt(directory, records, recipe, item, item.input, "0");
//     auto verdict = attempt.Begin([] { return false; });
//     if (!verdict) verdict = attempt.Finish(Decode(attempt.output()));
//
// Not thread-safe.
class Attempt {
 public:
  // Borrows the directory, the records and the recipe. `path` leads to the
  // input in this process. `writer` sets threads that share the directory
  // apart.
  Attempt(const Directory& directory, const Records& records,
          const Recipe& recipe, Item item, std::string path,
          std::string writer);

  // Returns what is known of the input without decoding it: that its name is
  // too long, or that its contents kill workers. Reads the whole file, until
  // `stopped` returns true; the caller has nothing to finish then.
  std::optional<Verdict> Begin(const std::function<bool()>& stopped);

  // Returns where the decoder writes a file or makes a directory.
  std::string output() const { return directory_.Unfinished(writer_); }

  // Gives the output its name, and writes the record.
  Verdict Finish(const Outcome& outcome);

 private:
  // Writes the record of an input whose output is in place.
  Verdict Keep(Record record, bool told_before) const;

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
