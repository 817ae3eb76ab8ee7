// SPDX-License-Identifier: Apache-2.0
#include "core/worker_protocol/published_output.h"

#include <capnp/message.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

namespace bulkhead::session {
namespace {

namespace schema = ipc::schema;

constexpr PictureShape kShape{.width = 16, .height = 8};
constexpr uint64_t kSlotBytes = 4096;

class PublishedOutputTest : public ::testing::Test {
 protected:
  PublishedOutputTest() : grant_(pool_->ledger().TakeForGrant().value()) {}

  // Returns why a picture is refused that is sound but for `change`; empty if
  // the picture is adopted.
  std::string AdoptPicture(
      const std::function<void(schema::PublishedFrame::Builder)>& change) {
    capnp::MallocMessageBuilder message;
    auto frame = message.initRoot<schema::PublishedFrame>();
    frame.setSlot(grant_.slot);
    frame.setGeneration(grant_.generation);
    frame.setWidth(kShape.width);
    frame.setHeight(kShape.height);
    frame.setStride(64);
    change(frame);
    return Adopted(AdoptPictureIfValid(frame.asReader(), kShape, pool_));
  }

  std::string AdoptSamples(uint32_t count, uint32_t channels) {
    capnp::MallocMessageBuilder message;
    auto samples = message.initRoot<schema::PublishedSamples>();
    samples.setSlot(grant_.slot);
    samples.setGeneration(grant_.generation);
    samples.setCount(count);
    return Adopted(AdoptSamplesIfValid(samples.asReader(), channels, pool_));
  }

  std::string Adopted(const Result<std::shared_ptr<FrameLease>>& lease) {
    if (lease) {
      EXPECT_EQ((*lease)->pixels(), pool_->slot(grant_.slot));
      return "";
    }
    EXPECT_EQ(lease.error().code(), Code::kBackendMisbehaved);
    return lease.error().message();
  }

  std::shared_ptr<FramePool> pool_ =
      FramePool::Create(kSlotBytes, "pages", 2, 1 << 20,
                        FramePool::Slots::kAllocated)
          .value();
  const ipc::SlotLedger::Grant grant_;
};

TEST_F(PublishedOutputTest, ASoundPictureIsAdopted) {
  EXPECT_EQ(AdoptPicture([](auto) {}), "");
}

TEST_F(PublishedOutputTest, ASlotIsPublishedOnce) {
  EXPECT_EQ(AdoptPicture([](auto) {}), "");
  EXPECT_NE(AdoptPicture([](auto) {}), "");
}

TEST_F(PublishedOutputTest, ASlotThatWasNotGrantedIsRefused) {
  EXPECT_NE(AdoptPicture([&](auto frame) { frame.setSlot(1 - grant_.slot); }),
            "");
  EXPECT_NE(AdoptPicture([](auto frame) { frame.setSlot(99); }), "");
  EXPECT_NE(AdoptPicture([&](auto frame) {
              frame.setGeneration(grant_.generation + 1);
            }),
            "");
}

TEST_F(PublishedOutputTest, NothingIsPublishedWithoutAPool) {
  pool_.reset();
  EXPECT_NE(AdoptPicture([](auto) {}), "");
  EXPECT_NE(AdoptSamples(1, 1), "");
}

TEST_F(PublishedOutputTest, APictureOfAnotherWidthIsRefused) {
  EXPECT_NE(AdoptPicture([](auto frame) { frame.setWidth(15); }), "");
}

TEST_F(PublishedOutputTest, APictureOfAnotherHeightIsRefused) {
  EXPECT_NE(AdoptPicture([](auto frame) { frame.setHeight(9); }), "");
}

TEST_F(PublishedOutputTest, APictureThatLeavesItsSlotIsRefused) {
  EXPECT_NE(AdoptPicture([](auto frame) { frame.setStride(kSlotBytes); }), "");
}

TEST_F(PublishedOutputTest, SamplesThatFillTheirSlotAreAdopted) {
  EXPECT_EQ(AdoptSamples(kSlotBytes / sizeof(float) / 2, 2), "");
}

TEST_F(PublishedOutputTest, SamplesThatLeaveTheirSlotAreRefused) {
  EXPECT_NE(AdoptSamples(kSlotBytes / sizeof(float) / 2 + 1, 2), "");
}

TEST_F(PublishedOutputTest, NoSamplesAreRefused) {
  EXPECT_NE(AdoptSamples(0, 2), "");
}

}  // namespace
}  // namespace bulkhead::session
