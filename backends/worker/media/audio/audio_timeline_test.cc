// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/audio/audio_timeline.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "ipc/damage_sign.h"

namespace bulkhead::worker::audio {
namespace {

using demux::MissingEnd;
using ipc::DamageSign;

constexpr int64_t kRate = 44100;
constexpr int64_t kBlock = 1024;

// Adds packets to a timeline as a decoder yields their samples. Their times
// have the unit of a part of a second, and sample 0 has time 0.
class Stream {
 public:
  explicit Stream(int32_t parts_of_a_second = kRate)
      : parts_(parts_of_a_second), timeline_(FactsOf(parts_of_a_second)) {}

  std::optional<LostSamples> Packet(int64_t time, int64_t samples = kBlock,
                                    uint32_t flags = 0) {
    return Add(time, samples, flags, std::nullopt);
  }
  std::optional<LostSamples> Rejected(int64_t time, int64_t samples = 0) {
    return Add(time, samples, 0, "no good");
  }
  // Adds sound packets, each a block long.
  void Blocks(int count) {
    for (int i = 0; i < count; ++i) EXPECT_FALSE(Packet(next_));
  }
  std::optional<LostSamples> End(const MissingEnd& end, bool shrank = false) {
    return timeline_.AddEnd(end, shrank, next_, 0, kRate);
  }

  int64_t next() const { return next_; }
  int64_t position() const { return position_; }

  int64_t length = kBlock;  // of the next packets, by their durations

 private:
  static demux::StreamFacts FactsOf(int32_t parts_of_a_second) {
    demux::StreamFacts facts;
    facts.time_base = {1, parts_of_a_second};
    facts.start = 0;
    return facts;
  }

  int64_t TicksOf(int64_t samples) const {
    const int64_t scaled = samples * parts_;
    return (scaled + (scaled < 0 ? -kRate : kRate) / 2) / kRate;
  }

  std::optional<LostSamples> Add(int64_t time, int64_t samples, uint32_t flags,
                                 const AudioTimeline::Rejection& rejection) {
    position_ += 100;
    bulkhead_packet packet{};
    packet.flags = flags;
    packet.pts = time == BULKHEAD_NO_TIMESTAMP ? time : TicksOf(time);
    packet.duration = TicksOf(length);
    packet.position = position_;
    packet.bytes = 100;
    auto told = timeline_.Add(packet, samples, rejection, next_, kRate);
    next_ += samples + (told ? told->count : 0);
    return told;
  }

  const int64_t parts_;
  AudioTimeline timeline_;
  int64_t next_ = 0;
  int64_t position_ = 0;
};

void ExpectLost(const std::optional<LostSamples>& told, DamageSign sign,
                int64_t first, int64_t count, bool estimated) {
  ASSERT_TRUE(told);
  EXPECT_EQ(told->sign, sign);
  EXPECT_EQ(told->first, first);
  EXPECT_EQ(told->count, count);
  EXPECT_EQ(told->estimated, estimated);
}

void ExpectNote(const std::optional<LostSamples>& told, DamageSign sign) {
  ASSERT_TRUE(told);
  EXPECT_EQ(told->sign, sign);
  EXPECT_EQ(told->count, 0);
}

TEST(AudioTimeline, ASilentGapIsANoteIfItIsLong) {
  Stream stream;
  stream.Blocks(5);
  EXPECT_FALSE(stream.Packet(stream.next() + kBlock / 2));
  ExpectNote(stream.Packet(stream.next() + kRate), DamageSign::kGap);
  EXPECT_EQ(stream.next(), 7 * kBlock);
  // The difference stays: it is no further gap.
  EXPECT_FALSE(stream.Packet(stream.next() + kRate));
}

TEST(AudioTimeline, TheNextTimestampTellsHowMuchRejectedPacketsCost) {
  Stream stream;
  stream.Blocks(5);
  EXPECT_FALSE(stream.Rejected(5 * kBlock));
  const int64_t first = stream.position();
  EXPECT_FALSE(stream.Rejected(6 * kBlock));
  // Another packet has left no trace.
  const auto told = stream.Packet(8 * kBlock);
  ExpectLost(told, DamageSign::kRejected, 5 * kBlock, 3 * kBlock, false);
  EXPECT_EQ(told->first_byte, first);
  EXPECT_EQ(told->last_byte, first + 100);
  EXPECT_EQ(told->words, "no good");
  EXPECT_EQ(stream.next(), 9 * kBlock);
  stream.Blocks(2);
}

TEST(AudioTimeline, APacketThatIsMissingIsANoteWhereTimesFollowTheSamples) {
  Stream stream;
  stream.Blocks(9);
  ExpectNote(stream.Packet(stream.next() + kBlock), DamageSign::kGap);
  Stream rounded(1000);
  rounded.Blocks(9);
  ExpectNote(rounded.Packet(rounded.next() + kBlock), DamageSign::kGap);
  Stream jumps;
  jumps.Blocks(2);
  EXPECT_FALSE(jumps.Packet(jumps.next() + kBlock));
}

TEST(AudioTimeline, AnEarlyEndIsANoteIfTheHeaderTellsItOfTheStream) {
  const MissingEnd of_file{.end = 2 * kRate, .is_rounded = true};
  MissingEnd of_stream = of_file;
  of_stream.is_of_stream = true;
  Stream stream;
  stream.Blocks(9);
  EXPECT_FALSE(Stream(stream).End(of_file));
  ExpectNote(stream.End(of_stream), DamageSign::kGap);
}

TEST(AudioTimeline, AFileThatShrankLacksSamplesWhereNoHeaderTellsThem) {
  Stream stream;
  stream.Blocks(3);
  const auto told = stream.End({}, /*shrank=*/true);
  ExpectLost(told, DamageSign::kShrunk, 3 * kBlock, kBlock, true);
}

TEST(AudioTimeline, ADifferenceFromBeforeIsNotLost) {
  Stream stream;
  stream.Blocks(9);
  ExpectNote(stream.Packet(10 * kRate), DamageSign::kGap);
  EXPECT_FALSE(stream.Rejected(10 * kRate + kBlock));
  ExpectLost(stream.Packet(10 * kRate + 2 * kBlock), DamageSign::kRejected,
             10 * kBlock, kBlock, false);
}

TEST(AudioTimeline, WhatARejectedPacketYieldsIsNotLost) {
  Stream stream;
  stream.Blocks(5);
  EXPECT_FALSE(stream.Rejected(5 * kBlock, kBlock / 2));
  ExpectLost(stream.Packet(6 * kBlock), DamageSign::kRejected,
             5 * kBlock + kBlock / 2, kBlock / 2, false);
  EXPECT_FALSE(stream.Rejected(7 * kBlock, kBlock));
  const auto note = stream.Packet(8 * kBlock);
  ExpectNote(note, DamageSign::kMarked);
  EXPECT_EQ(note->words, "no good");
}

TEST(AudioTimeline, RoundedTimestampsTellWholeBlocks) {
  Stream stream(1000);
  stream.Blocks(5);
  EXPECT_FALSE(stream.Rejected(5 * kBlock));
  ExpectLost(stream.Packet(6 * kBlock), DamageSign::kRejected, 5 * kBlock,
             kBlock, false);
}

TEST(AudioTimeline, RoundedTimestampsOfBlocksOfAnyLengthAreAnEstimate) {
  Stream stream(1000);
  for (int64_t i = 0; i < 8; ++i) {
    stream.length = 500 + 100 * (i % 3);
    EXPECT_FALSE(stream.Packet(stream.next(), stream.length));
  }
  const int64_t first = stream.next();
  EXPECT_FALSE(stream.Rejected(first));
  const auto told = stream.Packet(first + 600);
  ASSERT_TRUE(told);
  EXPECT_NEAR(static_cast<double>(told->count), 600, 90);
  EXPECT_TRUE(told->estimated);
}

TEST(AudioTimeline, DurationsTellWhereTimestampsDoNotFollowTheSamples) {
  for (const bool has_times : {true, false}) {
    Stream stream;
    for (int64_t i = 0; i < 8; ++i) {
      stream.Packet(has_times ? i % 3 * 7000 : BULKHEAD_NO_TIMESTAMP);
    }
    EXPECT_FALSE(stream.Rejected(has_times ? 0 : BULKHEAD_NO_TIMESTAMP));
    ExpectLost(stream.Packet(has_times ? 70'000 : BULKHEAD_NO_TIMESTAMP),
               DamageSign::kRejected, 8 * kBlock, kBlock, true);
  }
}

TEST(AudioTimeline, ATimeThatCannotBeIsNotFilledWithSilence) {
  for (const int64_t time : {int64_t{1} << 40, int64_t{-5000}}) {
    Stream stream;
    stream.Blocks(9);
    EXPECT_FALSE(stream.Rejected(9 * kBlock));
    ExpectLost(stream.Packet(time), DamageSign::kRejected, 9 * kBlock, kBlock,
               true);
  }
}

// The decoder leaves out the encoder's delay of the first packet that decodes,
// where it was the first one's.
TEST(AudioTimeline, WhatIsLostAtTheStartIsAnEstimate) {
  constexpr int64_t kDelay = 300;
  Stream stream;
  EXPECT_FALSE(stream.Rejected(-kDelay));
  ExpectLost(stream.Packet(kBlock - kDelay, kBlock - kDelay),
             DamageSign::kRejected, 0, kBlock, true);
  EXPECT_EQ(stream.next(), 2 * kBlock - kDelay);
  stream.Blocks(3);
}

TEST(AudioTimeline, TheDelayThatIsLeftOutOfASoundStartIsNotLost) {
  constexpr int64_t kDelay = 300;
  Stream stream;
  EXPECT_FALSE(stream.Packet(-kDelay, kBlock - kDelay));
  stream.Blocks(3);
  const int64_t first = stream.next();
  EXPECT_FALSE(stream.Rejected(first));
  ExpectLost(stream.Packet(first + kBlock), DamageSign::kRejected, first,
             kBlock, false);
}

TEST(AudioTimeline, MarkedPacketsAreNotesWithoutFillingTheList) {
  Stream stream;
  int notes = 0;
  for (int64_t i = 0; i < 1000; ++i) {
    const auto told =
        stream.Packet(stream.next(), kBlock, BULKHEAD_PACKET_CORRUPT);
    if (!told) continue;
    ExpectNote(told, DamageSign::kMarked);
    EXPECT_EQ(told->first_byte, stream.position());
    ++notes;
  }
  EXPECT_EQ(notes, 100);
}

TEST(AudioTimeline, NothingIsMissingAtAnEndThatNothingTells) {
  Stream stream;
  stream.Blocks(5);
  EXPECT_FALSE(stream.End({}));
  // A part of a .flac file that was copied has the header of the whole.
  EXPECT_FALSE(stream.End({.end = 50 * kBlock}));
  ExpectNote(stream.End({.ends_in_packet = true}), DamageSign::kEndsInPacket);
}

TEST(AudioTimeline, AHeaderThatTellsMoreThanTheFileHasTellsHowMuch) {
  Stream stream;
  stream.Blocks(5);
  const auto exact = stream.End({.declared_size = 9000, .end = 50'000});
  ExpectLost(exact, DamageSign::kCutOff, 5 * kBlock, 50'000 - 5 * kBlock,
             false);
  EXPECT_EQ(exact->declared_size, 9000);
  ExpectLost(
      stream.End({.declared_size = 9000, .end = 50'000, .is_rounded = true}),
      DamageSign::kCutOff, 5 * kBlock, 50'000 - 5 * kBlock, true);
  ExpectLost(stream.End({.packets = 3}), DamageSign::kCutOff, 5 * kBlock,
             3 * kBlock, true);
}

TEST(AudioTimeline, LessThanABlockIsNotMissingByARoundedTime) {
  Stream stream;
  stream.Blocks(5);
  MissingEnd end{.declared_size = 9000,
                 .end = 6 * kBlock - 1,
                 .is_rounded = true,
                 .ends_in_packet = true};
  ExpectNote(stream.End(end), DamageSign::kEndsInPacket);
  end.ends_in_packet = false;
  EXPECT_FALSE(stream.End(end));
}

TEST(AudioTimeline, WhereLibavformatStopsSomethingIsMissing) {
  Stream stream;
  stream.Blocks(5);
  const auto told = stream.End({.error = "bad"});
  ExpectLost(told, DamageSign::kStopped, 5 * kBlock, kBlock, true);
  EXPECT_EQ(told->words, "bad");
  EXPECT_EQ(told->first_byte, stream.position() + 100);
  ExpectLost(stream.End({.error = "bad", .end = 50'000}), DamageSign::kStopped,
             5 * kBlock, 50'000 - 5 * kBlock, false);
}

TEST(AudioTimeline, ARejectedEndIsAsLongAsTheHeaderOrThePacketsTell) {
  const auto end_of = [](int packets, const MissingEnd& end) {
    Stream stream;
    stream.Blocks(5);
    for (int i = 0; i < packets; ++i) {
      EXPECT_FALSE(stream.Rejected((5 + i) * kBlock));
    }
    return stream.End(end);
  };
  ExpectLost(end_of(3, {}), DamageSign::kRejected, 5 * kBlock, 3 * kBlock,
             true);
  const auto flac = end_of(1, {.end = 50'000});
  ExpectLost(flac, DamageSign::kCutOff, 5 * kBlock, 50'000 - 5 * kBlock, false);
  EXPECT_EQ(flac->declared_samples, 50'000);
  ExpectLost(end_of(1, {.end = 6 * kBlock}), DamageSign::kRejected, 5 * kBlock,
             kBlock, false);
}

TEST(AudioTimeline, ARejectedLastPacketAloneIsTornOrNoSound) {
  for (const bool is_torn : {true, false}) {
    Stream stream;
    stream.Blocks(5);
    EXPECT_FALSE(stream.Rejected(5 * kBlock));
    const auto told = stream.End({.ends_in_packet = is_torn});
    ExpectNote(told, is_torn ? DamageSign::kEndsInPacket : DamageSign::kMarked);
    EXPECT_EQ(told->words, "no good");
  }
  // The header says that all samples have come.
  Stream stream;
  stream.Blocks(5);
  EXPECT_FALSE(stream.Rejected(5 * kBlock));
  EXPECT_FALSE(stream.Rejected(6 * kBlock));
  ExpectNote(stream.End({.end = 5 * kBlock}), DamageSign::kMarked);
}

TEST(AudioTimeline, AFileThatShrankLacksWhatItsHeaderPromised) {
  Stream stream;
  stream.Blocks(5);
  ExpectLost(stream.End({.end = 50'000}, /*shrank=*/true), DamageSign::kShrunk,
             5 * kBlock, 50'000 - 5 * kBlock, false);
  EXPECT_FALSE(stream.End({.end = 5 * kBlock}, /*shrank=*/true));
}

TEST(AudioTimeline, SilenceIsNoLongerThanAnHour) {
  Stream stream;
  stream.Blocks(5);
  ExpectLost(stream.End({.declared_size = 9000, .end = int64_t{1} << 50}),
             DamageSign::kCutOff, 5 * kBlock, 3600 * kRate, true);
}

}  // namespace
}  // namespace bulkhead::worker::audio
