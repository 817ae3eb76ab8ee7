// SPDX-License-Identifier: Apache-2.0
//
// What the pages of the checkout refer to exists: links, files, folders, Bazel
// targets. Reads the checkout itself, so that no page can be forgotten.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/docs/page.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostReadmeLines = 150;

// What a page's text refers to, blocks of code left out.
struct References {
  std::vector<std::string> links;
  std::vector<std::string> code_spans;
};

std::string WithoutBlocks(const std::string& page) {
  std::istringstream text(page);
  std::string result;
  bool in_fence = false;
  for (std::string line; std::getline(text, line);) {
    if (line.starts_with("```")) in_fence = !in_fence;
    if (!in_fence && !line.starts_with("```")) result += line + "\n";
  }
  return result;
}

std::vector<std::string> FirstGroups(const std::string& text,
                                     const std::regex& pattern) {
  std::vector<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end;
       match != end; ++match) {
    found.push_back((*match)[1]);
  }
  return found;
}

References ReferencesOf(const std::string& page) {
  static const std::regex link(R"(\]\(([^)]*)\))");
  static const std::regex span(R"(`([^`\n]+)`)");
  const std::string text = WithoutBlocks(page);
  return {FirstGroups(text, link), FirstGroups(text, span)};
}

// As GitHub names a heading.
std::set<std::string> AnchorsOf(const std::string& page) {
  std::set<std::string> anchors;
  std::istringstream text(WithoutBlocks(page));
  for (std::string line; std::getline(text, line);) {
    const size_t level = line.find_first_not_of('#');
    if (level == 0 || level == std::string::npos || line[level] != ' ') {
      continue;
    }
    std::string anchor;
    for (const char c : line.substr(level + 1)) {
      if (c == ' ') anchor += '-';
      if (isalnum(c) || c == '-' || c == '_') {
        anchor += static_cast<char>(tolower(c));
      }
    }
    anchors.insert(anchor);
  }
  return anchors;
}

class Links : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(PathFromEnvironment("BULKHEAD_TEST_README")).parent_path();
    for (auto entry = fs::recursive_directory_iterator(root_);
         entry != fs::recursive_directory_iterator(); ++entry) {
      const std::string name = entry->path().filename();
      if (name == ".git" || name == ".cache" || name.starts_with("bazel-")) {
        entry.disable_recursion_pending();
        continue;
      }
      if (!entry->is_regular_file()) continue;
      files_.push_back("/" + entry->path().lexically_relative(root_).string());
      if (name.ends_with(".md")) pages_.push_back(files_.back().substr(1));
    }
    ASSERT_FALSE(pages_.empty());
  }

  std::string Text(const std::string& page) const {
    return ReadPage(root_ / page);
  }
  bool IsFile(const std::string& end_of_path) const {
    for (const std::string& file : files_) {
      if (file.ends_with("/" + end_of_path)) return true;
    }
    return false;
  }
  bool IsTarget(const std::string& label) const {
    const size_t colon = label.find(':');
    const std::string package = label.substr(2, colon - 2);
    if (package.ends_with("...")) {
      return fs::is_directory(root_ / package.substr(0, package.size() - 3));
    }
    const std::string build = ReadPage(root_ / package / "BUILD");
    const std::string name = colon == std::string::npos
                                 ? fs::path(package).filename().string()
                                 : label.substr(colon + 1);
    return build.find("name = \"" + name + "\"") != std::string::npos;
  }

  fs::path root_;
  std::vector<std::string> files_;  // from the root, with a slash before each
  std::vector<std::string> pages_;
};

TEST_F(Links, PointToFilesAndHeadings) {
  for (const std::string& page : pages_) {
    for (const std::string& link : ReferencesOf(Text(page)).links) {
      if (link.starts_with("https://") || link.starts_with("mailto:")) continue;
      const size_t hash = link.find('#');
      const fs::path target =
          hash == 0 ? fs::path(page)
                    : (fs::path(page).parent_path() / link.substr(0, hash))
                          .lexically_normal();
      EXPECT_TRUE(fs::exists(root_ / target)) << page << ": " << link;
      if (hash == std::string::npos) continue;
      EXPECT_TRUE(AnchorsOf(Text(target)).contains(link.substr(hash + 1)))
          << page << ": there is no such heading: " << link;
    }
  }
}

TEST_F(Links, FilesFoldersAndTargetsExist) {
  static const std::regex file(R"([\w./-]*\w\.(h|cc|c|capnp|bzl|sh|md))");
  static const std::regex up(R"(^(\.\./)+)");
  static const std::regex folder(R"((core|ipc|backends|tools|tests)/[\w./-]*)");
  static const std::regex label(R"((//[\w/.]+(:[\w.-]+)?))");
  for (const std::string& page : pages_) {
    const std::string text = Text(page);
    for (const std::string& span : ReferencesOf(text).code_spans) {
      if (std::regex_match(span, file)) {
        EXPECT_TRUE(IsFile(std::regex_replace(span, up, "")))
            << page << ": " << span;
      } else if (std::regex_match(span, folder)) {
        EXPECT_TRUE(fs::exists(root_ / span) || IsFile(span + ".cc"))
            << page << ": " << span;
      }
    }
    std::string without_urls =
        std::regex_replace(text, std::regex("https?://"), "");
    for (const std::string& target : FirstGroups(without_urls, label)) {
      EXPECT_TRUE(IsTarget(target)) << page << ": " << target;
    }
  }
}

// From the README a reader comes to every page.
TEST_F(Links, LeadToEveryPage) {
  std::set<std::string> reached = {"README.md"};
  std::vector<std::string> open = {"README.md"};
  while (!open.empty()) {
    const std::string page = open.back();
    open.pop_back();
    for (const std::string& link : ReferencesOf(Text(page)).links) {
      const std::string target =
          (fs::path(page).parent_path() / link.substr(0, link.find('#')))
              .lexically_normal();
      if (target.ends_with(".md") && reached.insert(target).second) {
        open.push_back(target);
      }
    }
  }
  // GitHub itself shows it.
  reached.insert(".github/PULL_REQUEST_TEMPLATE.md");
  for (const std::string& page : pages_) {
    EXPECT_TRUE(reached.contains(page)) << "no page links to " << page;
  }
}

TEST_F(Links, ReadmeIsShort) {
  const std::string readme = Text("README.md");
  EXPECT_LE(std::count(readme.begin(), readme.end(), '\n'),
            static_cast<ptrdiff_t>(kMostReadmeLines));
}

// A page's commands are run, and its C++ is compiled, where this directory's
// BUILD file lists the page.
TEST_F(Links, PagesWithCodeAreListed) {
  // The last one by //tests/package:prefix_test.
  const std::set<std::string> compiled = {
      "README.md", "core/application/README.md", "backends/sdk/README.md"};
  std::set<std::string> run;
  std::istringstream listed(getenv("BULKHEAD_TEST_PAGES"));
  for (std::string page; listed >> page;) {
    run.insert(fs::path(page).lexically_normal());
  }
  for (const std::string& page : pages_) {
    for (const CodeBlock& block : CodeBlocksOf(Text(page))) {
      const std::string where = page + ":" + std::to_string(block.line);
      if (block.language == "console") {
        EXPECT_TRUE(run.contains(page))
            << where << ": add the page to PAGES in tests/docs/BUILD";
      } else if (block.language == "cpp") {
        EXPECT_TRUE(compiled.contains(page))
            << where << ": nothing compiles it";
      } else {
        for (const std::string& line : block.lines) {
          EXPECT_FALSE(line.starts_with("bulkhead ") ||
                       line.starts_with("tools/") || line.starts_with("bazel "))
              << where << ": write this as a console block: " << line;
        }
      }
    }
  }
}

}  // namespace
}  // namespace bulkhead::tests
