// SPDX-License-Identifier: Apache-2.0
//
// Every command of a page does what the page shows. A console block is run line
// by line, in one directory for each page: a command exits with 0, unless the
// line after it is `echo $?`, and prints what is shown below it.
#include <gtest/gtest.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "bulkhead/host.h"
#include "tests/docs/page.h"
#include "tests/docs/workplace.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

// The commands that a page may show and that are not run here, by their first
// word, and why not.
const std::map<std::string, std::string> kNotRun = {
    {"bazel", "builds and tests inside of a test of the same Bazel"},
    {"dask-scheduler", "tests/fleet runs it"},
    {"dask-worker", "tests/fleet runs it"},
    {"kubectl", "there is no cluster; tests/fleet runs the command of a pod"},
    {"parallel", "tests/fleet runs it, with sshd"},
    {"pip", "tests/python/wheel_test.py runs it"},
    {"python3", "tests/fleet runs it, on a cluster of dask"},
    {"sbatch", "tests/fleet runs it, with Slurm"},
    {"tools/bench", "measures, for minutes, on a machine left alone"},
    {"tools/lint", "is a step of .ci/run itself"},
    {"tools/package", "tests/python/wheel_test.py runs it"},
    {"tools/setup", "installs packages"},
    {"tools/test", "runs every test, this one among them"},
    {".ci/run", "runs every test, this one among them"},
};

// The languages of blocks that hold no commands.
const std::set<std::string> kOtherLanguages = {"cpp", "python", "text", "toml"};

std::string FirstWord(const std::string& text) {
  return text.substr(0, text.find_first_of(" \n"));
}

bool LooksLikeCommand(const std::string& line) {
  const std::string word = FirstWord(line);
  return word == "$" || word == "bulkhead" || word == "tools/bulkhead" ||
         kNotRun.contains(word);
}

std::vector<std::string> Pages() {
  std::istringstream paths(getenv("BULKHEAD_TEST_PAGES"));
  std::vector<std::string> pages;
  for (std::string path; paths >> path;) {
    pages.push_back(std::filesystem::path(path).lexically_normal());
  }
  return pages;
}

class Commands : public testing::TestWithParam<std::string> {
 protected:
  static void SetUpTestSuite() {
    // Operators' commands reach every application of this user in a network
    // namespace. In a new one there is only the application of the test. Other
    // users than root cannot make one; for them the test runs alone (BUILD).
    if (geteuid() == 0 && unshare(CLONE_NEWNET) != 0) perror("unshare");
  }
};

TEST_P(Commands, AreRun) {
  const std::string text = ReadPage(GetParam());
  const Workplace workplace("work");
  std::unique_ptr<Host> application;
  std::unique_ptr<VideoDecoder> stream;
  size_t run = 0;
  int last_status = 0;
  for (const CodeBlock& block : CodeBlocksOf(text)) {
    if (block.language != "console") continue;
    const auto commands = CommandsOf(block);
    EXPECT_FALSE(commands.empty()) << GetParam() << ":" << block.line;
    for (size_t i = 0; i < commands.size(); ++i) {
      const PageCommand& command = commands[i];
      const std::string where = GetParam() + ":" + std::to_string(command.line);
      SCOPED_TRACE(where + ": " + command.text);
      if (kNotRun.contains(FirstWord(command.text))) continue;
      if (!application && command.text.starts_with("bulkhead ps")) {
        // From here on the page talks of an application that is running.
        auto host = Host::Create({});
        ASSERT_TRUE(host) << host.error();
        application = std::move(*host);
        auto video = application->OpenVideo(workplace.path() + "/clip.mp4",
                                            {.device = "acme"});
        ASSERT_TRUE(video) << video.error();
        stream = std::make_unique<VideoDecoder>(std::move(*video));
        ASSERT_TRUE(stream->Next());
      }
      const int before = last_status;
      const ProgramResult result = workplace.Run(command.text, before);
      ++run;
      last_status = result.exit_code;
      const bool status_is_shown =
          i + 1 < commands.size() && commands[i + 1].text == "echo $?";
      if (!status_is_shown) {
        EXPECT_EQ(result.exit_code, 0) << result.Describe();
      }
      if (command.text == "echo $?") {
        // Exactly: PartThatDiffers takes any number for any other.
        EXPECT_EQ(command.output,
                  std::vector<std::string>{std::to_string(before)});
      } else if (!command.output.empty()) {
        EXPECT_EQ(PartThatDiffers(command.output, result.output), "")
            << "is not where the page shows it; the output is\n"
            << result.output;
      }
    }
  }
  EXPECT_GT(run, 0u) << GetParam() << " has no command that is run";
}

TEST_P(Commands, AreInConsoleBlocks) {
  for (const CodeBlock& block : CodeBlocksOf(ReadPage(GetParam()))) {
    const std::string where = GetParam() + ":" + std::to_string(block.line);
    if (block.language == "console") continue;
    if (block.fenced) {
      EXPECT_TRUE(kOtherLanguages.contains(block.language))
          << where << ": a block of \"" << block.language
          << "\"; commands belong in a block of console";
    }
    for (const std::string& line : block.lines) {
      EXPECT_FALSE(LooksLikeCommand(line))
          << where << ": write this as a console block: " << line;
    }
  }
}

std::string NameOf(const testing::TestParamInfo<std::string>& page) {
  std::string name;
  for (const char c : page.param) name += isalnum(c) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Pages, Commands, testing::ValuesIn(Pages()), NameOf);

TEST(CommandsNotRun, AreInSomePage) {
  std::set<std::string> words;
  for (const std::string& page : Pages()) {
    for (const CodeBlock& block : CodeBlocksOf(ReadPage(page))) {
      for (const PageCommand& command : CommandsOf(block)) {
        words.insert(FirstWord(command.text));
      }
    }
  }
  for (const auto& [word, reason] : kNotRun) {
    EXPECT_TRUE(words.contains(word)) << "no page shows " << word;
  }
}

// The program of the README, compiled as it is there.
TEST(Readme, ProgramDecodes) {
  const Workplace workplace("readme");
  const ProgramResult result =
      workplace.Run(PathFromEnvironment("BULKHEAD_TEST_README_PROGRAM"));
  EXPECT_EQ(result.exit_code, 0) << result.Describe();
  EXPECT_EQ(result.output, "120 frames, 10 in the batch\n");
}

}  // namespace
}  // namespace bulkhead::tests
