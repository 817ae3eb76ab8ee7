// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/cpu_backend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <memory>
#include <set>
#include <string>
#include <vector>

extern "C" {
#include <libavcodec/avcodec.h>
}

#include "backends/testing/clip.h"
#include "backends/testing/fake_runtime.h"

namespace bulkhead::cpu {
namespace {

using fake::Clip;
using fake::CopyPicture;
using fake::Decode;
using fake::Decoded;
using fake::FakeRuntime;

std::unique_ptr<Clip> H264() {
  return Clip::Make(
      "h264.mkv",
      {"-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25", "-frames:v", "30",
       "-c:v", "libx264", "-pix_fmt", "yuv420p", "-bf", "2"});
}

TEST(CpuBackendTest, DecodesIntoTheRuntimesBuffers) {
  const auto clip = H264();
  if (!clip) GTEST_SKIP() << "ffmpeg cannot make an H.264 clip";
  FakeRuntime runtime;
  const bulkhead_backend& backend = *bulkhead_cpu_backend();
  const bulkhead_open_parameters parameters = OpenParameters(*clip, {});
  bulkhead_decoder* decoder = nullptr;
  ASSERT_EQ(backend.open(&parameters, runtime.services(), &decoder),
            BULKHEAD_OK);
  bulkhead_frame frame = {.size = sizeof(frame)};
  for (const bulkhead_packet& packet : clip->packets()) {
    ASSERT_EQ(backend.send_packet(decoder, &packet), BULKHEAD_OK);
    if (backend.receive_frame(decoder, &frame) == BULKHEAD_OK) break;
  }
  ASSERT_NE(frame.buffer, nullptr);
  EXPECT_STREQ(frame.pixel_format, "yuv420p");
  EXPECT_EQ(frame.stride[0] % 64, 0);
  EXPECT_EQ(frame.stride[0], 2 * frame.stride[1]);
  backend.release_frame(decoder, &frame);
  backend.close(decoder);
  EXPECT_EQ(runtime.outstanding(), 0u);
}

TEST(CpuBackendTest, ThreadsDoNotChangeThePictures) {
  const auto clip = H264();
  if (!clip) GTEST_SKIP() << "ffmpeg cannot make an H.264 clip";
  const FakeRuntime runtime;
  const bulkhead_backend& backend = *bulkhead_cpu_backend();
  const Decoded one = Decode(backend, *runtime.services(), *clip);
  ASSERT_EQ(one.pictures.size(), 30u);
  for (const uint32_t threads : {0u, 2u, 5u}) {
    const Decoded many = Decode(backend, *runtime.services(), *clip,
                                {.threads = threads, .options = {}});
    EXPECT_EQ(one.pictures, many.pictures) << threads;
  }
  EXPECT_EQ(runtime.outstanding(), 0u);
}

// The packets of a clip, of which every fifth is damaged.
class DamagedPackets {
 public:
  // `cut` leaves out the second half of a packet; else bytes in its middle are
  // overwritten.
  DamagedPackets(const Clip& clip, bool cut) : packets_(clip.packets()) {
    for (size_t i = 4; i < packets_.size(); i += 5) {
      bulkhead_packet& packet = packets_[i];
      damaged_.insert(packet.pts);
      auto& bytes =
          bytes_.emplace_back(packet.data, packet.data + packet.bytes);
      if (cut) bytes.resize(packet.bytes / 2);
      packet.bytes = bytes.size();
      if (!cut) std::fill_n(bytes.begin() + bytes.size() / 2, 9, 0x55);
      bytes.resize(packet.bytes + 64);
      packet.data = bytes.data();
    }
  }

  const std::set<int64_t>& damaged() const { return damaged_; }
  Decoded Decode(const Clip& clip, uint32_t threads) const {
    const FakeRuntime runtime;
    const bulkhead_backend& backend = *bulkhead_cpu_backend();
    const bulkhead_open_parameters parameters =
        OpenParameters(clip, {.threads = threads, .options = {}});
    bulkhead_decoder* decoder = nullptr;
    Decoded decoded;
    decoded.opened = backend.open(&parameters, runtime.services(), &decoder);
    if (decoded.opened != BULKHEAD_OK) return decoded;
    DecodeAll(backend, decoder, packets_, &decoded);
    backend.close(decoder);
    return decoded;
  }

 private:
  std::vector<bulkhead_packet> packets_;
  std::list<std::vector<uint8_t>> bytes_;
  std::set<int64_t> damaged_;
};

struct DamagedClip {
  const char* name;
  bool cut;
  // Of 24 damaged pictures. HEVC does not notice all cut ends.
  int least_marked;
  std::vector<std::string> encoding;
};

class DamagedPictureTest : public testing::TestWithParam<DamagedClip> {};

// With frame threads, libavcodec outputs copies of pictures that are still
// being decoded, without the flags that are set later.
TEST_P(DamagedPictureTest, IsMarkedWhateverTheNumberOfThreads) {
  std::vector<std::string> arguments = {
      "-f", "lavfi", "-i", "testsrc2=size=640x480:rate=25", "-frames:v", "120"};
  arguments.insert(arguments.end(), GetParam().encoding.begin(),
                   GetParam().encoding.end());
  const auto clip = Clip::Make(GetParam().name, arguments);
  if (!clip) GTEST_SKIP() << "ffmpeg cannot make " << GetParam().name;
  const FakeRuntime runtime;
  const Decoded intact =
      Decode(*bulkhead_cpu_backend(), *runtime.services(), *clip);
  EXPECT_EQ(intact.pictures.size(), 120u);
  EXPECT_TRUE(intact.damaged.empty());

  const DamagedPackets packets(*clip, GetParam().cut);
  const Decoded one = packets.Decode(*clip, 1);
  EXPECT_EQ(one.pictures.size(), 120u);
  EXPECT_EQ(one.bad_packets, 0);
  int marked = 0;
  for (const int64_t pts : one.damaged) {
    if (packets.damaged().count(pts) > 0) ++marked;
  }
  EXPECT_GE(marked, GetParam().least_marked);
  // Told before the pictures that are shown before the damaged one.
  EXPECT_GE(one.errors, marked * 3 / 4);
  EXPECT_EQ(intact.errors, 0);
  for (const uint32_t threads : {2u, 4u, 8u}) {
    EXPECT_EQ(packets.Decode(*clip, threads).damaged, one.damaged) << threads;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Clips, DamagedPictureTest,
    testing::Values(
        DamagedClip{"h264.ts", true, 24, {"-c:v", "libx264"}},
        DamagedClip{
            "hevc.ts",
            true,
            18,
            {"-c:v", "libx265", "-x265-params", "log-level=0:frame-threads=1"}},
        DamagedClip{"mpeg4.mkv", true, 24, {"-c:v", "mpeg4", "-bf", "2"}},
        DamagedClip{"ffv1.mkv",
                    false,
                    24,
                    {"-c:v", "ffv1", "-level", "3", "-slicecrc", "1"}}),
    [](const auto& info) {
      const std::string name = info.param.name;
      return name.substr(0, name.find('.'));
    });

// Such a decoder draws each picture into the previous one, which an application
// may still be reading.
TEST(CpuBackendTest, ADeltaCodecLeavesAPublishedBufferAlone) {
  const auto clip = Clip::Make(
      "delta.avi", {"-f", "lavfi", "-i", "testsrc2=size=128x96:rate=25",
                    "-frames:v", "10", "-c:v", "cinepak", "-pix_fmt", "rgb24"});
  if (!clip) GTEST_SKIP() << "ffmpeg cannot make a Cinepak clip";
  const FakeRuntime runtime;
  const bulkhead_runtime& services = *runtime.services();
  const bulkhead_backend& backend = *bulkhead_cpu_backend();
  const bulkhead_open_parameters parameters = OpenParameters(*clip, {});
  bulkhead_decoder* decoder = nullptr;
  ASSERT_EQ(backend.open(&parameters, &services, &decoder), BULKHEAD_OK);
  std::vector<bulkhead_frame> published;
  std::vector<fake::Picture> pictures;
  for (const bulkhead_packet& packet : clip->packets()) {
    ASSERT_EQ(backend.send_packet(decoder, &packet), BULKHEAD_OK);
    bulkhead_frame frame = {.size = sizeof(frame)};
    ASSERT_EQ(backend.receive_frame(decoder, &frame), BULKHEAD_OK);
    ASSERT_NE(frame.buffer, nullptr);
    pictures.push_back(CopyPicture(frame));
    services.reference_buffer(services.context, frame.buffer);
    published.push_back(frame);
    backend.release_frame(decoder, &frame);
  }
  for (size_t i = 0; i < published.size(); ++i) {
    EXPECT_EQ(CopyPicture(published[i]).pixels, pictures[i].pixels) << i;
    services.release_buffer(services.context, published[i].buffer);
  }
  backend.close(decoder);
  EXPECT_EQ(runtime.outstanding(), 0u);
}

TEST(CpuBackendTest, PalettesComeAsTheSecondPlane) {
  const auto clip = Clip::Make(
      "palette.nut", {"-f", "lavfi", "-i", "testsrc2=size=64x48:rate=5",
                      "-frames:v", "3", "-c:v", "png", "-pix_fmt", "pal8"});
  if (!clip) GTEST_SKIP() << "ffmpeg cannot make a clip with a palette";
  const FakeRuntime runtime;
  const Decoded decoded =
      Decode(*bulkhead_cpu_backend(), *runtime.services(), *clip);
  ASSERT_FALSE(decoded.pictures.empty()) << decoded.error;
  EXPECT_EQ(decoded.pictures[0].pixel_format, "pal8");
  EXPECT_EQ(decoded.pictures[0].pixels.size(), 64u * 48 + 1024);
}

TEST(CpuBackendTest, OptionsReachTheDecoder) {
  const auto clip = H264();
  if (!clip) GTEST_SKIP() << "ffmpeg cannot make an H.264 clip";
  const FakeRuntime runtime;
  const Decoded keyframes =
      Decode(*bulkhead_cpu_backend(), *runtime.services(), *clip,
             {.options = {{"skip_frame", "nokey"}}});
  EXPECT_EQ(keyframes.pictures.size(), 1u);
  const Decoded refused =
      Decode(*bulkhead_cpu_backend(), *runtime.services(), *clip,
             {.options = {{"skip_frame", "sometimes"}}});
  EXPECT_EQ(refused.opened, BULKHEAD_UNSUPPORTED);
  EXPECT_NE(refused.open_error.find("sometimes"), std::string::npos);
  EXPECT_NE(refused.open_error.find("it takes none, default, noref"),
            std::string::npos)
      << refused.open_error;
  const Decoded threads = Decode(*bulkhead_cpu_backend(), *runtime.services(),
                                 *clip, {.options = {{"threads", "many"}}});
  EXPECT_NE(threads.open_error.find("a whole number from 0 to 2147483647 or "
                                    "auto"),
            std::string::npos)
      << threads.open_error;
}

TEST(CpuBackendTest, WhatFfmpegCannotDecodeIsSaidInPlainWords) {
  const FakeRuntime runtime;
  const auto animated = Clip::Make(
      "animated.webp", {"-f", "lavfi", "-i", "testsrc2=size=64x48:rate=5",
                        "-frames:v", "3", "-c:v", "libwebp_anim"});
  if (!animated) GTEST_SKIP() << "ffmpeg cannot make an animated WebP";
  const bulkhead_open_parameters parameters = OpenParameters(*animated, {});
  bulkhead_decoder* decoder = nullptr;
  const bulkhead_backend& backend = *bulkhead_cpu_backend();
  ASSERT_EQ(backend.open(&parameters, runtime.services(), &decoder),
            BULKHEAD_OK);
  EXPECT_EQ(backend.send_packet(decoder, &animated->packets()[0]),
            BULKHEAD_BAD_INPUT);
  EXPECT_STREQ(backend.last_error(decoder),
               "the picture is animated, and libavcodec has no decoder for "
               "animated WebP; convert the file to another format");
  backend.close(decoder);
}

TEST(CpuBackendTest, NumbersWithoutAMeaningAreDamage) {
  const auto clip =
      Clip::Make("damaged.aac.mkv",
                 {"-f", "lavfi", "-i", "sine=frequency=440:duration=2", "-ac",
                  "2", "-c:a", "aac"},
                 BULKHEAD_STREAM_AUDIO);
  if (!clip) GTEST_SKIP() << "ffmpeg cannot encode AAC";
  const FakeRuntime runtime;
  const bulkhead_backend& backend = *bulkhead_cpu_backend();
  const bulkhead_open_parameters parameters = OpenParameters(*clip, {});
  bulkhead_decoder* decoder = nullptr;
  ASSERT_EQ(backend.open(&parameters, runtime.services(), &decoder),
            BULKHEAD_OK);
  std::string said;
  for (bulkhead_packet packet : clip->packets()) {
    const std::vector<uint8_t> bytes(packet.bytes + 64, 0xff);
    packet.data = bytes.data();
    if (backend.send_packet(decoder, &packet) == BULKHEAD_BAD_INPUT) {
      said += backend.last_error(decoder);
    }
  }
  EXPECT_NE(said.find("the data is damaged"), std::string::npos) << said;
  EXPECT_EQ(said.find("Error number"), std::string::npos);
  backend.close(decoder);
}

class PictureLimitTest : public testing::TestWithParam<const char*> {};

// libavcodec itself would report such a picture as damage.
TEST_P(PictureLimitTest, APictureAboveTheLimitIsOutOfMemory) {
  const auto clip =
      Clip::Make("limit.mkv",
                 {"-f", "lavfi", "-i", "testsrc2=size=320x240:rate=25",
                  "-frames:v", "3", "-c:v", GetParam(), "-pix_fmt", "yuv420p"});
  if (!clip) GTEST_SKIP() << "ffmpeg cannot encode with " << GetParam();
  const FakeRuntime runtime;
  for (const uint32_t threads : {1u, 3u}) {
    const Decoded decoded =
        Decode(*bulkhead_cpu_backend(), *runtime.services(), *clip,
               {.threads = threads,
                .max_frame_pixels = 320 * 240 - 1,
                .options = {{"max_pixels", "100000000"}}});
    const bulkhead_result result =
        decoded.opened != BULKHEAD_OK ? decoded.opened : decoded.failure;
    EXPECT_EQ(result, BULKHEAD_OUT_OF_MEMORY);
    EXPECT_NE((decoded.open_error + decoded.error).find("76799"),
              std::string::npos)
        << decoded.open_error << decoded.error;
    EXPECT_EQ(runtime.acquired(), 0u);
  }
  const Decoded whole = Decode(*bulkhead_cpu_backend(), *runtime.services(),
                               *clip, {.max_frame_pixels = 320 * 240 * 2});
  EXPECT_EQ(whole.pictures.size(), 3u) << whole.open_error << whole.error;
}

INSTANTIATE_TEST_SUITE_P(Encoders, PictureLimitTest,
                         testing::Values("libx264", "libx265", "libaom-av1",
                                         "libvpx-vp9", "mpeg4", "ffv1",
                                         "rawvideo"));

TEST(CpuBackendTest, AFullRuntimeIsOutOfMemory) {
  const auto clip = H264();
  if (!clip) GTEST_SKIP() << "ffmpeg cannot make an H.264 clip";
  FakeRuntime runtime;
  runtime.RefuseBuffers(BULKHEAD_OUT_OF_MEMORY);
  const Decoded decoded =
      Decode(*bulkhead_cpu_backend(), *runtime.services(), *clip);
  EXPECT_TRUE(decoded.pictures.empty());
  EXPECT_EQ(decoded.failure, BULKHEAD_OUT_OF_MEMORY) << decoded.error;
}

// [device-3], [device-4].
TEST(CpuBackendTest, ItsCapabilitiesAreWhatItOpens) {
  const bulkhead_backend& backend = *bulkhead_cpu_backend();
  const FakeRuntime runtime;
  std::set<std::string> declared;
  const auto emit = [](void* names, const bulkhead_device* device) {
    for (size_t i = 0; i < device->capability_count; ++i) {
      const bulkhead_capability& capability = device->capabilities[i];
      static_cast<std::set<std::string>*>(names)->insert(capability.codec);
      EXPECT_EQ(capability.profile, BULKHEAD_ALL_PROFILES);
    }
  };
  ASSERT_EQ(backend.enumerate_devices(runtime.services(), emit, &declared),
            BULKHEAD_OK);
  EXPECT_GT(declared.size(), 300u);
  const AVCodecDescriptor* codec = nullptr;
  while ((codec = avcodec_descriptor_next(codec)) != nullptr) {
    const bool audio = codec->type == AVMEDIA_TYPE_AUDIO;
    if (!audio && codec->type != AVMEDIA_TYPE_VIDEO) continue;
    bulkhead_codec_parameters parameters = {.size = sizeof(parameters),
                                            .codec = codec->name};
    parameters.stream_kind = audio ? BULKHEAD_STREAM_AUDIO : 0;
    parameters.width = parameters.height = 64;
    parameters.sample_rate = 48000;
    parameters.channels = 2;
    const bulkhead_open_parameters asked = {
        .size = sizeof(asked), .codec = &parameters, .threads = 1};
    bulkhead_decoder* decoder = nullptr;
    const bulkhead_result result =
        backend.open(&asked, runtime.services(), &decoder);
    if (result == BULKHEAD_OK) backend.close(decoder);
    if (declared.contains(codec->name)) {
      // Some need more than these parameters tell.
      EXPECT_TRUE(result != BULKHEAD_UNSUPPORTED ||
                  std::string(backend.last_error(nullptr))
                      .starts_with("libavcodec could not open"))
          << backend.last_error(nullptr);
    } else {
      EXPECT_EQ(result, BULKHEAD_UNSUPPORTED) << codec->name;
    }
  }
}

TEST(CpuBackendTest, ACodecOfTheOtherKindIsUnsupported) {
  const auto error_of = [](const char* name, uint32_t stream_kind) {
    const FakeRuntime runtime;
    const bulkhead_codec_parameters codec = {
        .size = sizeof(codec), .codec = name, .stream_kind = stream_kind};
    const bulkhead_open_parameters parameters = {.size = sizeof(parameters),
                                                 .codec = &codec};
    bulkhead_decoder* decoder = nullptr;
    EXPECT_EQ(
        bulkhead_cpu_backend()->open(&parameters, runtime.services(), &decoder),
        BULKHEAD_UNSUPPORTED);
    return std::string(bulkhead_cpu_backend()->last_error(nullptr));
  };
  EXPECT_EQ(error_of("aac", BULKHEAD_STREAM_VIDEO),
            "\"aac\" is not a video codec; choose a video stream");
  EXPECT_EQ(error_of("h264", BULKHEAD_STREAM_AUDIO),
            "\"h264\" is not an audio codec; choose an audio stream");
}

}  // namespace
}  // namespace bulkhead::cpu
