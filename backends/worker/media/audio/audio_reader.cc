// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/audio/audio_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "backends/worker/media/audio/audio_preroll.h"
#include "backends/worker/media/decode/backend_failure.h"
#include "backends/worker/media/demux/missing_end.h"
#include "ipc/try.h"

namespace bulkhead::worker::audio {
namespace {

using decode::Decoder;

// The most packets that are read between the place where a seek arrives and the
// wanted packet.
constexpr int kMostPacketsToFind = 1 << 12;
constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max() / 2;

// Returns the end of a stream according to its header, for a file that has
// become shorter while it was read.
demux::MissingEnd PromisedEnd(const demux::StreamFacts& facts) {
  demux::MissingEnd end;
  const bulkhead_rational unit = facts.time_base;
  if (unit.numerator <= 0) return end;
  // If the header has no time for the beginning, durations count from 0 (WAV).
  const int64_t start = facts.start == BULKHEAD_NO_TIMESTAMP ? 0 : facts.start;
  __int128 ticks = facts.duration;
  if (facts.duration <= 0) {
    ticks = __int128{facts.container_microseconds} * unit.denominator /
            unit.numerator / 1'000'000;
  }
  if (ticks <= 0) return end;
  end.is_rounded = facts.duration <= 0 || facts.is_duration_estimated;
  end.end =
      static_cast<int64_t>(std::min<__int128>(start + ticks, INT64_MAX / 2));
  return end;
}

}  // namespace

ipc::Expected<std::unique_ptr<AudioReader>> AudioReader::Open(
    std::unique_ptr<demux::Demuxer> demuxer, OpenDecoder open_decoder) {
  std::unique_ptr<AudioReader> reader(
      new AudioReader(std::move(demuxer), std::move(open_decoder)));
  IPC_TRY(reader->Restart());
  IPC_ASSIGN_OR_RETURN(auto first, reader->Read());
  if (const auto format = reader->FormatOfNothing(); !first && format) {
    reader->converter_.Declare(*format);
    reader->first_pts_ = BULKHEAD_NO_TIMESTAMP;
    return reader;
  }
  if (!first) {
    return ipc::Fail(ipc::Code::kBadInput,
                     "no sample of its audio stream can be decoded" +
                         decode::Quoted(reader->timeline_.complaint()));
  }
  reader->queue_.PutBack(*std::move(first));
  return reader;
}

AudioReader::AudioReader(std::unique_ptr<demux::Demuxer> demuxer,
                         OpenDecoder open_decoder)
    : demuxer_(std::move(demuxer)),
      open_decoder_(std::move(open_decoder)),
      timeline_(demuxer_->facts()) {}

ipc::Expected<void> AudioReader::Restart() {
  IPC_TRY(demuxer_->SeekToBeginning());
  // Closed before the next one is opened, since a device may have room for only
  // one. A flush would not do, since decoders keep state across a flush.
  decoder_.reset();
  IPC_ASSIGN_OR_RETURN(decoder_, open_decoder_());
  converter_.Reset();
  queue_.Restart(0);
  packet_ = 0;
  has_sought_ = false;
  ended_ = false;
  return {};
}

ipc::Expected<void> AudioReader::ReadAgain() {
  IPC_TRY(demuxer_->SeekToBeginning());
  has_sought_ = false;
  for (size_t i = 0; i < packet_; ++i) {
    IPC_ASSIGN_OR_RETURN(const bool read, demuxer_->ReadPacket());
    if (!read) break;
  }
  return {};
}

std::optional<AudioFormat> AudioReader::FormatOfNothing() const {
  const demux::StreamFacts& facts = demuxer_->facts();
  const bulkhead_codec_parameters& declared = demuxer_->codec_parameters();
  if (packet_ > 0 || facts.duration > 0 || facts.container_microseconds > 0 ||
      !facts.codec.starts_with("pcm_") || demuxer_->shrank() ||
      declared.sample_rate <= 0 || declared.channels <= 0 ||
      declared.channels > kMaxChannels) {
    return std::nullopt;
  }
  return AudioFormat{declared.sample_rate, declared.channels,
                     declared.channel_mask};
}

ipc::Expected<std::optional<AudioSamples>> AudioReader::Read() {
  while (queue_.empty()) {
    if (ended_) return std::optional<AudioSamples>();
    if (packets_.is_full() && packet_ == packets_.size()) {
      // Packets after the table's end are new on every visit.
      if (!after_table_) after_table_ = timeline_;
      timeline_ = *after_table_;
    }
    // The end was reached before, so no packet after the table can come.
    const bool knows_all = silence_at_end_ && !packets_.is_full();
    if (has_sought_ && IsNew() && !knows_all) IPC_TRY(ReadAgain());
    IPC_ASSIGN_OR_RETURN(const bool read, demuxer_->ReadPacket());
    IPC_TRY(Decode(read ? &demuxer_->packet() : nullptr));
    if (read) {
      QueuePacket(demuxer_->packet());
    } else {
      IPC_TRY(QueueEnd());
    }
  }
  return std::make_optional(queue_.Take());
}

ipc::Expected<void> AudioReader::Decode(const bulkhead_packet* packet) {
  taken_.clear();
  rejection_.reset();
  for (;;) {
    IPC_ASSIGN_OR_RETURN(const auto sent, decoder_->SendPacket(packet));
    if (sent == Decoder::Sent::kDamaged) NoteRejection();
    IPC_TRY(TakeFrames());
    if (sent != Decoder::Sent::kTakeFramesFirst) return {};
  }
}

ipc::Expected<void> AudioReader::TakeFrames() {
  decode::DecodedFrame frame;
  for (;;) {
    IPC_ASSIGN_OR_RETURN(const auto received, decoder_->ReceiveFrame(&frame));
    switch (received) {
      case Decoder::Received::kFrame: {
        if (!first_pts_) first_pts_ = frame->pts;
        IPC_ASSIGN_OR_RETURN(auto samples, converter_.Convert(*frame));
        taken_.push_back(std::move(samples));
        break;
      }
      case Decoder::Received::kDamaged:
        NoteRejection();
        break;
      case Decoder::Received::kNeedsPacket:
      case Decoder::Received::kEndOfStream:
        return {};
    }
  }
}

void AudioReader::NoteRejection() { rejection_ = decoder_->TakeComplaint(); }

int64_t AudioReader::taken_count() const {
  size_t count = 0;
  for (const AudioSamples& samples : taken_) count += samples.count;
  return static_cast<int64_t>(count);
}

void AudioReader::QueuePacket(const bulkhead_packet& packet) {
  const int64_t samples = taken_count();
  if (IsNew()) {
    const int64_t silence =
        Keep(timeline_.Add(packet, samples, rejection_, queue_.end(),
                           converter_.format().sample_rate));
    QueueSilence(silence);
    // False once the table is full and has missed a packet.
    if (packet_ == packets_.size()) {
      packets_.Add({.pts = packet.pts,
                    .position = packet.position,
                    .bytes = packet.bytes,
                    .first_sample = queue_.end(),
                    .samples = static_cast<uint32_t>(samples),
                    .rejected = rejection_.has_value(),
                    .silence = silence});
    }
    QueueTaken(kUnlimited);
  } else {
    // The first visit has counted the samples. On this visit libavformat may
    // not say how many samples to leave out at the end.
    QueueSilence(packets_[packet_].silence);
    QueueTaken(packets_[packet_].samples);
  }
  ++packet_;
}

ipc::Expected<void> AudioReader::QueueEnd() {
  ended_ = true;
  IPC_ASSIGN_OR_RETURN(auto rest, converter_.Finish());
  taken_.push_back(std::move(rest));
  const int64_t drained = taken_count();
  QueueTaken(kUnlimited);
  if (silence_at_end_) {
    QueueSilence(*silence_at_end_);
    return {};
  }
  silence_at_end_ = 0;
  const int64_t rate = converter_.format().sample_rate;
  if (rejection_) {
    // The decoder does not say which packet it has rejected.
    (void)timeline_.Add({.pts = BULKHEAD_NO_TIMESTAMP, .position = -1}, 0,
                        rejection_, queue_.end(), rate);
  }
  if (rate == 0) return {};
  const bool shrank = demuxer_->shrank();
  silence_at_end_ = Keep(timeline_.AddEnd(
      shrank ? PromisedEnd(demuxer_->facts()) : demuxer_->missing_end(), shrank,
      queue_.end(), drained, rate));
  QueueSilence(*silence_at_end_);
  return {};
}

int64_t AudioReader::Keep(std::optional<LostSamples> told) {
  if (!told) return 0;
  const int64_t rate = converter_.format().sample_rate;
  const bulkhead_rational unit = demuxer_->facts().time_base;
  if (queue_.end() == 0 && first_pts_ && *first_pts_ != BULKHEAD_NO_TIMESTAMP &&
      unit.numerator > 0) {
    // Sample 0 is the first sample of the file, even if it was lost. So
    // first_pts_ goes back by the lost samples.
    const __int128 ticks =
        __int128{told->count} * unit.denominator / rate / unit.numerator;
    int64_t begin;
    if (!__builtin_sub_overflow(*first_pts_, static_cast<int64_t>(ticks),
                                &begin)) {
      first_pts_ = begin;
    }
  }
  lost_.push_back(*std::move(told));
  return lost_.back().count;
}

void AudioReader::QueueSilence(int64_t count) {
  queue_.AddSilence(count, converter_.format().channels);
}

void AudioReader::QueueTaken(int64_t most) {
  const int64_t limit = queue_.end() + most;
  for (AudioSamples& samples : taken_) queue_.Add(std::move(samples), limit);
  taken_.clear();
}

PacketTable::Way AudioReader::WayTo(int64_t sample) const {
  return packets_.WayTo(sample, converter_.varied()
                                    ? std::nullopt
                                    : PrerollPackets(demuxer_->facts().codec));
}

ipc::Expected<void> AudioReader::Seek(int64_t sample) {
  const PacketTable::Way way = WayTo(sample);
  // Reading on reaches the sample, and a seek would not save packets.
  if (queue_.first() <= sample && way.start() <= packet_) return {};
  if (way.start() == 0) return Restart();
  IPC_ASSIGN_OR_RETURN(const bool jumped, JumpAlong(way));
  return jumped ? ipc::Expected<void>() : Restart();
}

ipc::Expected<bool> AudioReader::JumpAlong(PacketTable::Way way) {
  const size_t start = way.start();
  IPC_ASSIGN_OR_RETURN(const bool found, FindPacket(packets_[start]));
  if (!found) return false;
  IPC_ASSIGN_OR_RETURN(decoder_, open_decoder_());
  ended_ = false;
  for (size_t i = start; i <= way.target; ++i) {
    if (i > start) {
      IPC_ASSIGN_OR_RETURN(const bool read, demuxer_->ReadPacket());
      if (!read || !packets_[i].Is(demuxer_->packet())) return false;
    }
    // Only the samples of the last packet are wanted. The packets before it are
    // the preroll.
    IPC_TRY(Decode(&demuxer_->packet()));
  }
  // The first visit counted these samples. Another number would shift all later
  // ones, so the caller then decodes from the beginning.
  const PacketTable::Packet& reached = packets_[way.target];
  if (taken_count() != int64_t{reached.samples}) return false;
  queue_.Restart(reached.first_sample);
  packet_ = way.target + 1;
  QueueTaken(kUnlimited);
  return true;
}

ipc::Expected<bool> AudioReader::FindPacket(const PacketTable::Packet& wanted) {
  if (wanted.pts == BULKHEAD_NO_TIMESTAMP) return false;
  has_sought_ = true;
  if (!demuxer_->SeekToKeyframe(wanted.pts)) return false;
  for (int i = 0; i < kMostPacketsToFind; ++i) {
    IPC_ASSIGN_OR_RETURN(const bool read, demuxer_->ReadPacket());
    if (!read) return false;
    if (wanted.Is(demuxer_->packet())) return true;
    const int64_t pts = demuxer_->packet().pts;
    if (pts != BULKHEAD_NO_TIMESTAMP && pts > wanted.pts) return false;
  }
  return false;
}

}  // namespace bulkhead::worker::audio
