// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bulkhead::cli {

// An application of which the library has but a sentence
// (RunningHosts::silent), since its bulkheadd did not answer.
struct SilentApplication {
  int pid = 0;          // 0 if the sentence names no process.
  std::string command;  // Its command line; empty if not visible from here.
};

// Takes the pid from the sentence, "the bulkheadd of process 4711 does not
// answer", and the command line from /proc.
SilentApplication ToSilentApplication(const std::string& sentence);

// Returns the name of a program, without directories and arguments;
// "(not visible)" if the command line is empty.
std::string ProgramOf(const std::string& command);

}  // namespace bulkhead::cli
