// SPDX-License-Identifier: Apache-2.0
//
// A raw picture that has too few bytes is damaged: libavcodec takes some of
// them and fills up the picture with what was in its memory.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/access/straight_pass.h"
#include "tests/damage/clip_bytes.h"
#include "tests/support/file_bytes.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

constexpr size_t kShortened = 3;  // the picture

std::string LittleEndian(size_t value) {
  std::string bytes;
  for (int i = 0; i < 4; ++i)
    bytes.push_back(static_cast<char>(value >> 8 * i));
  return bytes;
}

// Returns the AVI file with the last bytes of a chunk in a chunk of their own.
std::string WithShortChunk(std::string file, const FilePacket& chunk,
                           size_t left_out) {
  constexpr size_t kHeaderBytes = 8;
  const size_t bytes = chunk.bytes - left_out;
  file.replace(chunk.position - 4, 4, LittleEndian(bytes));
  file.replace(chunk.position + bytes, kHeaderBytes,
               "JUNK" + LittleEndian(left_out - kHeaderBytes));
  return file;
}

TEST(RawPictures, OfTooFewBytesAreDamaged) {
  HostOptions options;
  options.libexec_dir = LibexecDirectory();
  const auto host = Host::Create(options).value();
  for (const std::string format : {"pal8", "bgr24"}) {
    const std::string path = TemporaryDirectory() + "/raw_" + format + ".avi";
    const ProgramResult made = RunFfmpeg(
        {"-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25:duration=0.4",
         "-c:v", "rawvideo", "-pix_fmt", format, path});
    if (!made.started) GTEST_SKIP() << "there is no ffmpeg on this machine";
    ASSERT_EQ(made.exit_code, 0) << made.Describe();
    const auto packets = PacketsOf(path);
    ASSERT_EQ(packets.size(), 10u);
    const std::string whole = ReadBytes(path);
    for (const size_t left_out :
         {size_t{64}, packets[kShortened].bytes / 2 & ~size_t{1}}) {
      const std::string cut = WriteClip(
          "short.avi", WithShortChunk(whole, packets[kShortened], left_out));
      for (const char* device : {"cpu", "openreg:0"}) {
        SCOPED_TRACE(format + " on " + device + " without " +
                     std::to_string(left_out));
        auto video = host->OpenVideo(
            cut, {.device = device, .on_corrupt = OnCorrupt::kSkip});
        ASSERT_TRUE(video) << video.error();
        const StraightPass pass = DecodeStraight(*video);
        EXPECT_TRUE(pass.failure.ok()) << pass.failure;
        EXPECT_EQ(pass.frames.size(), packets.size() - 1);
        const auto damage = DamageOf(*video);
        ASSERT_EQ(damage.size(), 1u);
        EXPECT_EQ(damage[0].sign, DamageSign::kRejected);
        EXPECT_EQ(damage[0].first_frame, kShortened);
      }
    }
  }
}

}  // namespace
}  // namespace bulkhead::tests
