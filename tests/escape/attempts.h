// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bulkhead::tests {

// The facts that the test gives the backend. The backend reads them from a file
// of its distribution, since its environment is empty.
struct Targets {
  int application_pid = 0;
  unsigned long application_secret = 0;  // the address of eight bytes
  int tcp_port = 0;
  std::string unix_path;
  std::string abstract_name;
  long media_bytes = 0;
  std::string own_file;        // a file of the distribution
  std::string zygote_attempt;  // the attempt that the entry function makes
};

struct Outcome {
  bool escaped = false;
  int error = 0;  // the errno of the last refusal

  std::string Describe() const;
};

// Tries `attempt` in every way that the function knows. An attempt may also end
// the process, which is one way of being refused. An unknown name counts as an
// escape, so that a test with a misspelt name fails.
Outcome Try(const std::string& attempt, const Targets& targets);

}  // namespace bulkhead::tests
