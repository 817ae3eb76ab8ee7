// SPDX-License-Identifier: Apache-2.0

// The conformance suite: tests that every backend must pass, in this repository
// or not. Run it on a shared object:
//
//     conformance LIBRARY SYMBOL
//
// The ffmpeg program makes the streams; tests that need one skip without
// ffmpeg. Tests also skip if the device does not decode H.264, and audio tests
// skip if the backend decodes no audio.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/sdk/sized.h"
#include "backends/sdk/testing/clip.h"
#include "backends/sdk/testing/fake_runtime.h"

namespace bulkhead::sdk {
namespace {

const bulkhead_backend* backend;

int Threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<int>(std::distance(begin(tasks), end(tasks)));
}

std::vector<std::string> Devices() {
  std::vector<std::string> names;
  const FakeRuntime runtime;
  EXPECT_EQ(backend->enumerate_devices(
                runtime.services(),
                [](void* context, const bulkhead_device* device) {
                  static_cast<std::vector<std::string>*>(context)->push_back(
                      device->name);
                },
                &names),
            BULKHEAD_OK);
  return names;
}

class BackendTest : public testing::Test {
 protected:
  // With B-frames, so that decoding order and display order differ.
  static void SetUpTestSuite() {
    clip_ = Clip::Make("conformance.mp4",
                       {"-f", "lavfi", "-i", "testsrc2=size=322x182:rate=25",
                        "-frames:v", "40", "-c:v", "libx264", "-pix_fmt",
                        "yuv420p", "-bf", "2", "-g", "15"})
                .release();
  }
  static void TearDownTestSuite() {
    delete clip_;
    clip_ = nullptr;
  }

  void SetUp() override {
    if (clip_ == nullptr) GTEST_SKIP() << "ffmpeg cannot make an H.264 clip";
    const bulkhead_open_parameters parameters = OpenParameters(*clip_, {});
    const bulkhead_result result =
        backend->open(&parameters, runtime_.services(), &decoder_);
    if (result == BULKHEAD_UNSUPPORTED) {
      GTEST_SKIP() << "no H.264: " << backend->last_error(nullptr);
    }
    ASSERT_EQ(result, BULKHEAD_OK) << backend->last_error(nullptr);
  }

  void TearDown() override {
    if (decoder_ != nullptr) backend->close(decoder_);
    EXPECT_EQ(runtime_.outstanding(), 0u) << "buffers outlived the decoder";
  }

  // Sends packets until a frame comes.
  bulkhead_frame FirstFrame() {
    bulkhead_frame frame = {.size = sizeof(frame)};
    for (const bulkhead_packet& packet : clip_->packets()) {
      EXPECT_EQ(backend->send_packet(decoder_, &packet), BULKHEAD_OK);
      const bulkhead_result result = backend->receive_frame(decoder_, &frame);
      if (result == BULKHEAD_OK) return frame;
      EXPECT_EQ(result, BULKHEAD_AGAIN);
    }
    ADD_FAILURE() << "no frame came";
    return frame;
  }

  static Clip* clip_;
  FakeRuntime runtime_;
  bulkhead_decoder* decoder_ = nullptr;
};

Clip* BackendTest::clip_ = nullptr;

TEST(BackendTableTest, IsCompleteAndOfThisVersion) {
  ASSERT_NE(backend, nullptr);
  EXPECT_GE(backend->size, sizeof(bulkhead_backend));
  EXPECT_EQ(backend->abi_version, BULKHEAD_ABI_VERSION);
  EXPECT_STRNE(backend->name, "");
  EXPECT_STRNE(backend->version, "");
  EXPECT_TRUE(backend->enumerate_devices && backend->open &&
              backend->send_packet && backend->receive_frame &&
              backend->release_frame && backend->flush && backend->close &&
              backend->last_error);
}

TEST(BackendTableTest, EnumeratingGivesTheSameNamesEachTime) {
  const std::vector<std::string> names = Devices();
  EXPECT_EQ(names, Devices());
  for (const std::string& name : names) EXPECT_NE(name, "");
}

TEST(BackendTableTest, AnUnknownCodecIsUnsupportedAndNamed) {
  const FakeRuntime runtime;
  const bulkhead_codec_parameters codec = {.size = sizeof(codec),
                                           .codec = "no-such-codec"};
  const bulkhead_open_parameters parameters = {.size = sizeof(parameters),
                                               .codec = &codec};
  bulkhead_decoder* decoder = nullptr;
  ASSERT_EQ(backend->open(&parameters, runtime.services(), &decoder),
            BULKHEAD_UNSUPPORTED);
  EXPECT_NE(std::string(backend->last_error(nullptr)).find("no-such-codec"),
            std::string::npos);
}

TEST_F(BackendTest, ADeviceThatDoesNotExistIsUnsupported) {
  bulkhead_open_parameters parameters = OpenParameters(*clip_, {});
  parameters.device = static_cast<uint32_t>(Devices().size());
  bulkhead_decoder* decoder = nullptr;
  EXPECT_EQ(backend->open(&parameters, runtime_.services(), &decoder),
            BULKHEAD_UNSUPPORTED);
  EXPECT_STRNE(backend->last_error(nullptr), "");
}

TEST_F(BackendTest, AnUnknownOptionIsUnsupportedAndNamed) {
  const DecodeOptions options = {.options = {{"no-such-option", "1"}}};
  const Decoded decoded =
      Decode(*backend, *runtime_.services(), *clip_, options);
  EXPECT_EQ(decoded.opened, BULKHEAD_UNSUPPORTED);
  EXPECT_NE(decoded.open_error.find("no-such-option"), std::string::npos)
      << decoded.open_error;
}

TEST_F(BackendTest, EveryFrameComesOnceAndInOrder) {
  Decoded decoded;
  DecodeAll(*backend, decoder_, clip_->packets(), &decoded);
  EXPECT_EQ(decoded.failure, BULKHEAD_OK) << decoded.error;
  EXPECT_EQ(decoded.bad_packets, 0);
  ASSERT_EQ(decoded.pictures.size(), 40u);
  for (size_t i = 0; i < decoded.pictures.size(); ++i) {
    EXPECT_EQ(decoded.pictures[i].width, 322);
    EXPECT_EQ(decoded.pictures[i].height, 182);
    if (i == 0) continue;
    EXPECT_LT(decoded.pictures[i - 1].pts, decoded.pictures[i].pts);
  }
}

TEST_F(BackendTest, EveryDeviceGivesTheSamePictures) {
  const Decoded first = Decode(*backend, *runtime_.services(), *clip_);
  for (uint32_t device = 1; device < Devices().size(); ++device) {
    const Decoded other = Decode(*backend, *runtime_.services(), *clip_,
                                 {.device = device, .options = {}});
    EXPECT_EQ(first.pictures, other.pictures) << device;
  }
}

TEST_F(BackendTest, TheEndIsToldAgainAndAgain) {
  Decoded decoded;
  DecodeAll(*backend, decoder_, clip_->packets(), &decoded);
  bulkhead_frame frame = {.size = sizeof(frame)};
  EXPECT_EQ(backend->receive_frame(decoder_, &frame), BULKHEAD_END_OF_STREAM);
  EXPECT_EQ(backend->send_packet(decoder_, nullptr), BULKHEAD_OK);
  EXPECT_EQ(backend->receive_frame(decoder_, &frame), BULKHEAD_END_OF_STREAM);
}

TEST_F(BackendTest, FlushUndoesTheDrain) {
  Decoded first;
  DecodeAll(*backend, decoder_, clip_->packets(), &first);
  backend->flush(decoder_);
  Decoded second;
  DecodeAll(*backend, decoder_, clip_->packets(), &second);
  EXPECT_EQ(second.failure, BULKHEAD_OK) << second.error;
  EXPECT_EQ(first.pictures, second.pictures);
}

TEST_F(BackendTest, FlushForgetsFramesThatWereNotTaken) {
  const std::vector<bulkhead_packet>& packets = clip_->packets();
  Decoded whole;
  DecodeAll(*backend, decoder_, packets, &whole);
  backend->flush(decoder_);
  bulkhead_frame first = FirstFrame();
  backend->release_frame(decoder_, &first);
  backend->flush(decoder_);
  Decoded again;
  DecodeAll(*backend, decoder_, packets, &again);
  EXPECT_EQ(whole.pictures, again.pictures);
}

TEST_F(BackendTest, AFrameStaysUnchangedUntilItsRelease) {
  bulkhead_frame frame = FirstFrame();
  const Picture before = CopyPicture(frame);
  for (const bulkhead_packet& packet : clip_->packets()) {
    while (backend->send_packet(decoder_, &packet) == BULKHEAD_AGAIN) {
      bulkhead_frame other = {.size = sizeof(other)};
      ASSERT_EQ(backend->receive_frame(decoder_, &other), BULKHEAD_OK);
      backend->release_frame(decoder_, &other);
    }
  }
  EXPECT_EQ(before, CopyPicture(frame));
  backend->release_frame(decoder_, &frame);
}

TEST_F(BackendTest, ThePlanesLieInTheNamedBuffer) {
  bulkhead_frame frame = FirstFrame();
  ASSERT_GE(frame.plane_count, 1u);
  for (uint32_t plane = 0; plane < frame.plane_count; ++plane) {
    EXPECT_NE(frame.data[plane], nullptr);
    EXPECT_NE(frame.stride[plane], 0);
  }
  EXPECT_TRUE(frame.buffer == nullptr || runtime_.outstanding() > 0);
  backend->release_frame(decoder_, &frame);
}

TEST_F(BackendTest, WithoutBuffersThePicturesAreTheSame) {
  const Decoded lent = Decode(*backend, *runtime_.services(), *clip_);
  runtime_.RefuseBuffers(BULKHEAD_UNSUPPORTED);
  const Decoded own = Decode(*backend, *runtime_.services(), *clip_);
  EXPECT_EQ(own.failure, BULKHEAD_OK) << own.error;
  EXPECT_EQ(lent.pictures, own.pictures);
}

TEST_F(BackendTest, DamagedPacketsDoNotEndTheStream) {
  std::vector<std::vector<uint8_t>> noise;
  std::vector<bulkhead_packet> packets = clip_->packets();
  for (size_t i = 5; i < packets.size(); i += 10) {
    std::vector<uint8_t>& bytes = noise.emplace_back(packets[i].bytes + 64);
    for (size_t k = 0; k + 64 < bytes.size(); ++k) {
      bytes[k] = static_cast<uint8_t>(k * 151 + i);
    }
    packets[i].data = bytes.data();
  }
  Decoded decoded;
  DecodeAll(*backend, decoder_, packets, &decoded);
  EXPECT_EQ(decoded.failure, BULKHEAD_OK) << decoded.error;
  EXPECT_GE(decoded.pictures.size(), 20u);
}

TEST_F(BackendTest, ClosingInMidStreamLeaksNothing) {
  bulkhead_frame frame = FirstFrame();
  backend->release_frame(decoder_, &frame);
}

// Tests of backends that decode audio.
class AudioBackendTest : public testing::Test {
 protected:
  void SetUp() override {
    if ((TakeSized(*backend).stream_kinds & BULKHEAD_DECODES_AUDIO) == 0) {
      GTEST_SKIP() << "it does not decode audio";
    }
    clip_ = Clip::Make("conformance.m4a",
                       {"-f", "lavfi", "-i", "sine=frequency=440:duration=2",
                        "-ac", "2", "-c:a", "aac"},
                       BULKHEAD_STREAM_AUDIO);
    if (!clip_) GTEST_SKIP() << "ffmpeg cannot make a file of AAC";
    const bulkhead_open_parameters parameters = OpenParameters(*clip_, {});
    const bulkhead_result result =
        backend->open(&parameters, runtime_.services(), &decoder_);
    if (result == BULKHEAD_UNSUPPORTED) {
      GTEST_SKIP() << "no AAC: " << backend->last_error(nullptr);
    }
    ASSERT_EQ(result, BULKHEAD_OK) << backend->last_error(nullptr);
  }

  void TearDown() override {
    if (decoder_ != nullptr) backend->close(decoder_);
  }

  std::vector<Picture> DecodeWhole() {
    Decoded decoded;
    DecodeAll(*backend, decoder_, clip_->packets(), &decoded);
    EXPECT_EQ(decoded.failure, BULKHEAD_OK) << decoded.error;
    EXPECT_EQ(decoded.bad_packets, 0);
    return std::move(decoded.pictures);
  }

  FakeRuntime runtime_;
  std::unique_ptr<Clip> clip_;
  bulkhead_decoder* decoder_ = nullptr;
};

TEST_F(AudioBackendTest, EverySampleThatIsToBeHeardComesOnceAndInOrder) {
  const std::vector<Picture> frames = DecodeWhole();
  ASSERT_FALSE(frames.empty());
  int64_t samples = 0;
  for (size_t i = 0; i < frames.size(); ++i) {
    EXPECT_EQ(frames[i].height, 2);
    samples += frames[i].width;
    if (i == 0) continue;
    EXPECT_LT(frames[i - 1].pts, frames[i].pts);
  }
  EXPECT_EQ(frames[0].pts, 0);
  // The encoder fills the last packet up.
  EXPECT_GE(samples, 2 * 44100);
  EXPECT_LT(samples, 2 * 44100 + 2 * 1024);
}

TEST_F(AudioBackendTest, FlushUndoesTheDrain) {
  const std::vector<Picture> first = DecodeWhole();
  backend->flush(decoder_);
  EXPECT_EQ(first.size(), DecodeWhole().size());
}

TEST_F(AudioBackendTest, AFrameStaysUnchangedUntilItsRelease) {
  bulkhead_frame frame = {.size = sizeof(frame)};
  Picture before;
  bool have = false;
  for (const bulkhead_packet& packet : clip_->packets()) {
    ASSERT_EQ(backend->send_packet(decoder_, &packet), BULKHEAD_OK);
    bulkhead_frame next = {.size = sizeof(next)};
    while (backend->receive_frame(decoder_, &next) == BULKHEAD_OK) {
      if (have) {
        backend->release_frame(decoder_, &next);
        continue;
      }
      frame = next;
      before = CopyPicture(frame);
      have = true;
    }
  }
  ASSERT_TRUE(have);
  EXPECT_EQ(before, CopyPicture(frame));
  backend->release_frame(decoder_, &frame);
}

TEST_F(AudioBackendTest, EveryDeviceGivesTheSameSamples) {
  const Decoded first = Decode(*backend, *runtime_.services(), *clip_);
  for (uint32_t device = 1; device < Devices().size(); ++device) {
    const Decoded other = Decode(*backend, *runtime_.services(), *clip_,
                                 {.device = device, .options = {}});
    EXPECT_EQ(first.pictures, other.pictures) << device;
  }
}

}  // namespace

int Run(const char* library, const char* symbol) {
  void* object = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const auto entry =
      reinterpret_cast<bulkhead_backend_entry>(dlsym(object, symbol));
  if (entry == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  backend = entry();
  Devices();
  if (Threads() != 1) {
    std::fprintf(stderr, "%s starts threads before open\n", library);
    return 1;
  }
  return RUN_ALL_TESTS();
}

}  // namespace bulkhead::sdk

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 3) {
    std::fprintf(stderr, "usage: conformance LIBRARY SYMBOL\n");
    return 2;
  }
  return bulkhead::sdk::Run(argv[1], argv[2]);
}
