// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <string>
#include <string_view>

namespace bulkhead::cli {

// What a person reads, which is stderr's alone: stdout is for data.
//
// Names, reasons and codecs come from files and backends that nobody trusts, so
// every line passes Printable() on its way to the terminal.

// `text` with control characters, by which a terminal is steered, replaced.
std::string Printable(std::string_view text);

// Prints one line.
void Say(std::string_view line);

// Prints `bulkhead: message` and returns the exit status for it.
int Fail(const Status& status);

// The exit status of a command that did several things: 1, a bug of ours, is
// worse than all others; of these the highest counts.
int WorseExitCode(int a, int b);

bool StderrIsTerminal();

}  // namespace bulkhead::cli
