// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "backends/worker/media/audio_converter.h"
#include "backends/worker/media/audio_samples.h"
#include "backends/worker/media/decoder.h"
#include "backends/worker/media/demuxer.h"
#include "ipc/error.h"

namespace bulkhead::worker {

// The samples of one stream of audio, numbered from 0 as `ffmpeg -f f32le`
// writes them: what is decoded from one packet follows what was decoded from
// the one before, whatever the timestamps say.
//
//     reader->Seek(wanted);
//     while (auto samples = *reader->Read()) Use(samples, from wanted on);
//
// A number is exact, also after a seek, since nothing but decoding tells how
// many samples there are before it. So the first visit to a place decodes all
// that comes before. What was decoded once is known by its packets: later
// visits seek, if the codec allows it (audio_preroll.h), to the packet itself,
// and begin anew if what they meet there is not what was there before.
//
// One thread. Failures are those of Demuxer, Decoder and AudioConverter.
class AudioReader {
 public:
  using OpenDecoder = std::function<ipc::Expected<std::unique_ptr<Decoder>>()>;

  // Decodes until there are samples; kBadInput if there are none. `demuxer`
  // stands at the beginning.
  static ipc::Expected<std::unique_ptr<AudioReader>> Open(
      std::unique_ptr<Demuxer> demuxer, OpenDecoder open_decoder);

  const Demuxer& demuxer() const { return *demuxer_; }
  const AudioConverter& converter() const { return converter_; }
  // Of sample 0, time base of the stream; BULKHEAD_NO_TIMESTAMP: none.
  int64_t first_pts() const { return *first_pts_; }

  // Empty at the end of the stream. Some samples may come before the first
  // that was asked for.
  ipc::Expected<std::optional<AudioSamples>> Read();

  // The next Read() begins at `sample` or before it. It goes on from where it
  // is, without leaving anything out, if GoesOnTo says so.
  ipc::Expected<void> Seek(int64_t sample);
  bool GoesOnTo(int64_t sample) const;

  // Seeks that did not have to begin anew.
  uint64_t jumps() const { return jumps_; }

 private:
  struct Packet {
    int64_t pts;
    int64_t position;
    size_t bytes;
    int64_t first_sample;
    size_t samples;
  };

  AudioReader(std::unique_ptr<Demuxer> demuxer, OpenDecoder open_decoder);

  // The packets from which to decode for a sample, and how many of them only
  // for what they leave behind in the decoder.
  struct Way {
    size_t target;
    size_t preroll;
    size_t start() const { return target - preroll; }
  };

  Way WayTo(int64_t sample) const;
  ipc::Expected<void> Restart();
  // False: it is not there any more, or its neighbours differ.
  ipc::Expected<bool> JumpAlong(Way way);
  ipc::Expected<bool> FindPacket(const Packet& wanted);
  bool IsAt(const Packet& packet) const;
  // Decodes the packet that was read; null: the end.
  ipc::Expected<void> Decode(const bulkhead_packet* packet);
  ipc::Expected<bool> TakeFrames();
  void Queue(AudioSamples samples);
  void Remember(const bulkhead_packet& packet, int64_t first_sample);
  int64_t next_sample() const;

  const std::unique_ptr<Demuxer> demuxer_;
  const OpenDecoder open_decoder_;
  std::unique_ptr<Decoder> decoder_;
  AudioConverter converter_;
  std::optional<int64_t> first_pts_;

  std::deque<AudioSamples> queue_;  // decoded, not yet read
  int64_t decoded_ = 0;             // samples, also those that are queued
  size_t packet_ = 0;               // the number of the next
  bool ended_ = false;
  std::vector<Packet> packets_;  // from the first, as far as it got
  uint64_t jumps_ = 0;
};

}  // namespace bulkhead::worker
