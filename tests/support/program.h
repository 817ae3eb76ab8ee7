// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ipc/unique_fd.h"

namespace bulkhead::tests {

struct ProgramOptions {
  // Added to our environment; a value of nullopt removes the variable.
  std::vector<std::pair<std::string, std::optional<std::string>>> environment;
  std::chrono::milliseconds limit{60'000};
};

// How a program ended and what it said.
struct ProgramResult {
  bool started = false;
  bool timed_out = false;  // then it was killed
  int exit_code = -1;      // -1: it did not exit by itself
  int signal = 0;          // that ended it; 0: none
  long max_rss_kib = 0;
  std::string output;
  std::string errors;

  std::string Describe() const;
};

// Runs a program to its end; `arguments` begin with its name, searched in PATH.
ProgramResult RunProgram(const std::vector<std::string>& arguments,
                         const ProgramOptions& options = {});

// What the gtest program at `path` prints for --gtest_list_tests; empty: it
// cannot be run.
std::string ListTests(const std::string& path);

// A child that runs beside the test, with its stdout in our hands. The
// destructor kills and reaps it. One thread at a time.
class RunningProgram {
 public:
  // Null: it could not be started.
  static std::unique_ptr<RunningProgram> Start(
      const std::vector<std::string>& arguments);
  ~RunningProgram();

  pid_t pid() const { return pid_; }
  // nullopt: no complete line within the time.
  std::optional<std::string> ReadLine(std::chrono::milliseconds limit);
  void Kill(int signal);

 private:
  RunningProgram(pid_t pid, ipc::UniqueFd output);

  pid_t pid_;
  ipc::UniqueFd output_;
  std::string unread_;
};

}  // namespace bulkhead::tests
