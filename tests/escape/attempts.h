// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bulkhead::tests {

// What the test tells the backend; read from a file of its distribution, since
// its environment is empty.
struct Targets {
  int application_pid = 0;
  unsigned long application_secret = 0;  // address of eight bytes
  int tcp_port = 0;
  std::string unix_path;
  std::string abstract_name;
  long media_bytes = 0;
  std::string own_file;        // of the distribution
  std::string zygote_attempt;  // made by the entry function
};

struct Outcome {
  bool escaped = false;
  int error = 0;  // of the last refusal

  std::string Describe() const;
};

// Tries `attempt` by every way that it knows. An attempt may also end the
// process, which is one way of being refused. A name that is not known is an
// escape, so that a misspelt test fails.
Outcome Try(const std::string& attempt, const Targets& targets);

}  // namespace bulkhead::tests
