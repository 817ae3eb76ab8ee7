// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <thread>

namespace bulkhead::cli::conformance {

// Removes a directory when SIGINT (^C) or SIGTERM arrives, and then lets the
// signal end the program. The signal handler only writes to a pipe. A thread of
// this object reads the pipe and removes the directory, even while the main
// thread is in a long check. The process must have at most one such object.
class Interruption {
 public:
  explicit Interruption(std::string directory);
  ~Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

 private:
  void Wait() const;

  const std::string directory_;
  int read_end_ = -1;
  std::thread thread_;
};

}  // namespace bulkhead::cli::conformance
