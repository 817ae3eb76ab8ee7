// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>
#include <stdio.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

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
  uint64_t wrong = 0;  // Pictures that differ from a sequential pass's.
};

// The results of one request to tensors.py.
struct TensorPass {
  double seconds = 0;
  uint64_t frames = 0;
  uint64_t wrong = 0;  // Of a request that checks, as RandomPass has it.
};

// A decoder library in a Python process. The process lives as long as this
// object, so that its start is not measured. peers.py and tensors.py document
// the protocols. Not thread-safe.
class Peer {
 public:
  // Starts the process. `arguments` are the script and its arguments, of which
  // the first names the library. Returns kUnsupported if that library is not
  // installed.
  static Result<std::unique_ptr<Peer>> Start(
      std::vector<std::string> arguments);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // The name of the library with its version.
  const std::string& name() const { return name_; }
  Result<SequentialPass> Sequential();
  // Call it after Sequential(): the pictures are compared with the
  // last sequential pass's.
  Result<RandomPass> Random(std::span<const int64_t> indices);
  // Decodes the clip `count` times, `at_once` at the same time in threads.
  Result<SequentialPass> Clips(int at_once, int count);
  // Sends a request of tensors.py.
  Result<TensorPass> Tensors(const std::string& request);

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
