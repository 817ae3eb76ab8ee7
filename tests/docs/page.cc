// SPDX-License-Identifier: Apache-2.0
#include "tests/docs/page.h"

#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>

namespace bulkhead::tests {
namespace {

constexpr char kFence[] = "```";
constexpr char kAnything[] = "…";

bool IsListItem(const std::string& line) {
  static const std::regex item(R"( *([-*+]|[0-9]+\.) .*)");
  return std::regex_match(line, item);
}

std::string Normalized(const std::string& text) {
  static const std::regex hash(R"([0-9a-f]{16,})");
  static const std::regex number(R"([0-9]+(\.[0-9]+)?)");
  static const std::regex spaces(R"( +)");
  std::string result = std::regex_replace(text, hash, "HASH");
  result = std::regex_replace(result, number, "N");
  return std::regex_replace(result, spaces, " ");
}

}  // namespace

std::string ReadPage(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<CodeBlock> CodeBlocksOf(const std::string& page) {
  std::vector<CodeBlock> blocks;
  std::istringstream text(page);
  std::string line;
  size_t number = 0;
  bool in_fence = false;
  bool in_indented = false;
  bool in_list = false;
  bool after_empty = true;
  while (std::getline(text, line)) {
    ++number;
    if (in_fence) {
      if (line == kFence) {
        in_fence = false;
      } else {
        blocks.back().lines.push_back(line);
      }
      continue;
    }
    if (line.starts_with(kFence)) {
      blocks.push_back({line.substr(3), true, number + 1, {}});
      in_fence = true;
      in_indented = false;
      continue;
    }
    if (line.starts_with("    ") && !in_list && (in_indented || after_empty)) {
      if (!in_indented) blocks.push_back({"", false, number, {}});
      in_indented = true;
      blocks.back().lines.push_back(line.substr(4));
      continue;
    }
    if (IsListItem(line)) {
      in_list = true;
    } else if (!line.empty() && line[0] != ' ') {
      in_list = false;
    }
    if (!line.empty()) in_indented = false;
    after_empty = line.empty();
  }
  return blocks;
}

std::vector<PageCommand> CommandsOf(const CodeBlock& block) {
  std::vector<PageCommand> commands;
  bool continues = false;
  for (size_t i = 0; i < block.lines.size(); ++i) {
    const std::string& line = block.lines[i];
    if (continues) {
      commands.back().text += "\n" + line;
    } else if (line.starts_with("$ ")) {
      commands.push_back({block.line + i, line.substr(2), {}});
    } else if (!commands.empty()) {
      commands.back().output.push_back(line);
      continue;
    } else {
      continue;
    }
    continues = line.ends_with('\\');
  }
  return commands;
}

std::string PartThatDiffers(const std::vector<std::string>& shown,
                            const std::string& output) {
  std::string page;
  for (const std::string& line : shown) page += line + "\n";
  // A line with nothing else in it stands for any number of lines, none too.
  for (size_t at; (at = page.find("…\n")) != std::string::npos &&
                  (at == 0 || page[at - 1] == '\n');) {
    page.erase(at + std::string(kAnything).size(), 1);
  }
  const std::string expected = Normalized(page);
  const std::string actual = Normalized(output);
  size_t found_until = 0;
  size_t begin = 0;
  for (bool first = true;; first = false) {
    const size_t end = expected.find(kAnything, begin);
    const bool last = end == std::string::npos;
    const std::string part = expected.substr(begin, end - begin);
    size_t at =
        last && !first ? actual.rfind(part) : actual.find(part, found_until);
    if (first && at != 0) return part;
    if (at == std::string::npos || at < found_until) return part;
    if (last && at + part.size() != actual.size()) return part;
    found_until = at + part.size();
    if (last) return "";
    begin = end + std::string(kAnything).size();
  }
}

}  // namespace bulkhead::tests
