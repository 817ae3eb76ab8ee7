// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "backends/worker/media/audio/audio_converter.h"
#include "backends/worker/media/audio/audio_samples.h"
#include "backends/worker/media/audio/audio_timeline.h"
#include "backends/worker/media/decode/decoder.h"
#include "backends/worker/media/demux/demuxer.h"
#include "ipc/error.h"

namespace bulkhead::worker {

// Reads the samples of one audio stream, numbered from 0 in the order in which
// `ffmpeg -f f32le` writes them: the samples of each packet follow the samples
// of the packet before, whatever the timestamps say. Samples that damage has
// cost are silence of the same length (AudioTimeline), and are reported by
// TakeLost().
//
//     reader->Seek(wanted);
//     while (auto samples = *reader->Read()) Use(samples, from wanted on);
//
// Sample numbers are exact, also after a seek. Only decoding shows how many
// samples precede a place, so the first visit to a place decodes everything
// before it, and remembers which packet yielded which samples. A later visit
// seeks to the packet directly if the codec allows that (audio_preroll.h), and
// decodes from the beginning if the packets found there are not the remembered
// ones.
//
// A packet is met for the first time only by reading on from the first packet
// of the file, since libavformat may tell less of packets after a seek: not
// what to leave out at the end of Ogg. Where the remembered packets end, a
// reader that has sought reads those packets once more, without decoding them.
//
// Used by one thread. Fails as Demuxer, Decoder and AudioConverter do.
class AudioReader {
 public:
  using OpenDecoder = std::function<ipc::Expected<std::unique_ptr<Decoder>>()>;

  // Decodes until there are samples; fails with kBadInput if none of the
  // stream's packets yields one. PCM without a packet, in a container that
  // says no duration, is a sound without samples. `demuxer` must be at the
  // beginning.
  static ipc::Expected<std::unique_ptr<AudioReader>> Open(
      std::unique_ptr<Demuxer> demuxer, OpenDecoder open_decoder);

  const Demuxer& demuxer() const { return *demuxer_; }
  const AudioConverter& converter() const { return converter_; }
  // Returns the timestamp of sample 0 in the time base of the stream, or
  // BULKHEAD_NO_TIMESTAMP.
  int64_t first_pts() const { return *first_pts_; }

  // Returns the next samples, or nullopt at the end of the stream. After a seek
  // the samples may begin before the one that was asked for.
  ipc::Expected<std::optional<AudioSamples>> Read();

  // Returns the damage and the notes that were met since the last call, in
  // order: at most one for each Read(), and one at the end. What is met again
  // is not reported again. Its samples have not been read before.
  std::vector<LostSamples> TakeLost() { return std::exchange(lost_, {}); }

  // Makes the next Read() begin at `sample` or before.
  ipc::Expected<void> Seek(int64_t sample);
  // Returns whether a seek to `sample` decodes fewer packets than reading on to
  // it does.
  bool SeekSaves(int64_t sample) const {
    return WayTo(sample).start() > packet_;
  }

  // Returns the number of seeks that did not have to decode from the beginning.
  uint64_t jumps() const { return jumps_; }

 private:
  struct Packet {
    int64_t pts;
    int64_t position;
    size_t bytes;
    int64_t first_sample;  // after the silence
    uint32_t samples;
    bool rejected;
    int64_t silence;  // before the samples, in place of lost ones
  };

  AudioReader(std::unique_ptr<Demuxer> demuxer, OpenDecoder open_decoder);

  // The packets to decode in order to reach a sample: first `preroll` packets,
  // which only bring the decoder into the right state, then packet `target`,
  // which contains the sample.
  struct Way {
    size_t target;
    size_t preroll;
    size_t start() const { return target - preroll; }
  };

  Way WayTo(int64_t sample) const;
  ipc::Expected<void> Restart();
  // Reads the packets before the current position again, from the first packet
  // of the file on.
  ipc::Expected<void> ReadAgain();
  // Returns the format of a stream that has no samples and is sound. In other
  // codecs than PCM, bytes that are no packet look the same.
  std::optional<AudioFormat> FormatOfNothing() const;
  // Seeks to the start of `way` and decodes along it. Returns false if the
  // packets there are not the remembered ones, or yield other samples.
  ipc::Expected<bool> JumpAlong(Way way);
  ipc::Expected<bool> FindPacket(const Packet& wanted);
  bool IsAt(const Packet& packet) const;
  // Decodes one packet into taken_; null drains the decoder at the end of the
  // stream.
  ipc::Expected<void> Decode(const bulkhead_packet* packet);
  ipc::Expected<void> TakeFrames();
  void NoteRejection();
  int64_t taken_count() const;
  // Queues what the packet has yielded, after the silence that belongs there.
  void QueuePacket(const bulkhead_packet& packet);
  ipc::Expected<void> QueueEnd();
  // Queues up to `most` of the samples that were taken.
  void QueueTaken(int64_t most);
  // Queues silence for `count` lost samples.
  void QueueSilence(int64_t count);
  // Returns true if the current packet was never decoded before, so that the
  // timeline has to say what is missing.
  bool IsNew() const { return packet_ >= packets_.size(); }
  // Keeps what the timeline reported for TakeLost(). Returns how many samples
  // it counts as lost.
  int64_t Tell(std::optional<LostSamples> told);
  int64_t next_sample() const;

  const std::unique_ptr<Demuxer> demuxer_;
  const OpenDecoder open_decoder_;
  std::unique_ptr<Decoder> decoder_;
  AudioConverter converter_;
  std::optional<int64_t> first_pts_;

  // Decoded, not yet read. Silence has a count, but no data.
  std::deque<AudioSamples> queue_;
  int64_t decoded_ = 0;      // the number of the next sample to be queued
  size_t packet_ = 0;        // the number of the next packet
  bool has_sought_ = false;  // since the first packet of the file
  bool ended_ = false;
  std::vector<Packet> packets_;  // all packets decoded so far, from the first
  uint64_t jumps_ = 0;

  // The samples of the packet that is being decoded.
  std::vector<AudioSamples> taken_;
  AudioTimeline::Rejection rejection_;

  AudioTimeline timeline_;  // at the first packet that was never decoded
  // The timeline after the last packet of a full table.
  std::optional<AudioTimeline> behind_table_;
  std::optional<int64_t> silence_at_end_;
  std::vector<LostSamples> lost_;
};

}  // namespace bulkhead::worker
