// SPDX-License-Identifier: Apache-2.0
#include <bulkhead/operators.h>
#include <locale.h>
#include <unistd.h>

#include <chrono>

#include "tools/cli/command_line.h"
#include "tools/cli/operators/top/causes.h"
#include "tools/cli/operators/top/layout.h"
#include "tools/cli/operators/top/live.h"
#include "tools/cli/operators/top/rows.h"
#include "tools/cli/subcommands.h"
#include "tools/cli/terminal.h"
#include "tools/cli/user_name.h"

namespace bulkhead::cli::top {
namespace {

// The time over which --once measures frames per second.
constexpr std::chrono::milliseconds kWindow{500};

constexpr char kExamples[] = R"(Examples:
  bulkhead top            watch, restart, reload, disable; ? for help, q to quit
  bulkhead top --once     print the same table once

The worst comes first: backends that are quarantined, back off or were lost,
workers that the kernel does not let end, applications that do not answer,
sessions that wait for a frame, those that lost workers, slow ones. Shows the
applications of this user only. The table is also printed once where stdout is no
terminal, or one that cannot move its cursor; `bulkhead ps --json` is for
programs. NO_COLOR=1 does without colours.)";

int PrintOnce() {
  const Result<RunningHosts> running = FindRunningHosts(kWindow);
  if (!running) return Fail(running.error());
  Causes causes;
  // RecentEvents() fails if no application runs.
  if (const auto events = RecentEvents(std::nullopt)) causes.Add(*events);
  const Table table = TableOf(*running, causes);
  if (table.rows.empty()) Say(DescribeNoApplication());
  const Layout layout = Layout::Uncut();
  Print(Describe(table.totals));
  Print(DescribeTroubles(table.totals));
  Print(layout.Heading());
  for (const Row& row : table.rows) Print(layout.LineOf(row, false));
  return FinishPrinting();
}

int RunTop(const GlobalOptions&, bool once) {
  // Fit() and ncurses need the locale's category for the width of characters.
  // The other categories stay as they are.
  setlocale(LC_CTYPE, "");
  if (once) return PrintOnce();
  if (isatty(STDIN_FILENO) != 1 || isatty(STDOUT_FILENO) != 1) {
    Say("stdin and stdout are no terminal: here is the table, once");
    return PrintOnce();
  }
  const Status shown = RunLive();
  if (shown.code() != Code::kUnsupported) return shown.ok() ? 0 : Fail(shown);
  Say(shown.message() + ": here is the table, once");
  return PrintOnce();
}

}  // namespace

void AddTopCommand(Command& program, Invocation& invocation) {
  const auto [command, once] = AddSubcommand<bool>(
      program, invocation, "top",
      "Watch the running applications, the worst first", kExamples, RunTop);
  command.AddFlag("--once", &once, "Print the table once, on stdout");
}

}  // namespace bulkhead::cli::top
