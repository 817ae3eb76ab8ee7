// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/decode/decoder.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

namespace bulkhead::worker::decode {
namespace {

// A fake backend whose functions return what the test has set.
struct Vendor {
  bulkhead_result answer = BULKHEAD_OK;
  int again = 0;  // the number of calls of receive_frame that say AGAIN first
  int frames_out = 0;
  int open_decoders = 0;
  int flushes = 0;
};
Vendor* vendor = nullptr;

bulkhead_backend Table() {
  bulkhead_backend table{};
  table.size = sizeof(table);
  table.abi_version = BULKHEAD_ABI_VERSION;
  table.name = "vendor";
  table.version = "1";
  table.enumerate_devices = [](auto...) { return BULKHEAD_OK; };
  table.open = [](const bulkhead_open_parameters*, const bulkhead_runtime*,
                  bulkhead_decoder** decoder) {
    if (vendor->answer != BULKHEAD_OK) return vendor->answer;
    ++vendor->open_decoders;
    *decoder = reinterpret_cast<bulkhead_decoder*>(vendor);
    return BULKHEAD_OK;
  };
  table.send_packet = [](bulkhead_decoder*, const bulkhead_packet*) {
    return vendor->answer;
  };
  table.receive_frame = [](bulkhead_decoder*, bulkhead_frame* frame) {
    if (vendor->again > 0 && vendor->again--) return BULKHEAD_AGAIN;
    if (vendor->answer != BULKHEAD_OK) return vendor->answer;
    ++vendor->frames_out;
    frame->size = offsetof(bulkhead_frame, interlaced);
    frame->pts = 42;
    frame->interlaced = 1;
    return BULKHEAD_OK;
  };
  table.release_frame = [](bulkhead_decoder*, bulkhead_frame*) {
    --vendor->frames_out;
  };
  table.flush = [](bulkhead_decoder*) { ++vendor->flushes; };
  table.close = [](bulkhead_decoder*) { --vendor->open_decoders; };
  table.last_error = [](bulkhead_decoder*) { return "the vendor's sentence"; };
  return table;
}

// bound: what a vendor has who gives nothing, again and again.
constexpr std::chrono::milliseconds kPatience{200};

class DecoderTest : public testing::Test {
 protected:
  DecoderTest() { vendor = &vendor_; }

  auto Open(uint64_t max_frame_pixels = 0) {
    bulkhead_open_parameters parameters{};
    parameters.size = sizeof(parameters);
    parameters.codec = &codec_;
    parameters.max_frame_pixels = max_frame_pixels;
    return Decoder::Open(table_, parameters, runtime_, kPatience);
  }

  Vendor vendor_;
  bulkhead_backend table_ = Table();
  bulkhead_runtime runtime_{};
  bulkhead_codec_parameters codec_{};
};

TEST_F(DecoderTest, AFailedOpenCarriesTheVendorsSentence) {
  vendor_.answer = BULKHEAD_UNSUPPORTED;
  const auto decoder = Open();
  ASSERT_FALSE(decoder);
  EXPECT_EQ(decoder.error().code, ipc::Code::kUnsupported);
  EXPECT_NE(decoder.error().message.find("the vendor's sentence"),
            std::string::npos);
}

TEST_F(DecoderTest, APictureThatIsTooLargeIsNoLackOfMemory) {
  codec_.width = 160;
  codec_.height = 120;
  vendor_.answer = BULKHEAD_OUT_OF_MEMORY;
  const auto message = [this](uint64_t limit) {
    return Open(limit).error().message;
  };
  EXPECT_NE(message(19'199).find("open: the picture of 160x120 is larger than "
                                 "the limit of 19199 pixels; raise the limit "
                                 "frame_pixels (--limit frame-pixels=N)"),
            std::string::npos)
      << message(19'199);
  EXPECT_NE(message(19'200).find("open: a picture of more than 19200 pixels, "
                                 "or out of memory"),
            std::string::npos)
      << message(19'200);
  EXPECT_NE(message(0).find("open: out of memory"), std::string::npos)
      << message(0);
}

TEST_F(DecoderTest, FramesAndTheDecoderAreGivenBackExactlyOnce) {
  {
    auto decoder = Open();
    ASSERT_TRUE(decoder);
    DecodedFrame frame;
    ASSERT_EQ(*(*decoder)->ReceiveFrame(&frame), Decoder::Received::kFrame);
    ASSERT_EQ(*(*decoder)->ReceiveFrame(&frame), Decoder::Received::kFrame);
    EXPECT_EQ(vendor_.frames_out, 1);
    DecodedFrame moved = std::move(frame);
    EXPECT_TRUE(frame.empty());
    EXPECT_EQ(moved->pts, 42);
    moved.Reset();
    EXPECT_EQ(vendor_.frames_out, 0);
  }
  EXPECT_EQ(vendor_.open_decoders, 0);
}

TEST_F(DecoderTest, FieldsBeyondTheVendorsSizeAreZero) {
  auto decoder = Open();
  DecodedFrame frame;
  ASSERT_TRUE((*decoder)->ReceiveFrame(&frame));
  EXPECT_EQ(frame->pts, 42);
  EXPECT_EQ(frame->interlaced, 0);
}

// There is no memory where the sentence is said to be.
TEST_F(DecoderTest, ASentenceWithoutAnEndIsReadAsFarAsItGoes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* memory = mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  ASSERT_EQ(munmap(static_cast<char*>(memory) + page, page), 0);
  static char* sentence;
  sentence = static_cast<char*>(memory) + page - 4;
  std::memcpy(sentence, "oops", 4);
  table_.last_error = [](bulkhead_decoder*) -> const char* { return sentence; };
  vendor_.answer = BULKHEAD_UNSUPPORTED;
  const auto decoder = Open();
  ASSERT_FALSE(decoder);
  EXPECT_NE(decoder.error().message.find("\"oops\""), std::string::npos);
  munmap(memory, page);
}

TEST_F(DecoderTest, DamageIsNoFailureUntilItNeverEnds) {
  auto decoder = Open();
  vendor_.answer = BULKHEAD_BAD_INPUT;
  EXPECT_EQ(*(*decoder)->SendPacket(nullptr), Decoder::Sent::kDamaged);
  EXPECT_EQ((*decoder)->TakeComplaint(), "the vendor's sentence");
  EXPECT_EQ((*decoder)->TakeComplaint(), "");
  DecodedFrame frame;
  auto received = (*decoder)->ReceiveFrame(&frame);
  for (int i = 0; received && i < 1 << 20; ++i) {
    EXPECT_EQ(*received, Decoder::Received::kDamaged);
    received = (*decoder)->ReceiveFrame(&frame);
  }
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().code, ipc::Code::kBackendMisbehaved);
}

TEST_F(DecoderTest, ForATimeAgainAfterTheEndMeansNotYet) {
  auto decoder = Open();
  ASSERT_TRUE((*decoder)->SendPacket(nullptr));
  vendor_.again = 3;
  DecodedFrame frame;
  EXPECT_EQ(*(*decoder)->ReceiveFrame(&frame), Decoder::Received::kFrame);
  vendor_.answer = BULKHEAD_AGAIN;
  const auto received = (*decoder)->ReceiveFrame(&frame);
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().code, ipc::Code::kBackendMisbehaved);
}

TEST_F(DecoderTest, AgainFromBothCallsIsABreachAfterAWhile) {
  auto decoder = Open();
  vendor_.answer = BULKHEAD_AGAIN;
  const bulkhead_packet packet = {.size = sizeof(packet)};
  DecodedFrame frame;
  auto sent = (*decoder)->SendPacket(&packet);
  while (sent) {
    EXPECT_EQ(*sent, Decoder::Sent::kTakeFramesFirst);
    ASSERT_EQ(*(*decoder)->ReceiveFrame(&frame),
              Decoder::Received::kNeedsPacket);
    sent = (*decoder)->SendPacket(&packet);
  }
  EXPECT_EQ(sent.error().code, ipc::Code::kBackendMisbehaved);
}

TEST_F(DecoderTest, TheStreamEndsOnlyAfterTheEndWasSent) {
  auto decoder = Open();
  vendor_.answer = BULKHEAD_END_OF_STREAM;
  DecodedFrame frame;
  const auto early = (*decoder)->ReceiveFrame(&frame);
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, ipc::Code::kBackendMisbehaved);
  ASSERT_TRUE((*decoder)->SendPacket(nullptr));
  EXPECT_EQ(*(*decoder)->ReceiveFrame(&frame), Decoder::Received::kEndOfStream);
}

TEST_F(DecoderTest, EachFailureEndsTheStreamWithACodeOfItsOwn) {
  const std::pair<bulkhead_result, ipc::Code> kFailures[] = {
      {BULKHEAD_UNSUPPORTED, ipc::Code::kUnsupported},
      {BULKHEAD_OUT_OF_MEMORY, ipc::Code::kResourceExhausted},
      {BULKHEAD_DEVICE_LOST, ipc::Code::kBackendLost},
      {BULKHEAD_FAILED, ipc::Code::kBackendUnavailable},
  };
  for (const auto& [result, code] : kFailures) {
    vendor_.answer = BULKHEAD_OK;
    auto decoder = Open();
    vendor_.answer = result;
    const auto sent = (*decoder)->SendPacket(nullptr);
    ASSERT_FALSE(sent);
    EXPECT_EQ(sent.error().code, code) << result;
    DecodedFrame frame;
    const auto received = (*decoder)->ReceiveFrame(&frame);
    ASSERT_FALSE(received);
    EXPECT_EQ(received.error().code, code) << result;
    decoder->reset();
    const auto opened = Open();
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, code) << result;
  }
}

}  // namespace
}  // namespace bulkhead::worker::decode
