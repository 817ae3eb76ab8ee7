// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bulkhead/crashes.h"
#include "bulkhead/host.h"
#include "tests/chaos/chaos_installation.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {

// Tests of the records of crashes: an application whose state directory is its
// own and empty, with the chaos backend installed, and the CLI on the same
// directory.
class CrashTest : public testing::Test {
 protected:
  void SetUp() override {
    clip_ = ClipOrSkip(Clip::kOddSize);
    if (clip_.empty()) return;
    state_ = TemporaryDirectory() + "/state";
    std::filesystem::remove_all(state_);
  }

  HostOptions Recording(HostOptions options) const {
    options.state_directory = state_;
    return options;
  }
  std::unique_ptr<Host> NewHost() const {
    return Host::Create(Recording(installation_.options())).value();
  }
  // Decodes until the end or a failure.
  static Status Play(Host& host, const std::string& path,
                     VideoOptions options) {
    auto video = host.OpenVideo(path, std::move(options));
    if (!video) return video.error();
    for (;;) {
      const auto frame = video->Next();
      if (!frame) return frame.error();
      if (!*frame) return Status();
    }
  }
  std::vector<Crash> Records() const {
    const CrashList list = ReadCrashes(state_).value();
    EXPECT_TRUE(list.diagnostics.empty());
    return list.crashes;
  }
  ProgramResult Cli(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(),
                     PathFromEnvironment("BULKHEAD_TEST_CLI"));
    return RunProgram(
        arguments,
        {.environment = {{"BULKHEAD_STATE_DIR", state_},
                         {"BULKHEAD_LIBEXEC_DIR", LibexecDirectory()}}});
  }

  ChaosInstallation installation_;
  std::string clip_;
  std::string state_;
};

}  // namespace bulkhead::tests
