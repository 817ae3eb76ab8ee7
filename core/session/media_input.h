// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

#include "core/include/bulkhead/crashes.h"
#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::session {

// What a session decodes: a file that this process has opened, and of which a
// worker gets a read-only descriptor. Kept as long as the session, so that each
// of its workers sees the same. Immutable.
class MediaInput {
 public:
  // kNotFound, kInvalidArgument: no file that can be read; kBadInput: empty;
  // kResourceExhausted: no descriptor is left.
  static Result<MediaInput> Open(const std::string& path);

  int fd() const { return media_.get(); }
  int64_t bytes() const { return file_.st_size; }
  const struct stat& file() const { return file_; }
  // For messages.
  const std::string& name() const { return path_; }
  // Base name, for choosing a demuxer.
  std::string name_hint() const;
  // For the record of a worker's end.
  Crash::Input Identify() const;

 private:
  MediaInput(std::string path, ipc::UniqueFd media, const struct stat& file)
      : path_(std::move(path)), media_(std::move(media)), file_(file) {}

  std::string path_;
  ipc::UniqueFd media_;
  struct stat file_;
};

}  // namespace bulkhead::session
