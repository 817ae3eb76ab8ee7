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

namespace bulkhead::session {

// The bytes of a source: a descriptor that a worker may have, read-only, or a
// reader that is asked on its behalf.
struct MediaData {
  ipc::UniqueFd fd;  // none: `reader` has them
  SourceReader reader;
  int64_t bytes = 0;
  std::string identity;   // equal for the same state of the same bytes
  struct stat file = {};  // of a descriptor
};

// What a session decodes. Kept as long as the session, so that each of its
// workers sees the same. Immutable.
class MediaInput {
 public:
  // kNotFound, kInvalidArgument: no file that can be read; kBadInput: empty;
  // kResourceExhausted: no descriptor is left.
  static Result<MediaInput> Open(const Source& source);

  // -1: there is a reader.
  int fd() const { return data_->fd.get(); }
  const SourceReader& reader() const { return data_->reader; }
  int64_t bytes() const { return data_->bytes; }
  const std::string& identity() const { return data_->identity; }
  // For messages.
  const std::string& name() const { return name_; }
  // Base name, for choosing a demuxer.
  std::string name_hint() const;
  // For the record of a worker's end.
  Crash::Input Identify() const;

 private:
  MediaInput(std::string name, std::shared_ptr<const MediaData> data)
      : name_(std::move(name)), data_(std::move(data)) {}

  std::string name_;
  std::shared_ptr<const MediaData> data_;
};

}  // namespace bulkhead::session
