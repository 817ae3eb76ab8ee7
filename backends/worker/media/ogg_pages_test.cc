// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/ogg_pages.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "backends/worker/media/memory_bytes.h"

namespace bulkhead::worker {
namespace {

void Put(std::string& text, size_t at, uint64_t value, size_t count) {
  for (size_t i = 0; i < count; ++i, value >>= 8) {
    text[at + i] = static_cast<char>(value & 0xff);
  }
}

// Makes a page of stream 7. `sizes` are those of its packets; the last one goes
// on on the next page if `open`, and then has a multiple of 255 bytes.
std::string Page(uint32_t sequence, int64_t granule,
                 const std::vector<size_t>& sizes, bool open = false,
                 int flags = 0) {
  std::string lacing;
  std::string body;
  for (size_t i = 0; i < sizes.size(); ++i) {
    lacing += std::string(sizes[i] / 255, '\xff');
    const bool ends = !open || i + 1 < sizes.size();
    if (ends) lacing += static_cast<char>(sizes[i] % 255);
    body += std::string(sizes[i], static_cast<char>('a' + i));
  }
  std::string page("OggS\0", 5);
  page.resize(27, '\0');
  page[5] = static_cast<char>(flags);
  Put(page, 6, static_cast<uint64_t>(granule), 8);
  Put(page, 14, 7, 4);
  Put(page, 18, sequence, 4);
  page[26] = static_cast<char>(lacing.size());
  page += lacing + body;
  uint32_t sum = 0;
  for (const char byte : page) {
    sum ^= uint32_t{static_cast<uint8_t>(byte)} << 24;
    for (int bit = 0; bit < 8; ++bit) {
      sum = sum << 1 ^ ((sum >> 31) != 0 ? 0x04c11db7 : 0);
    }
  }
  Put(page, 22, sum, 4);
  return page;
}

struct Reading {
  explicit Reading(std::string bytes)
      : file(std::move(bytes)), pages(MediaBytes(file), 0) {}
  std::optional<OggPage> Next() { return pages.Next(file.size()); }

  MemoryBytes file;
  OggPages pages;
};

TEST(OggPages, ReadsThePagesInTheirOrder) {
  Reading reading(Page(3, 960, {100, 300}) + Page(4, -1, {510}, true, 4));
  const auto first = reading.Next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->offset, 0);
  EXPECT_EQ(first->granule, 960);
  EXPECT_EQ(first->serial, 7u);
  EXPECT_EQ(first->sequence, 3u);
  EXPECT_FALSE(first->ends_stream);
  ASSERT_EQ(first->parts.size(), 2u);
  EXPECT_EQ(first->parts[0].bytes, 100u);
  EXPECT_EQ(first->parts[1].bytes, 300u);
  EXPECT_TRUE(first->parts[1].ends);
  EXPECT_EQ(first->parts[1].start[0], 'b');
  const auto second = reading.Next();
  ASSERT_TRUE(second);
  EXPECT_EQ(second->offset, first->end);
  EXPECT_EQ(second->stray_bytes, 0);
  EXPECT_FALSE(second->granule);
  EXPECT_TRUE(second->ends_stream);
  ASSERT_EQ(second->parts.size(), 1u);
  EXPECT_FALSE(second->parts[0].ends);
  EXPECT_FALSE(reading.Next());
  EXPECT_EQ(reading.pages.stray_bytes(), 0);
}

TEST(OggPages, PassesOverAPageWhoseChecksumIsWrong) {
  std::string wrong = Page(4, 1920, {400});
  wrong[200] = 'x';
  Reading reading(Page(3, 960, {100}) + wrong + Page(5, 2880, {100}));
  ASSERT_TRUE(reading.Next());
  const auto next = reading.Next();
  ASSERT_TRUE(next);
  EXPECT_EQ(next->sequence, 5u);
  EXPECT_EQ(next->stray_bytes, static_cast<int64_t>(wrong.size()));
  EXPECT_FALSE(reading.pages.torn());
}

TEST(OggPages, TellsAPageThatIsCutOff) {
  const std::string last = Page(4, 1920, {400}, false, 4);
  Reading reading(Page(3, 960, {100}) + last.substr(0, 300));
  ASSERT_TRUE(reading.Next());
  EXPECT_FALSE(reading.Next());
  const auto& torn = reading.pages.torn();
  ASSERT_TRUE(torn);
  EXPECT_EQ(torn->granule, 1920);
  EXPECT_TRUE(torn->ends_stream);
  EXPECT_EQ(reading.pages.stray_bytes(), 300);
}

TEST(OggPages, GoesOnWhereTheLimitWas) {
  const std::string first = Page(0, 1, {10});
  const auto limit = static_cast<int64_t>(first.size());
  MemoryBytes file(first + std::string(3000, 'O') + Page(1, 2, {10}));
  OggPages pages(MediaBytes(file), 0);
  ASSERT_TRUE(pages.Next(limit));
  EXPECT_FALSE(pages.Next(limit));
  EXPECT_FALSE(pages.Next(limit + 3000));
  const auto second = pages.Next(limit + 3001);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->stray_bytes, 3000);
}

TEST(OggPages, AnyBytesAreTaken) {
  std::string whole;
  for (uint32_t i = 0; i < 6; ++i) whole += Page(i, i * 960, {100, 255, 60});
  for (size_t size = 0; size < whole.size(); size += 7) {
    Reading reading(whole.substr(0, size));
    size_t count = 0;
    while (reading.Next()) ++count;
    EXPECT_EQ(count, size / (whole.size() / 6));
  }
  std::mt19937 random(11);
  for (int i = 0; i < 1000; ++i) {
    std::string changed = whole;
    for (int flips = 0; flips < 20; ++flips) {
      changed[random() % changed.size()] = static_cast<char>(random());
    }
    Reading reading(changed);
    int64_t end = 0;
    while (const auto page = reading.Next()) {
      EXPECT_GE(page->offset, end);
      end = page->end;
    }
    EXPECT_LE(end + reading.pages.stray_bytes(), reading.file.size());
  }
}

}  // namespace
}  // namespace bulkhead::worker
