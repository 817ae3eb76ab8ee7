// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/media/generated_clips.h"

namespace bulkhead::tests {

// What BULKHEAD_TEST_DEVICE names, else the first device of the distribution.
std::string DeviceUnderTest();
// That without its index.
std::string DeviceNameUnderTest();

// Finds the distribution under test and what comes with Bulkhead, and nothing
// else on the machine.
HostOptions OptionsUnderTest();

// Called before each frame but those behind the last, with the frame's number.
using BeforeFrame = std::function<void(VideoDecoder&, size_t)>;

// Hashes of all frames that Next() still gives; a failure of the test when a
// call fails.
std::vector<std::string> HashesOf(VideoDecoder& video,
                                  const BeforeFrame& before = nullptr);

// A Host on the distribution under test, and clips to decode with it. Skips
// where there is no ffmpeg to make them.
class BackendTest : public testing::Test {
 protected:
  void SetUp() override;

  Host& host() { return *host_; }
  void CloseHost() { host_.reset(); }

  // Path of a clip; its hashes as ffmpeg finds them.
  std::string Path(Clip clip);
  std::vector<std::string> Reference(Clip clip);

  // A decoder of the clip on the device under test. Throws when it cannot be
  // opened, which gtest reports.
  VideoDecoder Open(Clip clip);

  // The backend that serves the device under test.
  BackendInfo Backend();

 private:
  std::unique_ptr<Host> host_;
};

}  // namespace bulkhead::tests
