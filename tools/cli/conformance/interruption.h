// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <thread>

namespace bulkhead::cli {

// Removes a directory when SIGINT or SIGTERM ends the program, as ^C does, and
// then lets the signal end it. A thread waits for the signal, so that checks
// may take as long as they need. There is one at a time.
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

}  // namespace bulkhead::cli
