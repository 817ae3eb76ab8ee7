// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "core/base/clean_text.h"

namespace bulkhead::cli {

std::string Printable(std::string_view text) {
  std::string printable;
  while (true) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    // CleanText() never makes a text longer, so the limit cuts nothing.
    printable += CleanText(line, line.size());
    if (end == std::string_view::npos) return printable;
    printable += '\n';
    text.remove_prefix(end + 1);
  }
}

void Say(std::string_view line) {
  std::fflush(stdout);
  const std::string text = Printable(line) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void Say(const Diagnostics& diagnostics) {
  for (const Diagnostic& each : diagnostics) Say(ToString(each));
}

void Print(std::string_view line) {
  const std::string text = Printable(line) + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
}

int FinishPrinting() {
  errno = 0;
  const bool written = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (written || errno == EPIPE) return 0;
  return Fail(Status(
      Code::kInvalidArgument,
      "cannot write to stdout: " + std::generic_category().message(errno)));
}

int Fail(const Status& status) {
  Say("bulkhead: " + status.message());
  return ExitCodeFor(status.code());
}

int WorseExitCode(int a, int b) {
  return a == 1 || b == 1 ? 1 : std::max(a, b);
}

bool StderrIsTerminal() { return isatty(STDERR_FILENO) == 1; }

std::optional<size_t> StdoutColumns() {
  winsize size = {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
    return std::nullopt;
  }
  return size.ws_col;
}

}  // namespace bulkhead::cli
