// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bulkhead::cli {

// Lines for a person. What the user asked for, such as a list of backends, goes
// to stdout, also as a table; everything said besides goes to stderr.
//
// Names, reasons and codecs come from untrusted files and backends, so every
// line passes through Printable() on its way to the terminal.

// Returns `text` with each control character, which could steer a terminal or
// change the direction of a line, replaced by "?". Line feeds stay.
std::string Printable(std::string_view text);

// Prints one line to stderr, after all lines that were printed to stdout.
void Say(std::string_view line);

// Prints one line to stdout, which is buffered.
void Print(std::string_view line);
// Flushes stdout and returns the exit status: 0, or 2 after a message if
// something could not be written. It is 0 too if the reader of a pipe has gone
// away (`| head`).
int FinishPrinting();

// Prints "bulkhead: MESSAGE" and returns the exit status for the code.
int Fail(const Status& status);

// Returns the exit status of a command whose parts ended with `a` and `b`. 1, a
// bug of Bulkhead, is worse than all others; of the others the highest counts.
int WorseExitCode(int a, int b);

bool StderrIsTerminal();
// Returns the width of the terminal that stdout is, or nullopt if stdout is
// none or does not know its width.
std::optional<size_t> StdoutColumns();

}  // namespace bulkhead::cli
