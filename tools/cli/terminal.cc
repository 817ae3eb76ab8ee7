// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/terminal.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace bulkhead::cli {

std::string Printable(std::string_view text) {
  std::string printable(text);
  for (size_t i = 0; i < printable.size(); ++i) {
    const auto byte = static_cast<unsigned char>(printable[i]);
    // The C1 controls U+0080 to U+009F are the bytes C2 80 to C2 9F in UTF-8.
    const bool c1 = byte >= 0x80 && byte < 0xa0 && i > 0 &&
                    static_cast<unsigned char>(printable[i - 1]) == 0xc2;
    if ((byte < 0x20 && byte != '\n') || byte == 0x7f || c1) {
      printable[i] = '?';
    }
  }
  return printable;
}

void Say(std::string_view line) {
  const std::string text = Printable(line) + "\n";
  std::fwrite(text.data(), 1, text.size(), stderr);
}

int Fail(const Status& status) {
  Say("bulkhead: " + status.message());
  return ExitCodeFor(status.code());
}

int WorseExitCode(int a, int b) {
  return a == 1 || b == 1 ? 1 : std::max(a, b);
}

bool StderrIsTerminal() { return isatty(STDERR_FILENO) == 1; }

}  // namespace bulkhead::cli
