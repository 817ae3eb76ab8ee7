// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <string>
#include <string_view>

namespace bulkhead::cli {

// Messages to a person. All of them go to stderr: stdout is for data.
//
// Names, reasons and codecs come from untrusted files and backends, so every
// line passes through Printable() on its way to the terminal.

// Returns `text` with each control character, which could steer a terminal or
// change the direction of a line, replaced by "?". Line feeds stay.
std::string Printable(std::string_view text);

// Prints one line to stderr.
void Say(std::string_view line);

// Prints "bulkhead: MESSAGE" and returns the exit status for the code.
int Fail(const Status& status);

// Returns the exit status of a command whose parts ended with `a` and `b`. 1, a
// bug of Bulkhead, is worse than all others; of the others the highest counts.
int WorseExitCode(int a, int b);

bool StderrIsTerminal();

}  // namespace bulkhead::cli
