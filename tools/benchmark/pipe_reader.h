// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>
#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "core/application/writers/picture.h"

namespace bulkhead::benchmark {

// A decoder in another process, in the way that is common without Bulkhead:
// `ffmpeg -f rawvideo pipe:1` writes pixels to a pipe, which this class reads.
// Decodes with one thread, and uses the largest pipe that an unprivileged user
// gets.
class PipeReader {
 public:
  static Result<std::unique_ptr<PipeReader>> Start(const std::string& path,
                                                   uint32_t width,
                                                   uint32_t height);
  // Kills the ffmpeg process if it still runs.
  ~PipeReader();
  PipeReader(const PipeReader&) = delete;
  PipeReader& operator=(const PipeReader&) = delete;

  // Reads the next frame into picture(). Returns false at the end.
  Result<bool> Next();
  const writers::Picture& picture() const { return picture_; }

 private:
  PipeReader(pid_t pid, int pipe, uint32_t width, uint32_t height);

  const pid_t pid_;
  const int pipe_;
  std::vector<std::byte> pixels_;
  writers::Picture picture_;
};

}  // namespace bulkhead::benchmark
