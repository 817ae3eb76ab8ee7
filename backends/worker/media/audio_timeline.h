// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/audio_checksum.h"
#include "backends/worker/media/audio_gaps.h"
#include "backends/worker/media/audio_walk.h"
#include "backends/worker/media/demuxer.h"
#include "backends/worker/media/lost_samples.h"
#include "backends/worker/media/media_bytes.h"
#include "backends/worker/media/ogg_timing.h"

namespace bulkhead::worker {

// Finds out how many samples damage has cost, so that the samples behind the
// damage keep their numbers. The packets of the container decide that, by their
// timestamps and durations, and not the decoder.
//
//     timeline.Sent(packet);
//     for each frame: if it is the packet's first: MissingBefore(next, count)
//     if the decoder reports damage: NotDecoded()
//     timeline.Done(samples of the packet, …)
//
// Many sound files have gaps in their timestamps, which ffmpeg ignores. Samples
// count as lost only where there is a gap and a sign of damage before it: a
// packet that the decoder rejects or of which too little comes back, one whose
// checksum is wrong, one that the demuxer marks, a packet with bytes behind its
// end, or bytes of the file between two packets. Ogg, Matroska, FLV, AVI and
// MPEG-TS have structures that show such bytes, also before the first and
// behind the last packet (OggTiming, AudioWalk). .flac and .wv number their
// frames. In Ogg with one stream, a gap is sign enough, and the pages tell the
// times of packets, not libavformat. Formats without timestamps (.mp3, .aac,
// .ac3) get timestamps here, which count the frames, also those that are lost
// between two others (AudioGaps).
//
// Numbers of samples are those of one channel. A value type: a copy continues
// from the same place.
class AudioTimeline {
 public:
  // Borrows the demuxer, which is at its beginning.
  explicit AudioTimeline(const Demuxer& demuxer);

  void Sent(const bulkhead_packet& packet);
  // The decoder could not decode the packet that was sent last.
  void NotDecoded();
  // Returns the number of samples that are missing before the first `count`
  // samples of the packet that was sent last. `next` is the number that those
  // samples would have without damage, `rate` the rate of samples in hertz.
  int64_t MissingBefore(int64_t next, int64_t count, int64_t rate);
  // Returns how many samples the packet that was sent last has room for, if the
  // container says so and was right so far. A decoder yields more, `count`, if
  // damage changed the length that the packet tells.
  std::optional<int64_t> Room(int64_t count, int64_t rate);
  // `resampled`: the rate has changed, and the number says nothing.
  void Done(int64_t samples, bool resampled);
  // Returns the number of the sample at which the stream ends, if that is known
  // better here than by the demuxer: once frames of an .mp3 were lost, its
  // timestamps do not tell where the encoder's padding begins.
  std::optional<int64_t> End(int64_t rate) const;
  // Takes the samples that the decoder has held back until the end: those of
  // the last packet, where the first packet has yielded none (WMA).
  void Drained(int64_t samples) { held_back_ = yields_late_ ? samples : 0; }
  // Returns the number of samples that are missing at the end of the stream.
  // `cut` is true if the file turned out to be shorter than its size says.
  // `declared` is the size that it should have (declared_size.h). `stopped` is
  // true if packets follow that libavformat does not read.
  int64_t MissingAtEnd(int64_t next, int64_t rate, bool cut, int64_t declared,
                       bool stopped);

  // Returns the place of what the last call that returned a number found.
  int64_t first_byte() const { return first_byte_; }
  int64_t last_byte() const { return last_byte_; }
  // Returns true if that number is an estimate.
  bool estimated() const { return estimated_; }
  // Returns true if the header's number of samples has told it.
  bool counted() const { return counted_; }

 private:
  // A longer gap is wrong timestamps; a small file could ask for days of it.
  static constexpr int64_t kMostSecondsLost = 3600;
  // Headers of containers between two packets are shorter.
  static constexpr int64_t kMostHeaderBytes = 1024;

  // Returns whether the packet is the rest of a stream that libavformat reads
  // in blocks of one length. It marks the last one, and some bytes of that can
  // be less than a sample.
  bool IsShortEnd(const bulkhead_packet& packet) const;
  void Suspect(int64_t position);
  void SeekSigns(const bulkhead_packet& packet);
  // Returns true if bytes before the packet are neither packet nor header.
  bool FollowsHole(const bulkhead_packet& packet);
  // Counts the frames in place of the container's timestamps.
  void Stamp();
  // Takes the times of the pages in place of libavformat's timestamps.
  void StampByPages();
  int64_t MissingAtEndOfPages(int64_t next, int64_t rate);
  // Returns the same by the times of the packets and of the header. `cut_off`
  // is true if the file has fewer bytes than its headers tell.
  int64_t MissingByTimes(int64_t next, int64_t rate, bool cut, bool cut_off,
                         bool stopped);
  // Returns how many samples the header counts behind the last one; 0 if it
  // counts none.
  int64_t MissingByCount(int64_t next, int64_t rate, bool cut_off) const;
  // Returns how many samples the numbers of blocks tell behind the last one, in
  // WavPack without a number of samples in its header.
  int64_t MissingByNumbers(int64_t next, int64_t rate);
  // Returns how many samples `bytes` have if they are like all before.
  int64_t ByBytes(int64_t next, int64_t bytes) const;
  int64_t At(int64_t ticks, int64_t rate) const;
  int64_t TicksOf(int64_t seconds) const;
  // Returns how far timestamps may deviate because of their coarse unit.
  int64_t Tolerance(int64_t rate) const;
  // Returns whether timestamps tell exactly that so many are missing.
  bool IsExact(int64_t missing, int64_t rate) const;
  // Returns how many samples the rejected bytes had, by those of sound packets.
  int64_t LostByBytes() const;
  // Returns whether the packet has as many bytes for each sample as those
  // before, which is so at the end of codecs without frames of their own.
  bool HasUsualBytes(int64_t samples) const;
  // Returns whether the time of the packet may be late by `gap` without damage.
  bool MayBeLate(int64_t gap, int64_t count, int64_t rate) const;
  // Returns `gap` as a number of whole packets if that is what it is.
  int64_t Whole(int64_t gap, int64_t rate) const;
  std::optional<int64_t> PromisedEnd(int64_t rate) const;

  // Properties of the stream.
  MediaBytes bytes_;
  bulkhead_rational unit_;
  int64_t duration_;
  int64_t container_microseconds_;
  bool is_duration_estimated_;
  // The container's duration is the time of its end, whenever the sound begins.
  bool is_duration_end_;
  int64_t size_;
  bool alone_;    // the container has no other stream
  bool gapless_;  // every gap in the timestamps is damage
  bool is_transport_;
  bool length_follows_;  // libavformat takes it from the end of the file
  bool size_follows_;  // the header tells no more than the size, of all streams
  // The header has the number of samples: so many are in a sound file, or in
  // one that is cut off according to the size that it tells, too.
  bool counts_samples_, counts_samples_of_cut_;
  bool is_matroska_;
  bool begins_anywhere_;  // MPEG-PS, also within a frame
  bool is_caf_;           // a table lists all packets
  bool is_avi_, is_pcm_;
  bool numbers_frames_;  // .flac, .wv: from 0
  bool is_flac_, is_wavpack_, is_tta_;
  bool ends_are_exact_;  // the end of a packet is more exact than its start
  bool ends_anywhere_;   // raw aptX
  AudioGaps gaps_;
  AudioChecksum checksum_;
  AudioWalk walk_;
  OggTiming ogg_;

  // The packet that was sent last.
  bulkhead_packet sent_{};
  int64_t skipped_ = 0;   // samples that the packet tells to leave out
  bool started_ = false;  // its first samples have come
  bool rejected_ = false;
  bool has_wrong_checksum_ = false;
  bool ends_whole_ = false;  // it is a whole frame of .flac that ends the file
  // Its timestamp is counted on from an earlier one, and wrong after damage.
  bool is_counted_ = false;

  // The state before that packet.
  std::optional<int64_t> begin_;      // the timestamp of the first packet
  std::optional<int64_t> reference_;  // time of a sample minus its number
  // The packet before followed a gap without a sign of damage. It may be what
  // is left of two packets, which shows only behind it.
  bool follows_gap_ = false;
  int64_t before_gap_ = 0;     // the reference
  bool jumps_ = false;         // the timestamp of the packet that was sent last
  int64_t end_ = 0;            // the latest end of a packet, in ticks
  int64_t sound_end_ = 0;      // of the last one with samples
  int64_t end_position_ = -1;  // the end of its bytes in the file
  int64_t first_position_ = -1, last_position_ = -1;
  int64_t block_ = 0;  // samples in a packet, if that number repeats
  int64_t repeats_ = 0;
  int64_t sound_packets_ = 0, sound_bytes_ = 0;
  int64_t clock_ = 0;           // the end of the last frame, without timestamps
  int64_t frame_duration_ = 0;  // in ticks, without timestamps
  bool always_yields_ = true;   // no packet so far has yielded nothing
  bool yields_late_ = false;    // but the first one
  int64_t held_back_ = 0;

  // Signs of damage since the last samples.
  bool suspect_ = false;
  int64_t lost_ticks_ = 0, lost_bytes_ = 0;
  int doubtful_ = 0;      // so many of the next timestamps not counted on
  bool guessed_ = false;  // the timestamps here follow from an estimate
  int64_t first_byte_ = -1;
  int64_t last_byte_ = -1;
  bool estimated_ = false;
  bool counted_ = false;
  bool has_lost_ = false;  // samples before others
};

}  // namespace bulkhead::worker
