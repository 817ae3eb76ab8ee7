// SPDX-License-Identifier: Apache-2.0
#include "tests/decoding/decoding_fixture.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <stdexcept>

#include "tests/media/required_clip.h"
#include "tests/support/distribution_options.h"
#include "tests/support/frame_hash.h"

namespace bulkhead::tests {

std::string DeviceUnderTest() { return std::getenv("BULKHEAD_TEST_DEVICE"); }

std::string DeviceNameUnderTest() {
  const std::string device = DeviceUnderTest();
  return device.substr(0, device.find(':'));
}

HostOptions OptionsUnderTest() {
  HostOptions options = DistributionOptions();
  options.backends = {"*"};
  options.backends_disable.emplace();
  // Some tests kill workers from another thread, several between two frames.
  options.limits.kills_per_position = options.limits.restarts_per_position;
  return options;
}

std::vector<std::string> HashesOf(VideoDecoder& video,
                                  const BeforeFrame& before) {
  std::vector<std::string> hashes;
  for (;;) {
    if (before) before(video, hashes.size());
    auto frame = video.Next();
    if (!frame) {
      ADD_FAILURE() << "frame " << hashes.size() << ": " << frame.error();
      return hashes;
    }
    if (!*frame) return hashes;
    hashes.push_back(HashOf(**frame));
  }
}

void DecodingTest::SetUp() {
  if (ClipOrSkip(Clip::kH264).empty()) return;
  auto host = Host::Create(OptionsUnderTest());
  ASSERT_TRUE(host) << host.error();
  host_ = *std::move(host);
  const auto sandbox = host_->Sandbox();
  ASSERT_TRUE(sandbox) << sandbox.error();
  if (sandbox->tier == SandboxTier::kFull) return;
  std::string reasons;
  for (const std::string& reason : sandbox->reasons) reasons += reason + "; ";
  GTEST_SKIP() << "the sandbox is only " << SandboxTierName(sandbox->tier)
               << " here: " << reasons;
}

std::string DecodingTest::Path(Clip clip) { return Generate(clip).value(); }

std::vector<std::string> DecodingTest::Reference(Clip clip) {
  static std::map<Clip, std::vector<std::string>> known;
  std::vector<std::string>& hashes = known[clip];
  if (hashes.empty()) {
    hashes = HashesByFfmpeg(Path(clip)).value();
  }
  return hashes;
}

VideoDecoder DecodingTest::Open(Clip clip) {
  VideoOptions options;
  options.device = DeviceUnderTest();
  return host().OpenVideo(Path(clip), options).value();
}

BackendInfo DecodingTest::Backend() {
  const BackendReport report = host().Backends().value();
  for (const BackendInfo& backend : report.backends) {
    for (const DeviceInfo& device : backend.devices) {
      if (device.name.substr(0, device.name.find(':')) ==
          DeviceNameUnderTest()) {
        return backend;
      }
    }
  }
  std::string known;
  for (const BackendInfo& backend : report.backends) {
    known += backend.name + " [";
    for (const DeviceInfo& device : backend.devices) known += device.name + " ";
    known += "] ";
  }
  throw std::runtime_error("no backend has the device " + DeviceUnderTest() +
                           " among " + known);
}

}  // namespace bulkhead::tests
