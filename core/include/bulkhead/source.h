// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "bulkhead/status.h"

namespace bulkhead {

namespace session {
class MediaInput;
struct MediaData;
}  // namespace session

// Bytes that the application serves itself: from a socket, an archive, an
// object store.
struct SourceReader {
  // Fills `out`, or less of it, with what begins at `offset`, and returns how
  // much that was: at least one byte, since it is only asked for what is there.
  // An error ends the call of the decoder that needed the bytes, with
  // kInvalidArgument and its message; so does a std::exception, or 0, or more
  // than was asked for. The next call of the decoder asks again.
  //
  // Called on a thread that is inside a call of a decoder of this source, never
  // from elsewhere, and by one decoder at a time only if there is but one. It
  // may not use the decoder, and may throw nothing else.
  std::function<Result<size_t>(uint64_t offset, std::span<std::byte> out)> read;
  uint64_t bytes = 0;  // in all
};

// The same for what has a position, as files have. `seek` is that of lseek and
// returns the new position; both return errors as values.
struct SeekingReader {
  std::function<Result<size_t>(std::span<std::byte> out)> read;
  std::function<Result<int64_t>(int64_t offset, int whence)> seek;
};

// What is decoded. Wherever one is asked for, a path will do:
//
//     auto video = host->OpenVideo("clip.mp4");
//     auto memory = bulkhead::Source::FromMemory(bytes, "clip.mp4");
//     auto video = host->OpenVideo(*memory);
//
// A worker gets a read-only descriptor of the bytes, or, of a reader's, a
// window that the host fills on request: never the application's own memory or
// a descriptor that it could write to. Whatever it asks for is within the
// source.
//
// The name is used in messages; its extension helps where the bytes leave open
// what they are. By it, together with their number, bytes that killed workers
// are known again, as a file is by its identity: give the same name to the same
// bytes only. Bytes without a name are known by their content up to 1 MiB,
// otherwise only as this Source.
//
// A value: copies share the bytes, which live as long as the last decoder of
// them. Thread-safe as far as the reader is.
class Source {
 public:
  // A regular file, opened when a decoder is.
  Source(std::string path);  // NOLINT: implicit
  Source(const char* path);  // NOLINT: implicit

  // Copies the bytes, into memory that nobody can change any more.
  // kResourceExhausted: there is not enough.
  static Result<Source> FromMemory(std::span<const std::byte> bytes,
                                   std::string name = {});
  // A regular file or memfd, wherever its offset is and wherever that moves;
  // `fd` can be closed afterwards. kInvalidArgument: it is something else, or
  // cannot be read.
  static Result<Source> FromDescriptor(int fd, std::string name = {});
  // kInvalidArgument: it has no bytes, or no functions.
  static Result<Source> FromReader(SourceReader reader, std::string name = {});
  static Result<Source> FromReader(SeekingReader reader, std::string name = {});

  const std::string& name() const { return name_; }

 private:
  friend class session::MediaInput;

  Source(std::string name, std::shared_ptr<const session::MediaData> data)
      : name_(std::move(name)), data_(std::move(data)) {}

  std::string name_;  // a path, if there is no data
  std::shared_ptr<const session::MediaData> data_;
};

}  // namespace bulkhead
