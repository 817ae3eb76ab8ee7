// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "ipc/unique_fd.h"

namespace bulkhead::batch {

// The output directory of a batch. Many processes on many machines may use one
// directory, each with a Directory object of its own, and any of them may be
// killed at any time. So a file is written in a private folder and then
// published, that is, renamed to its final name. A final name thus always has a
// complete output. The files are:
//
//   clip.mp4.framemd5                    an output
//   manifest.jsonl                       all records, sorted
//   .batch/manifest/clip.mp4.framemd5.json   the record of one input
//   .batch/manifest/.batch/SHA256.json   the record of an input whose name is
//                                        too long (the hash of its output path)
//   .batch/poison/SHA256.json            the record of contents that kill
//                                        workers (their hash)
//   .batch/unfinished/OWNER/             the private folder of one Directory
//   .batch/lock                          locked while manifest.jsonl is written
//
// OWNER identifies the machine, the boot, the pid namespace, the pid, the start
// time of the process, and the Directory object in it. Open() removes the
// folders of owners that have ended. It cannot see whether an owner in another
// boot or pid namespace has ended, and removes such a folder after a week.
//
// Other users may be able to write to the directory: files are read with a
// bounded size and without following links out of it.
//
// All relative paths are below the directory. Thread-safe, except that two
// threads must not write the same path.
class Directory {
 public:
  // Creates the directory if it is missing, and removes the private folders of
  // owners that have ended. Returns kInvalidArgument if a directory cannot be
  // created, and names it.
  static Result<std::unique_ptr<Directory>> Open(const std::string& path);
  // Removes the private folder with everything that was not published.
  ~Directory();
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;

  // Returns the path of `name` in the private folder. The caller creates a file
  // or a directory at this path.
  std::string Unfinished(const std::string& name) const;

  // Syncs the file or directory at Unfinished(name) to the disk and renames it
  // to `relative`, replacing an older file or directory. If several processes
  // publish the same path at the same time, the last output stays, and every
  // call returns OK.
  Status Publish(const std::string& name, const std::string& relative) const;
  // Creates a file with this text at Unfinished(name) and publishes it.
  Status Write(const std::string& name, const std::string& relative,
               const std::string& text) const;
  // Does the same as Write() if `relative` does not exist yet. Returns whether
  // the file was published.
  Result<bool> WriteNew(const std::string& name, const std::string& relative,
                        const std::string& text) const;

  // Returns the contents of a file; nullopt if it cannot be read, has more than
  // 16 MiB, or a link in its path leads out of the directory.
  std::optional<std::string> Read(const std::string& relative) const;
  // Returns whether the path exists.
  bool Has(const std::string& relative) const;
  // Returns the size in bytes of a file, or of all files in a directory
  // together; nullopt if the path does not exist.
  std::optional<uint64_t> SizeOf(const std::string& relative) const;
  // Removes a file, or a directory with its contents, if it exists.
  void Remove(const std::string& relative) const;

  // Writes manifest.jsonl anew: the lines of all valid records, sorted by the
  // bytes of the input's name. Holds .batch/lock while it reads and writes, so
  // that a process that read fewer records cannot overwrite this manifest.
  Status Join() const;

 private:
  Directory(std::string path, std::string owner)
      : path_(std::move(path)), owner_(std::move(owner)) {}

  // Opens .batch/lock, and creates it if it is missing. Its mode keeps users
  // who can only read the outputs from opening it and blocking Join().
  ipc::UniqueFd OpenLock() const;
  // Returns the directory's path joined with `relative`.
  std::string At(const std::string& relative) const;
  // Removes the private folders of owners that have ended.
  void RemoveLeftovers() const;

  const std::string path_;
  const std::string owner_;  // The name of the private folder.
};

}  // namespace bulkhead::batch
