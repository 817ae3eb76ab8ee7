// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>
#include <stdio.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bulkhead::benchmark {

// The result of decoding a clip in order.
struct SequentialPass {
  double seconds = 0;  // Includes the time to open the clip.
  uint64_t frames = 0;
};
// The result of decoding chosen frames of a clip.
struct RandomPass {
  // The time to open the clip and decode the first of the frames. Includes an
  // index scan if the library makes one.
  double open_ms = 0;
  double seconds = 0;  // The time for the other frames.
  // The number of pictures that differ from the sequential pass.
  uint64_t wrong = 0;
};

// The result of one request to tensors.py.
struct TensorPass {
  double seconds = 0;
  uint64_t frames = 0;
  // The number of pictures that differ from the sequential pass; 0 unless the
  // request begins with "check".
  uint64_t wrong = 0;
};

// A decoder library that is compared with Bulkhead, in a Python process. The
// process lives as long as this object, so that the measured times do not
// include the start of Python. The scripts peers.py and tensors.py document
// their protocols of requests and answers. Not thread-safe.
class Peer {
 public:
  // Starts the process. `arguments` are the script, the name of the library,
  // the clip and further arguments. peers.py takes Sequential(), Random() and
  // Clips(); tensors.py takes Tensors(). Returns kUnsupported if the library is
  // not installed.
  static Result<std::unique_ptr<Peer>> Start(
      std::vector<std::string> arguments);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // The name of the library with its version.
  const std::string& name() const { return name_; }
  // Decodes the clip in order.
  Result<SequentialPass> Sequential();
  // Decodes the frames `indices`, and compares them with the pictures of the
  // last Sequential(), which must be called before.
  Result<RandomPass> Random(std::span<const int64_t> indices);
  // Decodes the clip `count` times, in `at_once` threads in parallel.
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
