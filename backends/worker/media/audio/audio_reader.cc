// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/audio/audio_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "backends/worker/media/audio/audio_preroll.h"
#include "backends/worker/media/demux/missing_end.h"
#include "ipc/try.h"

namespace bulkhead::worker {
namespace {

// Limits the table of packets to 48 MiB, enough for five hours of MP3. Later
// samples are reached by decoding onward from the last packet of the table.
constexpr size_t kMostPackets = size_t{1} << 20;
// The largest number of packets to read between the place where a seek ends up
// and the wanted packet.
constexpr int kMostPacketsToFind = 1 << 12;
// Silence is read in parts, since damage can be long.
constexpr size_t kSilenceAtOnce = 4096;
constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max() / 2;

// Returns the end, by its header, of a stream that has become shorter.
MissingEnd PromisedEnd(const StreamFacts& facts) {
  MissingEnd end;
  const bulkhead_rational unit = facts.time_base;
  if (unit.numerator <= 0) return end;
  // Headers without a time for the beginning count from 0 (WAV).
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
    std::unique_ptr<Demuxer> demuxer, OpenDecoder open_decoder) {
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
                         Quoted(reader->timeline_.complaint()));
  }
  reader->queue_.push_front(*std::move(first));
  return reader;
}

AudioReader::AudioReader(std::unique_ptr<Demuxer> demuxer,
                         OpenDecoder open_decoder)
    : demuxer_(std::move(demuxer)),
      open_decoder_(std::move(open_decoder)),
      timeline_(demuxer_->facts()) {}

ipc::Expected<void> AudioReader::Restart() {
  IPC_TRY(demuxer_->SeekToBeginning());
  // Closed before the next one is opened: a device may have room for only one.
  // Not just flushed, since decoders keep state across a flush.
  decoder_.reset();
  IPC_ASSIGN_OR_RETURN(decoder_, open_decoder_());
  converter_.Reset();
  queue_.clear();
  decoded_ = 0;
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
  const StreamFacts& facts = demuxer_->facts();
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

int64_t AudioReader::next_sample() const {
  return queue_.empty() ? decoded_ : queue_.front().first;
}

ipc::Expected<std::optional<AudioSamples>> AudioReader::Read() {
  while (queue_.empty()) {
    if (ended_) return std::optional<AudioSamples>();
    if (packet_ == kMostPackets) {
      // After the table's end, every visit is like the first.
      if (!behind_table_) behind_table_ = timeline_;
      timeline_ = *behind_table_;
    }
    const bool knows_all = silence_at_end_ && packets_.size() < kMostPackets;
    if (has_sought_ && IsNew() && !knows_all) IPC_TRY(ReadAgain());
    IPC_ASSIGN_OR_RETURN(const bool read, demuxer_->ReadPacket());
    IPC_TRY(Decode(read ? &demuxer_->packet() : nullptr));
    if (read) {
      QueuePacket(demuxer_->packet());
    } else {
      IPC_TRY(QueueEnd());
    }
  }
  AudioSamples& front = queue_.front();
  if (!front.data.empty()) {
    std::optional<AudioSamples> samples(std::move(front));
    queue_.pop_front();
    return samples;
  }
  AudioSamples silence = front;
  silence.count = std::min(front.count, kSilenceAtOnce);
  silence.data.resize(silence.count * static_cast<size_t>(silence.channels));
  front.first = silence.end();
  front.count -= silence.count;
  if (front.count == 0) queue_.pop_front();
  return std::make_optional(std::move(silence));
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
  DecodedFrame frame;
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
        Tell(timeline_.Add(packet, samples, rejection_, decoded_,
                           converter_.format().sample_rate));
    QueueSilence(silence);
    if (packet_ == packets_.size() && packet_ < kMostPackets) {
      packets_.push_back({.pts = packet.pts,
                          .position = packet.position,
                          .bytes = packet.bytes,
                          .first_sample = decoded_,
                          .samples = static_cast<uint32_t>(samples),
                          .rejected = rejection_.has_value(),
                          .silence = silence});
    }
    QueueTaken(kUnlimited);
  } else {
    // The first visit has counted the samples. libavformat may not tell of this
    // one what to leave out at its end.
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
    // The decoder does not say of which packet.
    (void)timeline_.Add({.pts = BULKHEAD_NO_TIMESTAMP, .position = -1}, 0,
                        rejection_, decoded_, rate);
  }
  if (rate == 0) return {};
  const bool shrank = demuxer_->shrank();
  silence_at_end_ = Tell(timeline_.AddEnd(
      shrank ? PromisedEnd(demuxer_->facts()) : demuxer_->missing_end(), shrank,
      decoded_, drained, rate));
  QueueSilence(*silence_at_end_);
  return {};
}

int64_t AudioReader::Tell(std::optional<LostSamples> told) {
  if (!told) return 0;
  const int64_t rate = converter_.format().sample_rate;
  const bulkhead_rational unit = demuxer_->facts().time_base;
  if (decoded_ == 0 && first_pts_ && *first_pts_ != BULKHEAD_NO_TIMESTAMP &&
      unit.numerator > 0) {
    // Sample 0 is the first one that the file has, decoded or not.
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
  if (count == 0) return;
  queue_.push_back({.first = decoded_,
                    .channels = converter_.format().channels,
                    .count = static_cast<size_t>(count),
                    .data = {}});
  decoded_ += count;
}

void AudioReader::QueueTaken(int64_t most) {
  const int64_t end = decoded_ + most;
  for (AudioSamples& samples : taken_) {
    samples.first = decoded_;
    AudioSamples part = Part(std::move(samples), decoded_, end);
    if (part.count == 0) continue;
    decoded_ = part.end();
    queue_.push_back(std::move(part));
  }
  taken_.clear();
}

AudioReader::Way AudioReader::WayTo(int64_t sample) const {
  const auto after = std::upper_bound(
      packets_.begin(), packets_.end(), sample,
      [](int64_t value, const Packet& p) { return value < p.first_sample; });
  const size_t target =
      static_cast<size_t>(std::max<ptrdiff_t>(after - packets_.begin() - 1, 0));
  const auto preroll = PrerollPackets(demuxer_->facts().codec);
  bool whole = !preroll || converter_.varied();
  // What a decoder makes of damage depends on everything before it.
  for (size_t i = 0; !whole && i < std::min<size_t>(*preroll, target); ++i) {
    whole = packets_[target - i].rejected;
  }
  return {target, whole ? target : std::min<size_t>(*preroll, target)};
}

ipc::Expected<void> AudioReader::Seek(int64_t sample) {
  const Way way = WayTo(sample);
  if (next_sample() <= sample && way.start() <= packet_) return {};
  if (way.start() == 0) return Restart();
  IPC_ASSIGN_OR_RETURN(const bool jumped, JumpAlong(way));
  return jumped ? ipc::Expected<void>() : Restart();
}

ipc::Expected<bool> AudioReader::JumpAlong(Way way) {
  const size_t start = way.start();
  IPC_ASSIGN_OR_RETURN(const bool found, FindPacket(packets_[start]));
  if (!found) return false;
  IPC_ASSIGN_OR_RETURN(decoder_, open_decoder_());
  ended_ = false;
  for (size_t i = start; i <= way.target; ++i) {
    if (i > start) {
      IPC_ASSIGN_OR_RETURN(const bool read, demuxer_->ReadPacket());
      if (!read || !IsAt(packets_[i])) return false;
    }
    // Only what the last packet of the way yields is wanted, the others are
    // preroll.
    IPC_TRY(Decode(&demuxer_->packet()));
  }
  // The first visit counted these samples. Another number would shift all later
  // ones, so the caller then decodes from the beginning.
  const Packet& reached = packets_[way.target];
  if (taken_count() != int64_t{reached.samples}) return false;
  queue_.clear();
  decoded_ = reached.first_sample;
  packet_ = way.target + 1;
  QueueTaken(kUnlimited);
  ++jumps_;
  return true;
}

ipc::Expected<bool> AudioReader::FindPacket(const Packet& wanted) {
  if (wanted.pts == BULKHEAD_NO_TIMESTAMP) return false;
  has_sought_ = true;
  if (!demuxer_->SeekToKeyframe(wanted.pts)) return false;
  for (int i = 0; i < kMostPacketsToFind; ++i) {
    IPC_ASSIGN_OR_RETURN(const bool read, demuxer_->ReadPacket());
    if (!read) return false;
    if (IsAt(wanted)) return true;
    const int64_t pts = demuxer_->packet().pts;
    if (pts != BULKHEAD_NO_TIMESTAMP && pts > wanted.pts) return false;
  }
  return false;
}

bool AudioReader::IsAt(const Packet& packet) const {
  const bulkhead_packet& read = demuxer_->packet();
  return read.pts == packet.pts && read.position == packet.position &&
         read.bytes == packet.bytes;
}

}  // namespace bulkhead::worker
