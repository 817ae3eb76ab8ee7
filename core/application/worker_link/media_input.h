// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "core/include/bulkhead/crashes.h"
#include "core/include/bulkhead/source.h"
#include "core/include/bulkhead/status.h"
#include "ipc/unique_fd.h"

namespace bulkhead::worker_link {

// The bytes of a source, in one of two forms: a file, whose read-only
// descriptor workers get; or a reader of the application, which the library
// calls whenever a worker needs bytes.
struct MediaData {
  ipc::UniqueFd fd;  // invalid if `reader` has the bytes
  SourceReader reader;
  int64_t bytes = 0;      // the size when the source was opened
  std::string identity;   // identifies the bytes, see media_identity.h
  struct stat file = {};  // set only with a descriptor
};

// The media that a session decodes. The session keeps the media open, so that
// each of its workers sees the same bytes. Copies share the descriptor.
// Immutable, so any thread may read it.
class MediaInput {
 public:
  // Opens the source. Returns kNotFound if the file does not exist,
  // kInvalidArgument if it cannot be read, kBadInput if it is empty, and
  // kResourceExhausted if the process has too many open files.
  static Result<MediaInput> Open(const Source& source);

  // Returns the descriptor, or -1 if a reader has the bytes.
  int fd() const { return data_->fd.get(); }
  const SourceReader& reader() const { return data_->reader; }
  int64_t bytes() const { return data_->bytes; }
  const std::string& identity() const { return data_->identity; }
  // Returns the number of bytes by which the file has shrunk since it was
  // opened. Returns 0 for a reader, which reports missing bytes itself.
  int64_t lost_bytes() const;
  // Returns the name of the source, for messages.
  const std::string& name() const { return name_; }
  // Returns the file's base name, whose extension helps to choose the demuxer.
  std::string name_hint() const;
  // Returns the description of the input for a crash record.
  Crash::Input Identify() const;

 private:
  MediaInput(std::string name, std::shared_ptr<const MediaData> data)
      : name_(std::move(name)), data_(std::move(data)) {}

  std::string name_;
  std::shared_ptr<const MediaData> data_;
};

}  // namespace bulkhead::worker_link
