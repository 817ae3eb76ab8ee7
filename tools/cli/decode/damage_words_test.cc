// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/decode/damage_words.h"

#include <bulkhead/damage.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bulkhead::cli::decode {
namespace {

TEST(DamageWords, NameFrameTimeByteAndSign) {
  DamagedRange range{.sign = DamageSign::kRejected,
                     .frames = 1,
                     .first_frame = 7,
                     .last_frame = 7,
                     .begin_seconds = 0.35,
                     .end_seconds = 0.4,
                     .first_byte = 48,
                     .last_byte = 48,
                     .backend_says = "no slices"};
  EXPECT_EQ(DescribeDamage(range),
            "frame 7 is damaged, 0.350 s to 0.400 s, byte 48: the decoder "
            "rejected the packet; the backend says: \"no slices\"");
  range.frames = 3;
  range.last_frame = 9;
  range.last_byte = 90;
  range.backend_says = "";
  EXPECT_EQ(DescribeDamage(range),
            "frames 7 to 9 are damaged, 0.350 s to 0.400 s, bytes from 48 to "
            "90: first, the decoder rejected the packet");
}

TEST(DamageWords, OfAMissingEndNameWhoSaysSo) {
  const DamagedRange range{.sign = DamageSign::kStopped,
                           .frames = 2,
                           .first_byte = 900,
                           .backend_says = "Invalid data found",
                           .not_in_index = true};
  EXPECT_EQ(DescribeDamage(range),
            "about 2 frames are missing at the end, not in the index, byte "
            "900: libavformat stopped before the end of the file; libavformat "
            "says: \"Invalid data found\"");
}

TEST(DamageWords, OfSamplesNameTheSign) {
  const DamagedSamples damage{.sign = DamageSign::kRejected,
                              .samples = 1024,
                              .first_sample = 2048,
                              .begin_seconds = 1,
                              .end_seconds = 1.5,
                              .first_byte = 5,
                              .last_byte = 5,
                              .estimated = true};
  EXPECT_EQ(DescribeDamage(damage),
            "samples 2048 to 3071 are damaged, 1.000 s to 1.500 s, byte 5: the "
            "decoder rejected the packet; their number is an estimate");
}

TEST(DamageWords, ANoteIsALineOfItsOwn) {
  const std::vector<DamagedRange> damage = {
      {.sign = DamageSign::kRejected, .frames = 1},
      {.kind = DamageKind::kNote,
       .sign = DamageSign::kMarked,
       .begin_seconds = 1.2,
       .first_byte = 4800,
       .last_byte = 4800},
      {.kind = DamageKind::kNote, .sign = DamageSign::kEndsInPacket}};
  EXPECT_EQ(NotesIn("clip.ts", damage),
            (std::vector<std::string>{
                "clip.ts: note: libavformat or the decoder found fault with "
                "the packet, 1.200 s, byte 4800",
                "clip.ts: note: the file ends within its last packet"}));
}

TEST(DamageWords, ANameWithALineFeedMakesNoLineOfItsOwn) {
  const std::vector<DamagedRange> damage = {
      {.kind = DamageKind::kNote, .sign = DamageSign::kEndsInPacket}};
  EXPECT_EQ(NotesIn("a\nb: note: false.ts", damage),
            (std::vector<std::string>{"a?b: note: false.ts: note: the file "
                                      "ends within its last packet"}));
}

TEST(DamageWords, OfManyNotesTheRestIsCounted) {
  const DamagedSamples note{.kind = DamageKind::kNote,
                            .sign = DamageSign::kGap};
  std::vector<DamagedSamples> damage(kMostNotes + 1, note);
  EXPECT_EQ(NotesIn("a.ogg", damage).back(),
            "a.ogg: 1 more note; --json lists it");
  damage.push_back(note);
  const auto lines = NotesIn("a.ogg", damage);
  EXPECT_EQ(lines.size(), kMostNotes + 1);
  EXPECT_EQ(lines.front(), "a.ogg: note: the timestamps leave a gap, 0.000 s");
  EXPECT_EQ(lines.back(), "a.ogg: 2 more notes; --json lists them");
}

}  // namespace
}  // namespace bulkhead::cli::decode
