// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/fragment_walk.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "backends/worker/media/memory_bytes.h"

namespace bulkhead::worker {
namespace {

constexpr int kSamples = 4;  // of a fragment, each 10 ticks long
constexpr int kSampleBytes = 50;

std::string Number(uint64_t value, int bytes = 4) {
  std::string text;
  for (int shift = 8 * bytes - 8; shift >= 0; shift -= 8) {
    text += static_cast<char>(value >> shift);
  }
  return text;
}

std::string Box(const std::string& kind, const std::string& content) {
  return Number(content.size() + 8) + kind + content;
}

std::string Header() {
  const auto trex = [](uint32_t id) {
    return Box("trex", Number(0) + Number(id) + Number(1) + Number(10) +
                           Number(kSampleBytes) + Number(0));
  };
  return Box("ftyp", "isom") + Box("moov", Box("mvhd", std::string(96, '\0')) +
                                               Box("mvex", trex(1) + trex(2)));
}

// The samples of track 1 follow the header of the fragment.
std::string Fragment(uint32_t number, std::optional<uint64_t> begin,
                     uint32_t track = 1) {
  const auto header = [&](size_t size) {
    return Box(
        "moof",
        Box("mfhd", Number(0) + Number(number)) +
            Box("traf",
                Box("tfhd", Number(0x20000) + Number(track)) +
                    (begin ? Box("tfdt", Number(1 << 24) + Number(*begin, 8))
                           : "") +
                    Box("trun",
                        Number(1) + Number(kSamples) + Number(size + 8))));
  };
  return header(header(0).size()) +
         Box("mdat", std::string(kSamples * kSampleBytes, 'x'));
}

struct Walked {
  std::vector<int> losses;  // before the fragments with these places
  bool lost_at_end = false;
  uint64_t packets_at_end = 0;
};

// Walks to all samples of the fragments of track 1 in `parts` that libavformat
// would find, which are those before `found`.
Walked Walk(const std::vector<std::string>& parts, size_t found = SIZE_MAX) {
  std::string bytes = Header();
  std::vector<int64_t> samples;
  std::vector<int> places;
  for (size_t i = 0; i < parts.size(); ++i) {
    const size_t mdat = parts[i].find("mdat");
    bytes += parts[i];
    if (i >= found || mdat == std::string::npos ||
        parts[i].find(Number(0x20000) + Number(1)) == std::string::npos) {
      continue;
    }
    for (int sample = 0; sample < kSamples; ++sample) {
      samples.push_back(
          static_cast<int64_t>(bytes.size() - parts[i].size() + mdat + 4) +
          sample * kSampleBytes);
      places.push_back(static_cast<int>(i));
    }
  }
  MemoryBytes file(bytes);
  const auto walk =
      FragmentWalk::Open(FileWindow(MediaBytes(file), file.size()), 1);
  Walked walked;
  if (walk == nullptr) {
    ADD_FAILURE() << "no fragments are announced";
    return walked;
  }
  for (size_t i = 0; i < samples.size(); ++i) {
    if (walk->LostUntil(samples[i])) walked.losses.push_back(places[i]);
  }
  walked.lost_at_end = walk->LostUntilEnd();
  walked.packets_at_end = walk->lost_packets();
  // Behind a seek back nothing is told of what was passed over.
  for (const size_t i : {samples.size() / 2, samples.size() - 1, size_t{0}}) {
    walk->Restart();
    EXPECT_FALSE(walk->LostUntil(samples[i]));
  }
  return walked;
}

TEST(FragmentWalk, IntactFilesLoseNothing) {
  const std::vector<std::vector<std::string>> files = {
      {Fragment(1, 0), Fragment(2, 40), Fragment(3, 80)},
      {Fragment(1, 0), Fragment(2, 40), Box("mfra", "")},
      // Recorded from the middle.
      {Fragment(70, 2800), Fragment(71, 2840)},
      // Other numbers: none, the same, every third, from the start again.
      {Fragment(0, 0), Fragment(0, 40), Fragment(0, 90)},
      {Fragment(1, 0), Fragment(1, 60), Fragment(1, 120)},
      {Fragment(3, 0), Fragment(6, 60), Fragment(9, 120), Fragment(12, 160)},
      {Fragment(1, 0), Fragment(2, 40), Fragment(1, 0), Fragment(2, 40)},
      // A gap in the time, or a number left out.
      {Fragment(1, 0), Fragment(2, 40), Fragment(3, 400), Fragment(4, 440)},
      {Fragment(1, 0), Fragment(2, 40), Fragment(9, 80), Fragment(10, 120)},
      // Without times.
      {Fragment(1, std::nullopt), Fragment(2, std::nullopt)},
      // Other boxes, another track, and what is behind the end.
      {Box("styp", "msdh"), Box("sidx", std::string(24, '\0')), Fragment(1, 0),
       Box("emsg", "x"), Fragment(2, 0, 2), Box("free", ""), Fragment(3, 40),
       Box("uuid", std::string(20, '\7')), Fragment(4, 80)},
      {Fragment(1, 0), Fragment(2, 40), std::string(3000, '\0')},
      {Fragment(1, 0), Fragment(2, 40), "\n"},
      {Fragment(1, 0), Fragment(2, 40), std::string(100, 'j')},
  };
  for (size_t i = 0; i < files.size(); ++i) {
    const Walked walked = Walk(files[i]);
    EXPECT_TRUE(walked.losses.empty()) << i;
    EXPECT_FALSE(walked.lost_at_end) << i;
  }
}

TEST(FragmentWalk, ALostFragmentShows) {
  const auto lost = [](std::vector<std::string> parts) {
    const Walked walked = Walk(parts);
    EXPECT_FALSE(walked.lost_at_end);
    return walked.losses;
  };
  EXPECT_EQ(lost({Fragment(1, 0), Fragment(2, 40), Fragment(4, 120)}),
            std::vector<int>{2});
  EXPECT_EQ(lost({Fragment(1, 0), Fragment(3, 80), Fragment(4, 120)}),
            std::vector<int>{1});
  // Its header has another name, or its track is that of no header.
  std::string damaged = Fragment(2, 40);
  damaged.replace(4, 4, 4, '\0');
  EXPECT_EQ(lost({Fragment(1, 0), damaged, Fragment(3, 80)}),
            std::vector<int>{2});
  EXPECT_EQ(lost({damaged, Fragment(3, 80)}), std::vector<int>{1});
  EXPECT_EQ(lost({Fragment(0, 0), Fragment(0, 40, 77), Fragment(0, 80)}),
            std::vector<int>{2});
}

TEST(FragmentWalk, FragmentsThatAreNotFoundAreLostAtTheEnd) {
  const std::vector<std::string> rest = {Fragment(3, 80), Fragment(4, 120)};
  std::string torn = Fragment(2, 40);
  torn.erase(torn.size() - 30, 20);
  std::string endless = Fragment(2, 40);
  endless.replace(0, 8, 8, '\0');
  std::string huge = Fragment(2, 40);
  huge[1] = '\x7f';
  // A damaged file, the fragments that are found, and the samples that are
  // lost.
  struct Case {
    std::string part;
    size_t found;
    uint64_t packets;
  };
  for (const auto& [part, found, packets] :
       {Case{torn, 2, 8}, Case{endless, 1, 12}, Case{huge, 1, 12},
        Case{std::string(100, '\0'), 1, 12},
        Case{std::string(300, 'j'), 1, 12}}) {
    const Walked walked = Walk({Fragment(1, 0), part, rest[0], rest[1]}, found);
    EXPECT_TRUE(walked.losses.empty());
    EXPECT_TRUE(walked.lost_at_end);
    EXPECT_EQ(walked.packets_at_end, packets);
  }
}

TEST(FragmentWalk, ACutFragmentTellsWhatItHad) {
  std::string cut = Fragment(2, 40);
  // Of the second sample, the first byte is left.
  cut.resize(cut.size() - 3 * kSampleBytes + 1);
  const Walked walked = Walk({Fragment(1, 0), cut}, 1);
  EXPECT_TRUE(walked.lost_at_end);
  EXPECT_EQ(walked.packets_at_end, 4u);
}

TEST(FragmentWalk, TheIndexTellsOfTheLastFragments) {
  const auto index = [](std::vector<uint32_t> times) {
    std::string content =
        Number(0) + Number(1) + Number(0) + Number(times.size());
    uint32_t offset = 0;
    for (const uint32_t time : times) {
      content += Number(time) + Number(offset += 500) + std::string(3, '\1');
    }
    return Box("mfra", Box("tfra", content));
  };
  EXPECT_FALSE(
      Walk({Fragment(1, 0), Fragment(2, 40), index({5, 45})}).lost_at_end);
  const Walked walked =
      Walk({Fragment(1, 0), Fragment(2, 40), index({5, 45, 85, 125})});
  EXPECT_TRUE(walked.lost_at_end);
  EXPECT_EQ(walked.packets_at_end, 8u);
}

TEST(FragmentWalk, OtherFilesHaveNone) {
  MemoryBytes file(Box("ftyp", "isom") + Box("moov", std::string(20, '\0')) +
                   Fragment(1, 0));
  EXPECT_EQ(FragmentWalk::Open(FileWindow(MediaBytes(file), file.size()), 1),
            nullptr);
}

// Whatever the bytes and the positions are, a walk comes to an end.
TEST(FragmentWalk, SurvivesAnyBytes) {
  std::mt19937 random(1);  // NOLINT: the same every time
  const auto below = [&](size_t count) { return random() % count; };
  for (int round = 0; round < 500; ++round) {
    std::string bytes = Fragment(1, 0) + Fragment(2, 0, 2) + Fragment(3, 40);
    for (size_t i = 0; i < 1 + below(30); ++i) {
      const size_t at = below(bytes.size());
      if (below(4) == 0) {
        bytes.erase(at, below(40));
      } else {
        bytes[at] = static_cast<char>(below(3) == 0 ? 0xff : random());
      }
    }
    bytes.insert(0, Header());
    MemoryBytes file(bytes);
    const auto walk =
        FragmentWalk::Open(FileWindow(MediaBytes(file), file.size() + 900), 1);
    ASSERT_NE(walk, nullptr);
    for (int packet = 0; packet < 20; ++packet) {
      walk->LostUntil(static_cast<int64_t>(below(bytes.size() + 1000)) - 1);
      if (below(8) == 0) walk->Restart();
    }
    walk->LostUntilEnd();
  }
}

}  // namespace
}  // namespace bulkhead::worker
