// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>
#include <stdio.h>

#include <memory>
#include <span>
#include <string>

namespace bulkhead::benchmark {

// What one pass over a clip cost, and whether it got the right pictures.
struct SequentialPass {
  double seconds = 0;  // with opening
  uint64_t frames = 0;
};
struct RandomPass {
  double open_ms = 0;  // until the first of the frames, with any index
  double seconds = 0;  // of the others
  uint64_t wrong = 0;  // other pictures than those of a straight pass
};

// Another decoder library, in a process of its own that lives as long as this:
// its start is not measured. peers.py has what it is asked and answers.
class Peer {
 public:
  // `kind`: pyav, opencv, ffms2. kUnsupported: it is not installed.
  static Result<std::unique_ptr<Peer>> Start(const std::string& script,
                                             const std::string& kind,
                                             const std::string& clip);
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // With its version.
  const std::string& name() const { return name_; }
  Result<SequentialPass> Sequential();
  // After a Sequential(): with it the pictures are compared.
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
