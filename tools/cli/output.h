// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bulkhead::cli {

// A file, or stdout under the name "-", that bytes are appended to.
//
//     auto output = Output::Open("frames.rgb");
//     if (Status status = (*output)->Write(bytes); !status.ok()) ...
//     if (Status status = (*output)->Close(); !status.ok()) ...
//
// Small writes are gathered. A reader of stdout that has gone away (`| head`)
// fails the write like a full disk does, but reader_gone() tells it apart: no
// message is due then. SIGPIPE has to be ignored. Not thread-safe.
class Output {
 public:
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  // Creates or truncates the file and creates missing parent directories.
  static Result<std::unique_ptr<Output>> Open(const std::string& path);

  Status Write(std::span<const std::byte> bytes);
  Status Write(std::string_view text);
  // Writes what was gathered; later calls of Write() are not allowed.
  Status Close();

  bool reader_gone() const { return reader_gone_; }
  bool is_terminal() const;

 private:
  Output(std::string name, int fd);

  Status Flush();
  Status WriteNow(std::span<const std::byte> bytes);

  std::string name_;
  int fd_;  // Owned, unless it is stdout.
  std::vector<std::byte> gathered_;
  bool reader_gone_ = false;
};

}  // namespace bulkhead::cli
