// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/decode/picture_reader.h"

#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/worker/media/testing/memory_bytes.h"

namespace bulkhead::worker::decode {
namespace {

using Times = std::vector<int64_t>;

// A backend that decodes each packet to a picture, except one that it rejects.
struct Vendor {
  std::deque<int64_t> waiting;
  std::vector<std::string> calls;
  int64_t rejects = -1;
  bool ended = false;
};

Vendor& Of(bulkhead_decoder* decoder) {
  return *reinterpret_cast<Vendor*>(decoder);
}

bulkhead_backend Table() {
  bulkhead_backend table{};
  table.open = [](auto, const bulkhead_runtime* runtime, auto decoder) {
    *decoder = static_cast<bulkhead_decoder*>(runtime->context);
    Of(*decoder).calls.push_back("open");
    return BULKHEAD_OK;
  };
  table.send_packet = [](bulkhead_decoder* decoder,
                         const bulkhead_packet* packet) {
    Vendor& vendor = Of(decoder);
    // Takes a packet only if no picture waits.
    if (!vendor.waiting.empty()) return BULKHEAD_AGAIN;
    if (packet == nullptr) {
      vendor.ended = true;
    } else if (packet->pts == vendor.rejects) {
      return BULKHEAD_BAD_INPUT;
    } else {
      vendor.waiting.push_back(packet->pts);
    }
    return BULKHEAD_OK;
  };
  table.receive_frame = [](bulkhead_decoder* decoder, bulkhead_frame* frame) {
    Vendor& vendor = Of(decoder);
    if (vendor.waiting.empty()) {
      return vendor.ended ? BULKHEAD_END_OF_STREAM : BULKHEAD_AGAIN;
    }
    frame->pts = vendor.waiting.front();
    vendor.waiting.pop_front();
    return BULKHEAD_OK;
  };
  table.release_frame = [](bulkhead_decoder* decoder, bulkhead_frame*) {
    Of(decoder).calls.push_back("release");
  };
  table.flush = [](bulkhead_decoder* decoder) {
    Of(decoder).waiting.clear();
    Of(decoder).ended = false;
    Of(decoder).calls.push_back("flush");
  };
  table.close = [](bulkhead_decoder* decoder) {
    Of(decoder).waiting.clear();
    Of(decoder).ended = false;
    Of(decoder).calls.push_back("close");
  };
  table.last_error = [](auto) { return "the vendor's sentence"; };
  return table;
}

// A file with raw pictures of 2x2 pixels.
std::string Clip(int pictures) {
  std::string file = "YUV4MPEG2 W2 H2 F25:1 C420jpeg\n";
  for (int i = 0; i < pictures; ++i) {
    file += "FRAME\n" + std::string(6, static_cast<char>(i));
  }
  return file;
}

class PictureReaderTest : public testing::Test {
 protected:
  PictureReaderTest() {
    runtime_.context = &vendor_;
    auto demuxer = demux::Demuxer::Open(demux::MediaBytes(file_), file_.size(),
                                        "clip.y4m", demux::kFirstStream);
    reader_ = *PictureReader::Open(
        *std::move(demuxer),
        [this] {
          return Decoder::Open(table_, {}, runtime_, std::chrono::minutes(1));
        },
        [this] { vendor_.calls.push_back("replace"); });
    vendor_.calls.clear();
  }

  // Reads the next picture and passes it. Returns its timestamp, or -1 at the
  // end.
  int64_t Read() {
    if (!*reader_->Next()) return -1;
    const int64_t pts = reader_->picture()->pts;
    reader_->Pass();
    return pts;
  }
  // Returns the calls of the decoder, except release_frame, since the last
  // call of this function.
  std::vector<std::string> Calls() {
    std::erase(vendor_.calls, "release");
    return std::exchange(vendor_.calls, {});
  }

  MemoryBytes file_{Clip(6)};
  Vendor vendor_;
  bulkhead_backend table_ = Table();
  bulkhead_runtime runtime_{};
  std::unique_ptr<PictureReader> reader_;
};

TEST_F(PictureReaderTest, ReadsEachPictureAndThenTheEnd) {
  EXPECT_FALSE(reader_->begun());
  for (int64_t pts = 0; pts < 6; ++pts) EXPECT_EQ(Read(), pts);
  EXPECT_EQ(Read(), -1);
  EXPECT_EQ(Read(), -1);
  EXPECT_TRUE(reader_->TakeLosses().empty());
  EXPECT_EQ(reader_->Progress(),
            "after 6 packets, the last with timestamp 5, byte 97 of the file");
}

TEST_F(PictureReaderTest, APictureStaysUntilItIsPassed) {
  EXPECT_TRUE(*reader_->Next());
  EXPECT_TRUE(*reader_->Next());
  EXPECT_EQ(reader_->picture()->pts, 0);
  EXPECT_EQ(reader_->position(), 37);
  EXPECT_NE(reader_->access_check(), 0u);
  EXPECT_TRUE(reader_->at_beginning());
  EXPECT_TRUE(vendor_.calls.empty());
  reader_->Pass();
  EXPECT_EQ(vendor_.calls, std::vector<std::string>{"release"});
  EXPECT_FALSE(reader_->at_beginning());
  EXPECT_FALSE(reader_->has_picture());
}

TEST_F(PictureReaderTest, ARejectedPacketIsALossBeforeTheNextPicture) {
  vendor_.rejects = 2;
  EXPECT_EQ(Read(), 0);
  EXPECT_EQ(Read(), 1);
  EXPECT_TRUE(reader_->TakeLosses().empty());
  EXPECT_EQ(Read(), 3);
  const auto losses = reader_->TakeLosses();
  ASSERT_EQ(losses.size(), 1u);
  EXPECT_EQ(losses[0].pts, 2);
  EXPECT_EQ(losses[0].sign, ipc::DamageSign::kRejected);
  EXPECT_EQ(reader_->TakeComplaint(), "the vendor's sentence");
}

TEST_F(PictureReaderTest, ALossMeansThatTheReaderIsNotAtTheBeginning) {
  vendor_.rejects = 0;
  EXPECT_TRUE(*reader_->Next());
  EXPECT_TRUE(reader_->at_beginning());
  EXPECT_EQ(reader_->TakeLosses().size(), 1u);
  EXPECT_FALSE(reader_->at_beginning());
}

TEST_F(PictureReaderTest, ASeekToTheBeginningOpensANewDecoder) {
  EXPECT_TRUE(reader_->SeekToBeginning());
  EXPECT_EQ(Calls(), std::vector<std::string>{}) << "it is there";
  EXPECT_EQ(Read(), 0);
  EXPECT_TRUE(*reader_->Next());
  vendor_.calls.clear();
  EXPECT_TRUE(reader_->SeekToBeginning());
  EXPECT_EQ(vendor_.calls,
            (std::vector<std::string>{"release", "replace", "close", "open"}))
      << "the decoder gets its frames before it is closed";
  EXPECT_TRUE(reader_->at_beginning());
  EXPECT_EQ(Read(), 0);
}

TEST_F(PictureReaderTest, ASeekFlushesTheDecoderUnlessThereWasDamage) {
  for (int64_t pts = 0; pts < 6; ++pts) EXPECT_EQ(Read(), pts);
  EXPECT_TRUE(reader_->SeekToKeyframe(4));
  EXPECT_EQ(Calls(), std::vector<std::string>{"flush"});
  EXPECT_FALSE(reader_->at_beginning());
  vendor_.rejects = 5;
  EXPECT_EQ(Read(), 3) << "a keyframe at or before the timestamp";
  EXPECT_EQ(Read(), 4);
  EXPECT_EQ(Read(), -1);
  EXPECT_TRUE(reader_->SeekToKeyframe(4));
  EXPECT_EQ(Calls(), (std::vector<std::string>{"replace", "close", "open"}));
  EXPECT_EQ(Read(), 3);
  EXPECT_TRUE(reader_->TakeLosses().empty()) << "these were before the seek";
}

TEST_F(PictureReaderTest, AMarkLeadsToItsPacketAndAWrongOneToTheBeginning) {
  for (int64_t pts = 0; pts < 3; ++pts) EXPECT_EQ(Read(), pts);
  EXPECT_TRUE(*reader_->Next());
  const demux::PacketMark mark{.timestamp = reader_->picture()->pts,
                               .position = reader_->position(),
                               .check = reader_->access_check()};
  EXPECT_TRUE(reader_->SeekToPacket(mark));
  EXPECT_EQ(Read(), 3);
  EXPECT_TRUE(reader_->SeekToPacket({.timestamp = 3, .position = 0}));
  EXPECT_TRUE(reader_->at_beginning());
  EXPECT_EQ(Read(), 0);
}

}  // namespace
}  // namespace bulkhead::worker::decode
