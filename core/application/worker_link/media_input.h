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

// The bytes of a source: a read-only descriptor, which workers are given, or a
// reader of the application, which is asked on a worker's behalf.
struct MediaData {
  ipc::UniqueFd fd;  // invalid if `reader` has the bytes
  SourceReader reader;
  int64_t bytes = 0;
  std::string identity;   // see media_identity.h
  struct stat file = {};  // set only with a descriptor
};

// The media that a session decodes. A session keeps it open, so that each of
// its workers sees the same bytes. Immutable.
class MediaInput {
 public:
  // Returns kNotFound or kInvalidArgument if there is no file that can be read,
  // kBadInput if the file is empty, kResourceExhausted if no descriptor is
  // left.
  static Result<MediaInput> Open(const Source& source);

  // Returns the descriptor, or -1 if a reader has the bytes.
  int fd() const { return data_->fd.get(); }
  const SourceReader& reader() const { return data_->reader; }
  int64_t bytes() const { return data_->bytes; }
  const std::string& identity() const { return data_->identity; }
  // Returns the bytes that the file has lost since it was opened; 0 if none. A
  // reader that has fewer bytes than it said fails by itself.
  int64_t lost_bytes() const;
  // Returns the name of the source, for messages.
  const std::string& name() const { return name_; }
  // Returns the base name, by which a demuxer is chosen.
  std::string name_hint() const;
  // Describes the input in the record of a worker's exit.
  Crash::Input Identify() const;

 private:
  MediaInput(std::string name, std::shared_ptr<const MediaData> data)
      : name_(std::move(name)), data_(std::move(data)) {}

  std::string name_;
  std::shared_ptr<const MediaData> data_;
};

}  // namespace bulkhead::worker_link
