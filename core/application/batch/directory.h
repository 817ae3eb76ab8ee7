// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ipc/unique_fd.h"

namespace bulkhead::batch {

// The output directory of a batch, which many processes on many machines may
// share. Whichever process is killed, a name in it holds a whole output or
// none:
//
//   clip.mp4.framemd5                    an output
//   manifest.jsonl                       all records, sorted
//   .batch/manifest/clip.mp4.framemd5.json   the record of one input
//   .batch/manifest/.batch/SHA256.json   of one whose name is too long
//   .batch/poison/SHA256.json            an input that kills workers
//   .batch/unfinished/OWNER/             what one object is writing
//   .batch/lock                          held while manifest.jsonl is written
//
// OWNER names the machine, the boot, the namespace of pids, the pid, the time
// at which the process started, and one object of it. So the next process on
// the same machine knows which owners are gone and removes what they left. What
// processes of other machines left is removed after a week.
//
// All relative paths are below the directory. Thread-safe, except that two
// threads must not write the same path.
class Directory {
 public:
  // Creates the directory if it is missing, and removes what processes that are
  // gone have left. kInvalidArgument names the directory that cannot be made.
  static Result<std::unique_ptr<Directory>> Open(const std::string& path);
  // Removes what was written to it and not published.
  ~Directory();
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  // Returns the path of something to write, which is not among the outputs.
  // The caller chooses the name, and writes a file or a directory there.
  std::string Unfinished(const std::string& name) const;

  // Puts what was written to Unfinished(name) on the disk and gives it its
  // name, in place of what had that name.
  Status Publish(const std::string& name, const std::string& relative) const;
  // Publishes a small file.
  Status Write(const std::string& name, const std::string& relative,
               const std::string& text) const;
  // Publishes a small file unless the name is taken; returns whether it did.
  Result<bool> WriteNew(const std::string& name, const std::string& relative,
                        const std::string& text) const;

  std::optional<std::string> Read(const std::string& relative) const;
  bool Has(const std::string& relative) const;
  // Returns the bytes of a file, or of all files in a directory; nullopt if
  // there is neither.
  std::optional<uint64_t> SizeOf(const std::string& relative) const;
  // Removes a file or a whole directory, if it is there.
  void Remove(const std::string& relative) const;

  // Rewrites manifest.jsonl: the lines of all records, sorted by bytes of the
  // input. One process at a time does so, so that no record is missing which
  // was written before the call.
  Status Join() const;

 private:
  // Opens the lock such that whoever may only read the results cannot hold it.
  ipc::UniqueFd OpenLock() const;
  Directory(std::string path, std::string owner)
      : path_(std::move(path)), owner_(std::move(owner)) {}

  std::string At(const std::string& relative) const;
  void RemoveLeftovers() const;

  const std::string path_;
  const std::string owner_;
};

}  // namespace bulkhead::batch
