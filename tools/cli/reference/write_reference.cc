// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "tools/cli/commands.h"
#include "tools/cli/reference/completion.h"
#include "tools/cli/reference/man_page.h"

// A program for the build that writes the man pages and completions of
// `bulkhead` into a directory, laid out as in an installation:
// share/man/man1/bulkhead.1 and so on. The program itself is not installed.

namespace {

bool Write(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream out(file, std::ios::binary);
  out << text;
  return static_cast<bool>(out.flush());
}

}  // namespace

int main(int argc, char** argv) {
  using namespace bulkhead::cli;
  using namespace bulkhead::cli::reference;
  if (argc != 2) {
    std::fputs("Usage: write_reference DIRECTORY\n", stderr);
    return 2;
  }
  Invocation invocation;
  const CommandReference reference = Describe(*MakeProgram(invocation));
  const std::filesystem::path share = std::filesystem::path(argv[1]) / "share";
  bool written =
      Write(share / "man/man1/bulkhead.1", ProgramPage(reference)) &&
      Write(share / "bash-completion/completions/bulkhead",
            BashCompletion(reference)) &&
      Write(share / "fish/vendor_completions.d/bulkhead.fish",
            FishCompletion(reference)) &&
      Write(share / "zsh/site-functions/_bulkhead", ZshCompletion(reference));
  for (const CommandReference& command : reference.subcommands) {
    written = written &&
              Write(share / "man/man1" / ("bulkhead-" + command.name + ".1"),
                    CommandPage(command));
  }
  if (!written) std::perror(argv[1]);
  return written ? 0 : 1;
}
