// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bulkhead::tests {

// A block of code in a Markdown page.
struct CodeBlock {
  std::string language;  // "console", "cpp"; empty where the fence names none
  bool fenced = false;   // false: indented by four spaces
  size_t line = 0;       // the number of its first line of code, from 1
  std::vector<std::string> lines;
};

// A command of a console block: a line that begins with "$ ", together with the
// lines that continue it after a trailing backslash.
struct PageCommand {
  size_t line = 0;
  std::string text;
  // The lines that the page shows below the command. Empty: none are shown.
  std::vector<std::string> output;
};

std::string ReadPage(const std::string& path);

// Returns the code blocks of `page`. An indented block counts only after an
// empty line, as in Markdown, and not inside a list.
std::vector<CodeBlock> CodeBlocksOf(const std::string& page);

std::vector<PageCommand> CommandsOf(const CodeBlock& block);

// Compares the output that a page shows with the output of a run. Numbers and
// long hexadecimal hashes equal each other, runs of spaces equal one space, and
// "…" in the page stands for any text. Returns the first part of the page that
// the output lacks, or an empty string if the output is as shown.
std::string PartThatDiffers(const std::vector<std::string>& shown,
                            const std::string& output);

}  // namespace bulkhead::tests
