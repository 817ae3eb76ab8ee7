// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {

// Runs the command `bulkhead` from the build and gives a test a clip to decode.
// Skips the test if there is no ffmpeg to make the clip.
class Cli : public testing::Test {
 protected:
  void SetUp() override { clip_ = ClipOrSkip(Clip::kH264); }

  const std::string& clip() const { return clip_; }

  ProgramResult Run(std::vector<std::string> arguments,
                    ProgramOptions options = {}) {
    arguments.insert(arguments.begin(),
                     PathFromEnvironment("BULKHEAD_TEST_CLI"));
    options.environment.push_back({"BULKHEAD_LIBEXEC_DIR", LibexecDirectory()});
    return RunProgram(arguments, options);
  }

  // Expects that the command fails with `exit_code`, names `thing` on stderr,
  // and prints nothing to stdout.
  void ExpectFailure(const std::vector<std::string>& arguments, int exit_code,
                     const std::string& thing, ProgramOptions options = {}) {
    const ProgramResult result = Run(arguments, std::move(options));
    EXPECT_EQ(result.exit_code, exit_code) << result.Describe();
    EXPECT_NE(result.errors.find(thing), std::string::npos)
        << "no " << thing << " in: " << result.errors;
    EXPECT_EQ(result.output, "");
  }

  static std::string Write(const std::string& name, const std::string& text) {
    const std::string path = TemporaryDirectory() + "/" + name;
    std::ofstream(path) << text;
    return path;
  }

 private:
  std::string clip_;
};

// Returns the last field of each line that is no comment.
inline std::vector<std::string> Hashes(const std::string& framemd5) {
  std::vector<std::string> hashes;
  std::istringstream lines(framemd5);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    hashes.push_back(line.substr(line.rfind(' ') + 1));
  }
  return hashes;
}

}  // namespace bulkhead::tests
