// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "backends/worker/media/audio/audio_converter.h"
#include "backends/worker/media/audio/audio_samples.h"
#include "backends/worker/media/audio/audio_timeline.h"
#include "backends/worker/media/audio/packet_table.h"
#include "backends/worker/media/audio/sample_queue.h"
#include "backends/worker/media/decode/decoder.h"
#include "backends/worker/media/demux/demuxer.h"
#include "ipc/error.h"

namespace bulkhead::worker::audio {

// Reads the samples of one audio stream, numbered from 0 in the order in which
// `ffmpeg -f f32le` writes them: the samples of each packet follow the samples
// of the packet before, whatever the timestamps say. Samples that were lost to
// damage are replaced by silence of the same length (AudioTimeline), and are
// reported by TakeLost().
//
//     reader->Seek(wanted);
//     while (auto samples = *reader->Read()) Use(samples, from wanted on);
//
// Sample numbers are exact, also after a seek. Only decoding shows how many
// samples precede a packet. So the first visit to a sample decodes everything
// before it, and remembers which packet yielded which samples. A later visit
// seeks to the sample's packet directly if the codec allows that
// (audio_preroll.h). If the seek finds packets that are not the remembered
// ones, the reader decodes from the beginning.
//
// After a seek, libavformat may lack facts about packets (in Ogg, how many
// samples to leave out at the end). So a packet is read for the first time only
// in a pass from the first packet on. If the reader has sought and comes to the
// end of the remembered packets, it first reads them all again, without
// decoding them.
//
// Used by one thread. Fails as Demuxer, Decoder and AudioConverter do.
class AudioReader {
 public:
  using OpenDecoder =
      std::function<ipc::Expected<std::unique_ptr<decode::Decoder>>()>;

  // Decodes until there are samples. Fails with kBadInput if no packet yields
  // any, with one exception: PCM without packets, in a container that declares
  // no duration, is a valid stream without samples. `demuxer` must be at the
  // beginning.
  static ipc::Expected<std::unique_ptr<AudioReader>> Open(
      std::unique_ptr<demux::Demuxer> demuxer, OpenDecoder open_decoder);

  const demux::Demuxer& demuxer() const { return *demuxer_; }
  const AudioConverter& converter() const { return converter_; }
  // Returns the timestamp of sample 0 in the time base of the stream, or
  // BULKHEAD_NO_TIMESTAMP.
  int64_t first_pts() const { return *first_pts_; }

  // Returns the next samples, or nullopt at the end of the stream. After a seek
  // the samples may begin before the one that was asked for.
  ipc::Expected<std::optional<AudioSamples>> Read();

  // Returns the damage and the notes (irregularities that cost no sample) found
  // since the last TakeLost(), in order: at most one for each Read(), and one
  // at the end. Each is reported once, at the latest when Read() returns the
  // samples or the silence that it concerns.
  std::vector<LostSamples> TakeLost() { return std::exchange(lost_, {}); }

  // Makes the next Read() begin at `sample` or before.
  ipc::Expected<void> Seek(int64_t sample);
  // Returns whether a seek to `sample` decodes fewer packets than reading on
  // would.
  bool SeekSaves(int64_t sample) const {
    return WayTo(sample).start() > packet_;
  }

 private:
  AudioReader(std::unique_ptr<demux::Demuxer> demuxer,
              OpenDecoder open_decoder);

  // Returns the remembered packets to decode in order to reach `sample`.
  PacketTable::Way WayTo(int64_t sample) const;
  // Prepares for decoding from the first packet, with a new decoder.
  ipc::Expected<void> Restart();
  // Reads the packets before the current position again, from the first packet
  // of the file on.
  ipc::Expected<void> ReadAgain();
  // Returns the declared format if the stream is PCM and validly has no
  // samples; nullopt for other streams. In other codecs, a damaged stream looks
  // the same.
  std::optional<AudioFormat> FormatOfNothing() const;
  // Seeks to the start of `way` and decodes along it. Returns false if the
  // packets there are not the remembered ones, or yield other samples.
  ipc::Expected<bool> JumpAlong(PacketTable::Way way);
  // Seeks to a packet and reads it. Returns false if the packet is not there.
  ipc::Expected<bool> FindPacket(const PacketTable::Packet& wanted);
  // Decodes one packet into taken_; null drains the decoder at the end of the
  // stream.
  ipc::Expected<void> Decode(const bulkhead_packet* packet);
  // Moves the samples of all frames that the decoder has to taken_.
  ipc::Expected<void> TakeFrames();
  // Stores the decoder's sentence about the damage that it has reported.
  void NoteRejection();
  // Returns the number of samples in taken_.
  int64_t taken_count() const;
  // Queues the samples of the packet, after silence for samples that were lost
  // before it.
  void QueuePacket(const bulkhead_packet& packet);
  // Queues the samples that came after the last packet, and silence for samples
  // that are missing at the end.
  ipc::Expected<void> QueueEnd();
  // Queues at most `most` of the samples in taken_.
  void QueueTaken(int64_t most);
  // Queues silence for `count` lost samples.
  void QueueSilence(int64_t count);
  // Returns true if the current packet was never decoded before, so that the
  // timeline must find out whether samples are missing before it.
  bool IsNew() const { return packet_ >= packets_.size(); }
  // Keeps the timeline's report `told` for TakeLost(). Returns the number of
  // samples that the report counts as lost.
  int64_t Keep(std::optional<LostSamples> told);

  const std::unique_ptr<demux::Demuxer> demuxer_;
  const OpenDecoder open_decoder_;
  std::unique_ptr<decode::Decoder> decoder_;
  AudioConverter converter_;
  std::optional<int64_t> first_pts_;

  SampleQueue queue_;        // decoded and not yet read
  size_t packet_ = 0;        // the number of the next packet
  bool has_sought_ = false;  // since demuxer_ was at the beginning of the file
  bool ended_ = false;
  PacketTable packets_;  // all packets decoded so far, from the first

  // The samples of the packet that is being decoded, and its rejection.
  std::vector<AudioSamples> taken_;
  AudioTimeline::Rejection rejection_;

  // The timeline after all packets decoded so far. Packets for which packets_
  // has no room count as new on every visit. Each visit to them begins with a
  // copy of after_table_.
  AudioTimeline timeline_;
  // The timeline after the last packet of packets_, once packets_ is full.
  std::optional<AudioTimeline> after_table_;
  std::optional<int64_t> silence_at_end_;  // set when the end was first reached
  std::vector<LostSamples> lost_;
};

}  // namespace bulkhead::worker::audio
