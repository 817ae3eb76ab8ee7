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

namespace worker_link {
class MediaInput;
struct MediaData;
}  // namespace worker_link

// Bytes that the application serves itself: from a socket, an archive or an
// object store.
struct SourceReader {
  // Fills `out`, or a part of it, with the bytes that begin at `offset`, and
  // returns the number of bytes written: at least one, because only bytes
  // within the source are asked for. If `read` returns an error, 0 or more than
  // the size of `out`, or throws a std::exception, the decoder's call fails
  // with kInvalidArgument and that message. The next call of the decoder asks
  // again.
  //
  // Called only on a thread that is inside a call of a decoder of this source.
  // If several decoders share the source, calls may come from several threads
  // at the same time. `read` must not use the decoder and must not throw
  // anything but a std::exception.
  std::function<Result<size_t>(uint64_t offset, std::span<std::byte> out)> read;
  // The size of the source in bytes.
  uint64_t bytes = 0;
};

// Bytes that the application serves from an object with a position, such as a
// file. `seek` takes the arguments of lseek() and returns the new position. The
// rules of SourceReader apply. Both functions return errors as values, never as
// -1.
struct SeekingReader {
  std::function<Result<size_t>(std::span<std::byte> out)> read;
  std::function<Result<int64_t>(int64_t offset, int whence)> seek;
};

// The media that a decoder decodes: a file, bytes in memory, an open descriptor
// or a reader. A path converts to a Source:
//
//     auto video = host->OpenVideo("clip.mp4");
//     auto memory = bulkhead::Source::FromMemory(bytes, "clip.mp4");
//     auto other = host->OpenVideo(*memory);
//
// Trust: a worker gets a read-only descriptor of the bytes or, with a reader, a
// window that the host fills on request. A worker never gets the application's
// own memory or a writable descriptor, and never reads beyond the source.
//
// The name appears in messages, and its extension helps if the bytes do not
// show their format. Bulkhead also uses the name, together with the number of
// bytes, to recognise bytes that killed workers before, as it recognises a file
// by its identity. So give the same name only to the same bytes. Bytes without
// a name are recognised by their content if they have at most 1 MiB. Larger
// bytes without a name are recognised only if they come from a copy of this
// Source.
//
// A plain value: copies share the bytes, which live until the last copy and the
// last decoder of them are gone. Thread-safe; a reader must be able to serve as
// many threads as decode from it.
class Source {
 public:
  // Names a regular file, which is opened when a decoder is opened.
  Source(std::string path);  // NOLINT: implicit
  Source(const char* path);  // NOLINT: implicit

  // Copies the bytes into memory that nobody can change any more. kBadInput if
  // there are no bytes, kResourceExhausted if there is not enough memory.
  static Result<Source> FromMemory(std::span<const std::byte> bytes,
                                   std::string name = {});
  // Takes a regular file or memfd. Reads it from its beginning, whatever the
  // file offset of `fd` is, and does not move that offset. The caller keeps
  // `fd` and may close it afterwards. kInvalidArgument if `fd` is something
  // else or cannot be read, kBadInput if the file is empty.
  static Result<Source> FromDescriptor(int fd, std::string name = {});
  // Take the functions of a reader. kInvalidArgument if a function is missing,
  // or if there are no bytes.
  static Result<Source> FromReader(SourceReader reader, std::string name = {});
  static Result<Source> FromReader(SeekingReader reader, std::string name = {});

  const std::string& name() const { return name_; }

 private:
  friend class worker_link::MediaInput;

  Source(std::string name, std::shared_ptr<const worker_link::MediaData> data)
      : name_(std::move(name)), data_(std::move(data)) {}

  std::string name_;  // A path if `data_` is null.
  std::shared_ptr<const worker_link::MediaData> data_;
};

}  // namespace bulkhead
