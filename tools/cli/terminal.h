// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/diagnostic.h>
#include <bulkhead/status.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace bulkhead::cli {

// Functions that print lines for people. Output that the user asked for, such
// as a list of backends, goes to stdout (Print). Everything else, such as
// warnings and progress, goes to stderr (Say).
//
// Names, reasons and codecs come from untrusted files and backends, so every
// line passes through Printable() on its way to the terminal.

// Returns `text` with "?" in place of each character that could steer a
// terminal or change the writing direction. Line feeds stay.
std::string Printable(std::string_view text);

// Prints one line to stderr, after all lines that were printed to stdout.
void Say(std::string_view line);
// Prints a line to stderr for each diagnostic.
void Say(const Diagnostics& diagnostics);

// Prints one line to stdout, which is buffered.
void Print(std::string_view line);
// Flushes stdout and returns the exit status: 2, after a message, if something
// could not be written, else 0. A reader of a pipe that goes away early, such
// as `head`, is no failure.
int FinishPrinting();

// Prints "bulkhead: MESSAGE" and returns the exit status for the code.
int Fail(const Status& status);

// Returns the exit status of a command whose parts ended with `a` and `b`: 1, a
// bug of Bulkhead, if either is 1, else the higher status.
int WorseExitCode(int a, int b);

bool StderrIsTerminal();
// Returns the width of the terminal on stdout, or nullopt if stdout is no
// terminal or its width is unknown.
std::optional<size_t> StdoutColumns();

}  // namespace bulkhead::cli
