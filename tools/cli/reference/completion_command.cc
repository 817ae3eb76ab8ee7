// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "tools/cli/command_line.h"
#include "tools/cli/reference/completion.h"
#include "tools/cli/subcommands.h"
#include "tools/cli/terminal.h"

namespace bulkhead::cli::reference {
namespace {

constexpr char kExamples[] = R"(Examples:
  source <(bulkhead completion bash)     for this shell
  bulkhead completion bash > ~/.local/share/bash-completion/completions/bulkhead
  bulkhead completion zsh > ~/.zfunc/_bulkhead       (with ~/.zfunc in fpath)
  bulkhead completion fish > ~/.config/fish/completions/bulkhead.fish

The packages of Bulkhead install these files already.)";

}  // namespace

void AddCompletionCommand(Command& program, Invocation& invocation) {
  const auto [command, shell] = AddSubcommand<std::string>(
      program, invocation, "completion",
      "Print the completion script of a shell", kExamples,
      [&program](const GlobalOptions&, const std::string& shell) {
        const CommandReference reference = Describe(program);
        std::string script = shell == "bash"   ? BashCompletion(reference)
                             : shell == "fish" ? FishCompletion(reference)
                                               : ZshCompletion(reference);
        script.pop_back();  // Print() adds the last line feed
        Print(script);
        return FinishPrinting();
      });
  command.AddOption("SHELL", &shell, "The shell: bash, fish or zsh")
      .Required()
      .OneOf({"bash", "fish", "zsh"});
}

}  // namespace bulkhead::cli::reference
