// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>
#include <stdio.h>

#include <memory>
#include <span>
#include <string>

namespace bulkhead::benchmark {

// The results of one pass over a clip in order.
struct SequentialPass {
  double seconds = 0;  // Includes the time to open the clip.
  uint64_t frames = 0;
};
// The results of one pass over chosen frames.
struct RandomPass {
  double open_ms = 0;  // Time to the first frame, including any index.
  double seconds = 0;  // Time for the other frames.
  uint64_t wrong = 0;  // Pictures that differ from those of a sequential pass.
};

// Another decoder library, which runs in a Python process. The process lives as
// long as this object, so that its start is not measured. peers.py documents
// the protocol. Not thread-safe.
class Peer {
 public:
  // Starts the process. `kind` is "pyav", "opencv" or "ffms2". Returns
  // kUnsupported if that library is not installed.
  static Result<std::unique_ptr<Peer>> Start(const std::string& script,
                                             const std::string& kind,
                                             const std::string& clip);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // The name of the library with its version.
  const std::string& name() const { return name_; }
  Result<SequentialPass> Sequential();
  // Call it after Sequential(): the pictures are compared with those of the
  // last sequential pass.
  Result<RandomPass> Random(std::span<const int64_t> indices);

 private:
  Peer(int pid, FILE* requests, FILE* answers)
      : pid_(pid), requests_(requests), answers_(answers) {}
  Result<std::string> Ask(const std::string& request);
  Result<std::string> ReadLine();

  const int pid_;
  FILE* const requests_;
  FILE* const answers_;
  std::string name_;
};

}  // namespace bulkhead::benchmark
