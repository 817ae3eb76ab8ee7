// SPDX-License-Identifier: Apache-2.0
#include "backends/openreg/openreg_backend.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "backends/cpu/cpu_backend.h"
#include "backends/sdk/testing/clip.h"
#include "backends/sdk/testing/fake_runtime.h"

namespace bulkhead::openreg {
namespace {

using sdk::Clip;
using sdk::Decode;
using sdk::Decoded;
using sdk::FakeRuntime;

TEST(OpenregBackendTest, HasTwoDevicesOfOneName) {
  const FakeRuntime runtime;
  std::vector<std::string> names;
  bulkhead_openreg_backend()->enumerate_devices(
      runtime.services(),
      [](void* context, const bulkhead_device* device) {
        static_cast<std::vector<std::string>*>(context)->push_back(
            device->name);
      },
      &names);
  EXPECT_EQ(names, (std::vector<std::string>{"openreg", "openreg"}));
}

struct Source {
  const char* file;
  const char* codec;
  const char* pixel_format;
};

class SameAsCpuTest : public testing::TestWithParam<Source> {};

TEST_P(SameAsCpuTest, OnBothDevices) {
  const Source& source = GetParam();
  const auto clip = Clip::Make(
      source.file,
      {"-f", "lavfi", "-i", "testsrc2=size=322x182:rate=25", "-frames:v", "20",
       "-c:v", source.codec, "-pix_fmt", source.pixel_format});
  if (!clip) GTEST_SKIP() << "ffmpeg cannot encode " << source.codec;
  const FakeRuntime runtime;
  const Decoded cpu =
      Decode(*bulkhead_cpu_backend(), *runtime.services(), *clip);
  ASSERT_EQ(cpu.pictures.size(), 20u) << cpu.error;
  for (const uint32_t device : {0u, 1u}) {
    const Decoded openreg =
        Decode(*bulkhead_openreg_backend(), *runtime.services(), *clip,
               {.device = device, .options = {}});
    EXPECT_EQ(openreg.failure, BULKHEAD_OK) << openreg.error;
    EXPECT_EQ(cpu.pictures, openreg.pictures);
  }
  EXPECT_EQ(runtime.outstanding(), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Formats, SameAsCpuTest,
    testing::Values(Source{"yuv420p.mkv", "libx264", "yuv420p"},
                    Source{"yuv422p10le.mkv", "ffv1", "yuv422p10le"},
                    Source{"rgb24.mov", "qtrle", "rgb24"},
                    Source{"pal8.nut", "png", "pal8"},
                    Source{"gray.mkv", "ffv1", "gray"}),
    [](const auto& info) { return std::string(info.param.pixel_format); });

}  // namespace
}  // namespace bulkhead::openreg
