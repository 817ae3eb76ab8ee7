// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bulkhead::writers {

// A file that is written from its beginning to its end; "-" names stdout.
//
//     auto output = Output::Open("frames.rgb");
//     if (Status status = (*output)->Write(bytes); !status.ok()) ...
//     if (Status status = (*output)->Close(); !status.ok()) ...
//
// Small writes are buffered. If the process that reads stdout, such as `head`,
// has ended, a write fails, and reader_gone() returns true. The caller then
// prints no message. The process must ignore SIGPIPE. Owns the descriptor of a
// file, but not stdout. Not thread-safe.
class Output {
 public:
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // Creates or truncates the file, and creates missing parent directories.
  // Returns kInvalidArgument, with the file and the cause, if that fails.
  static Result<std::unique_ptr<Output>> Open(const std::string& path);

  Status Write(std::span<const std::byte> bytes);
  Status Write(std::string_view text);
  // Flushes the buffer. Write() must not be called afterwards.
  Status Close();
  // Overwrites bytes of a closed output, such as a length in its header.
  Status Overwrite(uint64_t offset, std::string_view text);
  // Returns whether Overwrite() is possible: for a regular file, not for
  // stdout.
  bool overwritable() const;

  // Returns whether a call on this object has failed.
  bool failed() const { return failed_; }
  bool reader_gone() const { return reader_gone_; }
  bool is_terminal() const;

 private:
  Output(std::string name, int fd);

  Status Flush();
  Status WriteNow(std::span<const std::byte> bytes);
  // Notes that a call failed, and returns its error. `error` is an errno.
  Status Fail(int error);

  std::string name_;
  int fd_;                           // Owned, unless it is stdout.
  std::vector<std::byte> gathered_;  // The bytes that are not written yet.
  bool failed_ = false;
  bool reader_gone_ = false;
};

}  // namespace bulkhead::writers
