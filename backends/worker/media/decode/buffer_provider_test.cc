// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/decode/buffer_provider.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

extern "C" {
#include <libavutil/pixdesc.h>
}

#include "ipc/frame_geometry.h"
#include "ipc/pixel_layout.h"

namespace bulkhead::worker::decode {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

bulkhead_buffer_request Request(const char* format, int width, int height) {
  return {sizeof(bulkhead_buffer_request), format, width, height, 64, 16};
}

bulkhead_result Acquire(BufferProvider& buffers,
                        const bulkhead_buffer_request& request,
                        bulkhead_buffer* buffer) {
  const bulkhead_runtime* runtime = buffers.runtime();
  return runtime->acquire_buffer(runtime->context, &request, buffer);
}

void Release(BufferProvider& buffers, const bulkhead_buffer& buffer) {
  const bulkhead_runtime* runtime = buffers.runtime();
  runtime->release_buffer(runtime->context, buffer.handle);
}

// A pool of three slots, each with room for a 20x4 RGB picture.
struct Pool {
  static constexpr size_t kSlotBytes = 4096;
  static ipc::FrameGeometry Geometry() {
    return *ipc::RgbGeometry(20, 4, UINT64_MAX);
  }
  alignas(64) uint8_t memory[3 * kSlotBytes] = {};
  std::shared_ptr<SlotPool> slots =
      std::make_shared<SlotPool>(memory, 3, kSlotBytes);
};

// A pool of two granted slots for native pictures of `format`.
struct NativePool {
  NativePool(const char* format, uint32_t width, uint32_t height)
      : geometry(*ipc::NativeGeometry(*ipc::FindPixelLayout(format), width,
                                      height, UINT64_MAX)),
        memory(2 * geometry.bytes + 64),
        base(memory.data() +
             (64 - reinterpret_cast<uintptr_t>(memory.data()) % 64)),
        slots(std::make_shared<SlotPool>(base, 2, geometry.bytes)) {
    slots->Grant(0, 1);
    slots->Grant(1, 1);
    buffers.DeliverInto(slots, av_get_pix_fmt(format), geometry);
  }

  const ipc::FrameGeometry geometry;
  std::vector<uint8_t> memory;
  uint8_t* const base;
  const std::shared_ptr<SlotPool> slots;
  BufferProvider buffers{64 * kMiB};
};

TEST(BufferProvider, PlanesAreAlignedAndZeroed) {
  BufferProvider buffers(kMiB);
  bulkhead_buffer buffer{};
  ASSERT_EQ(Acquire(buffers, Request("yuv420p", 101, 57), &buffer),
            BULKHEAD_OK);
  ASSERT_EQ(buffer.plane_count, 3u);
  for (int plane = 0; plane < 3; ++plane) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data[plane]) % 64, 0u);
    EXPECT_EQ(buffer.stride[plane] % 64, 0);
    for (size_t i = 0; i < buffer.bytes[plane]; ++i) {
      ASSERT_EQ(buffer.data[plane][i], 0);
    }
  }
  EXPECT_EQ(buffer.stride[0], 2 * buffer.stride[1]);
  Release(buffers, buffer);
}

// [buffer-1]: some decoders have one stride for both planes of chroma, and
// compute it from luma's.
TEST(BufferProvider, StridesOfChromaFollowThatOfLuma) {
  const struct {
    const char* format;
    int ratio;
  } kFormats[] = {{"yuv420p", 2},
                  {"yuv422p10le", 2},
                  {"yuv444p12le", 1},
                  {"yuv410p", 4},
                  {"gbrp", 1}};
  for (const auto& [format, ratio] : kFormats) {
    for (const int width : {1, 34, 127, 178, 1921}) {
      BufferProvider buffers(8 * kMiB);
      bulkhead_buffer buffer{};
      ASSERT_EQ(Acquire(buffers, Request(format, width, 16), &buffer),
                BULKHEAD_OK);
      EXPECT_EQ(buffer.stride[1], buffer.stride[2]) << format << width;
      EXPECT_EQ(buffer.stride[0], ratio * buffer.stride[1]) << format << width;
      Release(buffers, buffer);
    }
  }
}

TEST(BufferProvider, RecyclesWhatWasReleasedLast) {
  BufferProvider buffers(kMiB);
  bulkhead_buffer first{}, second{}, third{};
  Acquire(buffers, Request("gray", 64, 64), &first);
  Acquire(buffers, Request("gray", 64, 64), &second);
  Release(buffers, first);
  Release(buffers, second);
  Acquire(buffers, Request("gray", 64, 64), &third);
  EXPECT_EQ(third.data[0], second.data[0]);
}

TEST(BufferProvider, ShowsNothingOfWhatWasDecodedBeforeRenew) {
  BufferProvider buffers(kMiB);
  bulkhead_buffer idle{}, busy{}, renewed{};
  Acquire(buffers, Request("gray", 64, 64), &idle);
  Acquire(buffers, Request("gray", 64, 64), &busy);
  for (const bulkhead_buffer& buffer : {idle, busy}) {
    std::fill_n(buffer.data[0], buffer.bytes[0], uint8_t{0xff});
  }
  Release(buffers, idle);
  buffers.Renew();
  Acquire(buffers, Request("gray", 64, 64), &renewed);
  EXPECT_EQ(renewed.data[0], idle.data[0]);
  for (size_t i = 0; i < renewed.bytes[0]; ++i) {
    ASSERT_EQ(renewed.data[0][i], 0);
  }
  renewed.data[0][0] = 1;
  Release(buffers, renewed);
  Release(buffers, busy);
  Acquire(buffers, Request("gray", 64, 64), &renewed);
  EXPECT_EQ(renewed.data[0][0], 1) << "as in a pool that knows no other";
  Acquire(buffers, Request("gray", 64, 64), &busy);
  EXPECT_EQ(busy.data[0][0], 0);
}

TEST(BufferProvider, KeepsABufferWhileItIsReferenced) {
  BufferProvider buffers(kMiB);
  const bulkhead_runtime* runtime = buffers.runtime();
  bulkhead_buffer first{}, second{};
  Acquire(buffers, Request("gray", 64, 64), &first);
  runtime->reference_buffer(runtime->context, first.handle);
  Release(buffers, first);
  Acquire(buffers, Request("gray", 64, 64), &second);
  EXPECT_NE(first.data[0], second.data[0]);
}

TEST(BufferProvider, FreesTheShapeBeforeTheLast) {
  BufferProvider buffers(kMiB);
  bulkhead_buffer large{}, small{};
  Acquire(buffers, Request("gray", 512, 512), &large);
  Release(buffers, large);
  Acquire(buffers, Request("gray", 64, 64), &small);
  EXPECT_LT(buffers.bytes(), 64u * 1024);
}

TEST(BufferProvider, RefusesWhatExceedsItsLimitOrMakesNoSense) {
  BufferProvider buffers(kMiB);
  bulkhead_buffer buffer{};
  EXPECT_EQ(Acquire(buffers, Request("rgb24", 4096, 4096), &buffer),
            BULKHEAD_OUT_OF_MEMORY);
  EXPECT_EQ(Acquire(buffers, Request("rgb24", INT32_MAX, INT32_MAX), &buffer),
            BULKHEAD_OUT_OF_MEMORY);
  EXPECT_EQ(Acquire(buffers, Request("rgb24", 0, 8), &buffer), BULKHEAD_FAILED);
  EXPECT_EQ(Acquire(buffers, Request("no such", 8, 8), &buffer),
            BULKHEAD_UNSUPPORTED);
  auto request = Request("rgb24", 8, 8);
  request.alignment = 48;
  EXPECT_EQ(Acquire(buffers, request, &buffer), BULKHEAD_FAILED);
}

TEST(BufferProvider, IgnoresAHandleThatItNeverGave) {
  BufferProvider buffers(kMiB);
  bulkhead_buffer stranger{};
  stranger.handle = &stranger;
  Release(buffers, stranger);
  EXPECT_EQ(buffers.bytes(), 0u);
}

TEST(BufferProvider, ServesSlotsAndLeavesOneAlone) {
  Pool pool;
  BufferProvider buffers(kMiB);
  for (uint32_t i = 0; i < 3; ++i) pool.slots->Grant(i, 7);
  buffers.DeliverInto(pool.slots, AV_PIX_FMT_RGB24, Pool::Geometry());
  bulkhead_buffer taken[3] = {};
  for (auto& buffer : taken) {
    ASSERT_EQ(Acquire(buffers, Request("rgb24", 20, 4), &buffer), BULKHEAD_OK);
  }
  for (int i = 0; i < 2; ++i) {
    const auto slot = buffers.PublishableSlot(*pool.slots, taken[i].handle);
    ASSERT_TRUE(slot);
    EXPECT_EQ(slot->data, taken[i].data[0]);
    EXPECT_EQ(slot->generation, 7u);
  }
  EXPECT_FALSE(buffers.PublishableSlot(*pool.slots, taken[2].handle));
  EXPECT_EQ(pool.slots->free_count(), 1u);
}

// The decoders of libavcodec ask for whole blocks and two more rows, libdav1d
// for blocks of 128 pixels; both get the planes of the slot.
TEST(BufferProvider, ServesPlanesOfASlotToWhatDecodersAskFor) {
  struct Asked {
    const char* format;
    int width;
    int height;
    uint32_t alignment;
  };
  for (const Asked asked :
       {Asked{"yuv420p", 1920, 1090, 64}, Asked{"yuv420p", 1920, 1152, 64},
        Asked{"yuv422p10le", 1920, 1090, 64}, Asked{"nv12", 1920, 1088, 64},
        Asked{"yuva444p", 1920, 1082, 64}, Asked{"yuv411p", 2048, 1088, 64}}) {
    NativePool pool(asked.format, 1910, 1080);
    const ipc::FrameGeometry& geometry = pool.geometry;
    bulkhead_buffer buffer{};
    ASSERT_EQ(Acquire(pool.buffers,
                      {sizeof(bulkhead_buffer_request), asked.format,
                       asked.width, asked.height, asked.alignment, 80},
                      &buffer),
              BULKHEAD_OK);
    ASSERT_TRUE(pool.buffers.PublishableSlot(*pool.slots, buffer.handle))
        << asked.format;
    ASSERT_EQ(buffer.plane_count, geometry.plane_count);
    for (uint32_t i = 0; i < buffer.plane_count; ++i) {
      EXPECT_EQ(buffer.data[i], pool.base + geometry.planes[i].offset);
      EXPECT_EQ(buffer.stride[i],
                static_cast<int32_t>(geometry.planes[i].stride));
    }
    Release(pool.buffers, buffer);
  }
}

// Decoders take the stride of one picture for all.
TEST(BufferProvider, SlotsAndPrivateMemoryHaveTheSameStrides) {
  for (const char* format : {"yuv420p", "yuv444p", "yuv411p", "gray", "nv12",
                             "yuv422p10le", "bgra"}) {
    const auto layout = ipc::FindPixelLayout(format);
    for (uint32_t width = 1; width < 400; width += 7) {
      const auto slot = *ipc::NativeGeometry(*layout, width, 16, UINT64_MAX);
      BufferProvider buffers(kMiB);
      bulkhead_buffer own{};
      ASSERT_EQ(
          Acquire(buffers, Request(format, static_cast<int>(width), 16), &own),
          BULKHEAD_OK);
      for (uint32_t i = 0; i < slot.plane_count; ++i) {
        EXPECT_EQ(own.stride[i], static_cast<int32_t>(slot.planes[i].stride))
            << format << " " << width;
      }
      Release(buffers, own);
    }
  }
}

TEST(BufferProvider, APictureOfAnotherSizeThanASlotGetsPrivateMemory) {
  NativePool pool("yuv420p", 256, 64);
  for (const auto& request :
       {Request("yuv420p", 512, 64), Request("yuv420p", 256, 512),
        Request("yuv420p", 128, 64), Request("yuv422p", 256, 64)}) {
    bulkhead_buffer buffer{};
    ASSERT_EQ(Acquire(pool.buffers, request, &buffer), BULKHEAD_OK);
    EXPECT_FALSE(pool.buffers.PublishableSlot(*pool.slots, buffer.handle));
    Release(pool.buffers, buffer);
  }
}

TEST(BufferProvider, LeavesTheLastOfTheGrantedSlotsToOthers) {
  Pool pool;
  BufferProvider buffers(kMiB);
  buffers.DeliverInto(pool.slots, AV_PIX_FMT_RGB24, Pool::Geometry());
  pool.slots->Grant(0, 1);
  bulkhead_buffer own{};
  ASSERT_EQ(Acquire(buffers, Request("rgb24", 20, 4), &own), BULKHEAD_OK);
  EXPECT_FALSE(buffers.PublishableSlot(*pool.slots, own.handle));
  pool.slots->Grant(1, 1);
  bulkhead_buffer buffer{};
  ASSERT_EQ(Acquire(buffers, Request("rgb24", 20, 4), &buffer), BULKHEAD_OK);
  const auto slot = buffers.PublishableSlot(*pool.slots, buffer.handle);
  ASSERT_TRUE(slot);
  EXPECT_TRUE(pool.slots->has_pinned_grant());
  pool.slots->Publish(slot->index);
  EXPECT_FALSE(pool.slots->has_pinned_grant());
  pool.slots->Grant(slot->index, 2);
  EXPECT_TRUE(pool.slots->has_pinned_grant());
  Release(buffers, buffer);
  EXPECT_FALSE(pool.slots->has_pinned_grant());
  Release(buffers, own);
}

TEST(BufferProvider, DoesNotRecycleASlotThatADecoderStillReferences) {
  Pool pool;
  BufferProvider buffers(kMiB);
  for (uint32_t i = 0; i < 3; ++i) pool.slots->Grant(i, 1);
  buffers.DeliverInto(pool.slots, AV_PIX_FMT_RGB24, Pool::Geometry());
  bulkhead_buffer buffer{};
  Acquire(buffers, Request("rgb24", 20, 4), &buffer);
  const auto slot = buffers.PublishableSlot(*pool.slots, buffer.handle);
  ASSERT_TRUE(slot);
  pool.slots->Publish(slot->index);
  EXPECT_FALSE(buffers.PublishableSlot(*pool.slots, buffer.handle));
  pool.slots->Grant(slot->index, 2);
  EXPECT_EQ(pool.slots->free_count(), 2u);
  Release(buffers, buffer);
  EXPECT_EQ(pool.slots->free_count(), 3u);
}

TEST(BufferProvider, IsSafeToUseFromManyThreads) {
  BufferProvider buffers(16 * kMiB);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&buffers, i] {
      for (int round = 0; round < 500; ++round) {
        bulkhead_buffer buffer{};
        const int width = 32 + 32 * ((i + round / 100) % 2);
        ASSERT_EQ(Acquire(buffers, Request("gray", width, 32), &buffer),
                  BULKHEAD_OK);
        buffer.data[0][0] = static_cast<uint8_t>(i);
        Release(buffers, buffer);
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

}  // namespace
}  // namespace bulkhead::worker::decode
