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

// Returns the device that BULKHEAD_TEST_DEVICE names.
std::string DeviceUnderTest();
// Returns the device under test without its index: "openreg" for "openreg:1".
std::string DeviceNameUnderTest();

// Returns options with which a Host finds the distribution under test and the
// backends that come with Bulkhead, and no other backend of the machine.
HostOptions OptionsUnderTest();

// Called before each Next() that returns a frame, with the number of the frame.
using BeforeFrame = std::function<void(VideoDecoder&, size_t)>;

// Returns the hashes of all remaining frames of `video`. Fails the test if a
// call fails.
std::vector<std::string> HashesOf(VideoDecoder& video,
                                  const BeforeFrame& before = nullptr);

// Gives a test a Host for the distribution under test, and clips to decode.
// Skips the test if there is no ffmpeg to make the clips.
class DecodingTest : public testing::Test {
 protected:
  void SetUp() override;

  Host& host() { return *host_; }
  void CloseHost() { host_.reset(); }

  std::string Path(Clip clip);
  // Returns the hashes of the clip's frames as ffmpeg decodes them.
  std::vector<std::string> Reference(Clip clip);

  // Opens the clip on the device under test. Throws if that fails; gtest
  // reports the exception.
  VideoDecoder Open(Clip clip);

  // Describes the backend that serves the device under test.
  BackendInfo Backend();

 private:
  std::unique_ptr<Host> host_;
};

}  // namespace bulkhead::tests
