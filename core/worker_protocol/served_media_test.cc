// SPDX-License-Identifier: Apache-2.0
#include "core/worker_protocol/served_media.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "ipc/media_window_layout.h"

namespace bulkhead::worker_protocol {
namespace {

constexpr uint64_t kBytes = ipc::kWindowDataBytes + 1000;

std::byte At(uint64_t offset) {
  return static_cast<std::byte>(offset * 31 % 251);
}

// At most `most` bytes at a time.
SourceReader ReaderOf(size_t most) {
  return {.read = [most](uint64_t offset,
                         std::span<std::byte> out) -> Result<size_t> {
            const size_t count = std::min(out.size(), most);
            for (size_t i = 0; i < count; ++i) out[i] = At(offset + i);
            return count;
          },
          .bytes = kBytes};
}

TEST(ServedMedia, IsFilledAsFarAsThereIsSomething) {
  for (const size_t most : {kBytes, uint64_t{1000}}) {
    const SourceReader reader = ReaderOf(most);
    auto window = ServedMedia::Create(reader);
    ASSERT_TRUE(window) << window.error();
    auto seen =
        ipc::MappedRegion::Map(window->fd(), false, ipc::kWindowRegionBytes);
    ASSERT_TRUE(seen);
    const auto* header = ipc::WindowHeaderOf(seen->bytes());
    uint32_t serial = 0;
    for (const uint64_t offset :
         {uint64_t{0}, uint64_t{1500}, kBytes - 1, kBytes, UINT64_MAX}) {
      ASSERT_TRUE(window->Serve(offset, ++serial).ok());
      EXPECT_EQ(header->served.load(), serial);
      const uint64_t count = std::min<uint64_t>(
          ipc::kWindowDataBytes, kBytes - std::min<uint64_t>(offset, kBytes));
      ASSERT_EQ(header->bytes.load(), count);
      for (uint64_t i = 0; i < count; i += 97) {
        ASSERT_EQ(seen->bytes()[ipc::kWindowDataOffset + i], At(offset + i));
      }
    }
  }
}

TEST(ServedMedia, WhatNoHonestWorkerAsksForIsRefused) {
  const SourceReader reader = ReaderOf(kBytes);
  auto window = ServedMedia::Create(reader);
  ASSERT_TRUE(window);
  for (const uint32_t serial : {0u, 2u, UINT32_MAX}) {
    EXPECT_EQ(window->Serve(0, serial).code(), Code::kBackendMisbehaved);
  }
}

TEST(ServedMedia, AReaderIsNotAskedWithoutEnd) {
  SourceReader reader = ReaderOf(1);
  reader.bytes = 1;
  auto window = ServedMedia::Create(reader);
  ASSERT_TRUE(window);
  uint32_t serial = 0;
  Status status;
  while (status.ok() && serial < 100'000) status = window->Serve(0, ++serial);
  // The input may make an honest worker do so.
  EXPECT_EQ(status.code(), Code::kResourceExhausted);
  window->Progressed();
  EXPECT_TRUE(window->Serve(0, serial).ok());
}

TEST(ServedMedia, WhatTheReaderDoesWrongIsToldOfIt) {
  struct Case {
    Result<size_t> result;
    const char* told;
  };
  for (const Case& wrong :
       {Case{Status(Code::kInternal, "no route"), "failed: no route"},
        Case{size_t{0}, "gave none"},
        Case{ipc::kWindowDataBytes + 1, "claims to have given"}}) {
    const SourceReader reader{
        .read = [&](uint64_t, std::span<std::byte>) { return wrong.result; },
        .bytes = kBytes};
    auto window = ServedMedia::Create(reader);
    ASSERT_TRUE(window);
    const Status status = window->Serve(0, 1);
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_NE(status.message().find(wrong.told), std::string::npos)
        << status.message();
  }
}

}  // namespace
}  // namespace bulkhead::worker_protocol
