// SPDX-License-Identifier: Apache-2.0
#include "core/worker_protocol/published_output.h"

#include <capnp/message.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/include/bulkhead/frame.h"
#include "core/worker_protocol/native_format.h"
#include "ipc/frame_geometry.h"

namespace bulkhead::worker_protocol {
namespace {

namespace schema = ipc::schema;

const PictureShape kShape{.width = 16, .height = 8};
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

class NativeOutputTest : public ::testing::Test {
 protected:
  std::string Adopt(const PictureShape& shape, uint64_t slot_bytes,
                    uint32_t stride) {
    const auto pool = FramePool::Create(slot_bytes, "pages", 2, 1 << 20,
                                        FramePool::Slots::kAllocated)
                          .value();
    const auto grant = pool->ledger().TakeForGrant().value();
    capnp::MallocMessageBuilder message;
    auto frame = message.initRoot<schema::PublishedFrame>();
    frame.setSlot(grant.slot);
    frame.setGeneration(grant.generation);
    frame.setWidth(shape.width);
    frame.setHeight(shape.height);
    frame.setStride(stride);
    const auto lease = AdoptPictureIfValid(frame.asReader(), shape, pool);
    if (lease) return "";
    EXPECT_EQ(lease.error().code(), Code::kBackendMisbehaved);
    return lease.error().message();
  }

  // Returns whether the facts are accepted after `change`.
  static bool Accepts(
      const std::function<void(schema::PictureFacts::Builder)>& change) {
    capnp::MallocMessageBuilder message;
    auto facts = message.initRoot<schema::PictureFacts>();
    change(facts);
    return ValidateFacts(facts.asReader()).has_value();
  }

  const std::shared_ptr<const NativeFormat> format_ =
      NativeFormat::Create("yuv420p", 16, 8, 1000).value();
  const PictureShape shape_{.width = 16, .height = 8, .native = format_};
  const uint64_t bytes_ = format_->geometry.bytes;
  const uint32_t stride_ = format_->geometry.stride;
};

TEST_F(NativeOutputTest, PlanesWhereTheyMustBeAreAdopted) {
  EXPECT_EQ(Adopt(shape_, bytes_, stride_), "");
}

TEST_F(NativeOutputTest, PlanesElsewhereAreRefused) {
  EXPECT_NE(Adopt(shape_, bytes_, stride_ + 64), "");
  EXPECT_NE(Adopt(shape_, bytes_, stride_ - 64), "");
  EXPECT_NE(Adopt(shape_, bytes_, 0), "");
}

TEST_F(NativeOutputTest, PlanesThatLeaveTheirSlotAreRefused) {
  EXPECT_NE(Adopt(shape_, 4096, stride_), "");
}

TEST_F(NativeOutputTest, AFormatThatIsNotListedIsRefused) {
  for (const char* name : {"", "vaapi", "yuv420p\n", "no such"}) {
    const auto format = NativeFormat::Create(name, 16, 8, 1000);
    ASSERT_FALSE(format) << name;
    EXPECT_EQ(format.error().code(), Code::kBackendMisbehaved);
  }
}

TEST_F(NativeOutputTest, APictureMayHaveAShapeOfItsOwn) {
  const auto same = OwnShapeIfValid(16, 8, "yuv420p", shape_, 1000);
  ASSERT_TRUE(same) << same.error();
  EXPECT_EQ(same->native, format_);
  const auto other = OwnShapeIfValid(20, 10, "gray", shape_, 1000);
  ASSERT_TRUE(other) << other.error();
  EXPECT_EQ(other->width, 20u);
  EXPECT_EQ(other->native->pixel_format, "gray");
  EXPECT_EQ(other->native->geometry.width, 20u);
  EXPECT_EQ(GeometryOf(*other, 1000).value(), other->native->geometry);
  const auto rgb = OwnShapeIfValid(20, 10, "", kShape, 1000);
  ASSERT_TRUE(rgb) << rgb.error();
  EXPECT_FALSE(rgb->native);
  EXPECT_EQ(GeometryOf(*rgb, 1000).value().height, 10u);
}

TEST_F(NativeOutputTest, AnImpossibleShapeIsRefused) {
  const auto refused = [&](uint32_t width, uint32_t height, const char* format,
                           const PictureShape& before) {
    const auto shape = OwnShapeIfValid(width, height, format, before, 1000);
    return shape ? Code::kOk : shape.error().code();
  };
  for (const auto& before : {shape_, kShape}) {
    EXPECT_EQ(refused(0, 8, "yuv420p", before), Code::kBackendMisbehaved);
    EXPECT_EQ(refused(16, 0, "yuv420p", before), Code::kBackendMisbehaved);
    EXPECT_EQ(refused(1001, 1, "yuv420p", before), Code::kBackendMisbehaved);
    EXPECT_EQ(refused(UINT32_MAX, UINT32_MAX, "yuv420p", before),
              Code::kBackendMisbehaved);
  }
  EXPECT_EQ(refused(16, 8, "", shape_), Code::kBackendMisbehaved);
  EXPECT_EQ(refused(16, 8, "vaapi", shape_), Code::kBackendMisbehaved);
}

TEST_F(NativeOutputTest, ColoursWithoutAMeaningAreRefused) {
  EXPECT_TRUE(Accepts([](auto) {}));
  EXPECT_TRUE(Accepts([](auto facts) { facts.setPrimaries(255); }));
  EXPECT_TRUE(Accepts([](auto facts) { facts.setRange(2); }));
  EXPECT_FALSE(Accepts([](auto facts) { facts.setRange(3); }));
  EXPECT_TRUE(Accepts([](auto facts) { facts.setChromaLocation(6); }));
  EXPECT_FALSE(Accepts([](auto facts) { facts.setChromaLocation(7); }));
}

TEST_F(NativeOutputTest, PackedPlanesHaveNoGaps) {
  std::vector<std::byte> slot(bytes_);
  for (size_t i = 0; i < 3; ++i) {
    const ipc::PlaneGeometry& plane = format_->geometry.planes[i];
    for (uint32_t y = 0; y < plane.rows; ++y) {
      std::fill_n(slot.begin() + static_cast<std::ptrdiff_t>(plane.offset +
                                                             y * plane.stride),
                  plane.row_bytes, std::byte(i + 1));
    }
  }
  const std::vector<std::byte> packed = format_->Pack(slot.data());
  ASSERT_EQ(packed.size(), 16u * 8 * 3 / 2);
  EXPECT_EQ(std::count(packed.begin(), packed.begin() + 128, std::byte{1}),
            128);
  EXPECT_EQ(std::count(packed.begin(), packed.end(), std::byte{2}), 32);
  const Plane plane = format_->Packed()->PlaneAt(packed.data(), 2);
  EXPECT_EQ(plane.data, packed.data() + 160);
  EXPECT_EQ(plane.stride, 8u);
  EXPECT_EQ(plane.width, 8u);
  EXPECT_EQ(plane.height, 4u);
  EXPECT_EQ(plane.row(3)[7], std::byte{3});
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
}  // namespace bulkhead::worker_protocol
