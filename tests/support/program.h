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
  // Variables to add to the environment of this process. A value of nullopt
  // removes the variable.
  std::vector<std::pair<std::string, std::optional<std::string>>> environment;
  std::chrono::milliseconds limit{60'000};
};

// Describes how a program ended and what it printed.
struct ProgramResult {
  bool started = false;
  bool timed_out = false;  // ran past the limit and was killed
  int exit_code = -1;      // -1 if the program did not exit by itself
  int signal = 0;          // the signal that ended the program; 0 if none
  long max_rss_kib = 0;
  std::string output;
  std::string errors;

  std::string Describe() const;
};

// Runs a program until it ends. The first argument is its name, searched in
// PATH.
ProgramResult RunProgram(const std::vector<std::string>& arguments,
                         const ProgramOptions& options = {});

// Runs ffmpeg with options that keep it from asking questions, let it replace
// files and limit its messages to errors, followed by `arguments`.
ProgramResult RunFfmpeg(const std::vector<std::string>& arguments);

// Returns the output of the gtest program at `path` for --gtest_list_tests, or
// an empty string if the program cannot be run.
std::string ListTests(const std::string& path);

// A program that runs beside the test and whose stdout the test reads. The
// destructor kills and reaps the program. Used by one thread at a time.
class RunningProgram {
 public:
  // Returns null if the program cannot be started.
  static std::unique_ptr<RunningProgram> Start(
      const std::vector<std::string>& arguments);
  ~RunningProgram();

  pid_t pid() const { return pid_; }
  // Returns the next line, or nullopt if no complete line arrives within
  // `limit`.
  std::optional<std::string> ReadLine(std::chrono::milliseconds limit);
  void Kill(int signal);

 private:
  RunningProgram(pid_t pid, ipc::UniqueFd output);

  pid_t pid_;
  ipc::UniqueFd output_;
  std::string unread_;
};

}  // namespace bulkhead::tests
