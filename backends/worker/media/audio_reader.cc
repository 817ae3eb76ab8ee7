// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/audio_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "backends/worker/media/audio_preroll.h"
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
                         Quoted(reader->decoder_->TakeComplaint()));
  }
  reader->queue_.push_front(*std::move(first));
  return reader;
}

AudioReader::AudioReader(std::unique_ptr<Demuxer> demuxer,
                         OpenDecoder open_decoder)
    : demuxer_(std::move(demuxer)),
      open_decoder_(std::move(open_decoder)),
      ac3_(demuxer_->facts().container),
      timeline_(*demuxer_) {}

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
  ended_ = false;
  return {};
}

std::optional<AudioFormat> AudioReader::FormatOfNothing() const {
  const StreamFacts& facts = demuxer_->facts();
  const bulkhead_codec_parameters& declared = demuxer_->codec_parameters();
  if (packet_ > 0 || facts.duration > 0 || facts.container_microseconds > 0 ||
      !facts.codec.starts_with("pcm_") || demuxer_->cut_short() ||
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
    IPC_ASSIGN_OR_RETURN(const bool read, demuxer_->ReadPacket());
    const bulkhead_packet* packet = read ? &demuxer_->packet() : nullptr;
    has_samples_ = packet == nullptr;
    IPC_TRY(Decode(packet));
    if (packet != nullptr) Remember(*packet);
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

void AudioReader::Remember(const bulkhead_packet& packet) {
  const int64_t samples = decoded_ - first_sample_;
  if (IsNew()) timeline_.Done(samples, converter_.varied());
  if (packet_ == packets_.size() && packet_ < kMostPackets) {
    packets_.push_back({.pts = packet.pts,
                        .position = packet.position,
                        .bytes = packet.bytes,
                        .first_sample = first_sample_,
                        .samples = static_cast<uint32_t>(samples),
                        .damaged = damaged_,
                        .silence = silence_});
  }
  ++packet_;
  if (packet_ != kMostPackets) return;
  // Behind the table, every visit is like the first.
  if (!behind_table_) behind_table_ = timeline_;
  timeline_ = *behind_table_;
}

void AudioReader::NoteDamage() {
  damaged_ = true;
  if (IsNew()) timeline_.NotDecoded();
}

void AudioReader::PrecedeBySilence(int64_t samples) {
  if (std::exchange(has_samples_, true)) return;
  if (IsNew()) {
    const int64_t rate = converter_.format().sample_rate;
    silence_ = timeline_.MissingBefore(decoded_, samples, rate);
    TellLost(silence_);
    if (!converter_.varied()) {
      room_ = timeline_.Room(samples, rate).value_or(kUnlimited);
      if (const auto end = timeline_.End(rate)) {
        room_ = std::clamp<int64_t>(*end - decoded_ - silence_, 0, room_);
      }
    }
  } else {
    silence_ = packets_[packet_].silence;
    room_ = packets_[packet_].samples;
  }
  QueueSilence(silence_);
  first_sample_ = decoded_;
}

void AudioReader::QueueSilenceAtEnd() {
  if (!silence_at_end_) {
    const bool cut = demuxer_->cut_short();
    // The host tells of a file that has become shorter.
    const int64_t declared = cut ? -1 : demuxer_->declared_size();
    silence_at_end_ = timeline_.MissingAtEnd(
        decoded_, converter_.format().sample_rate, cut, declared,
        !demuxer_->tells_losses() && demuxer_->LostAtEnd());
    TellLost(*silence_at_end_, declared > demuxer_->size() ? declared : -1);
    if (*silence_at_end_ > 0 && timeline_.counted() &&
        lost_.back().declared_size < 0) {
      lost_.back().declared_samples = decoded_ + *silence_at_end_;
    }
  }
  QueueSilence(*silence_at_end_);
}

void AudioReader::TellLost(int64_t count, int64_t declared_size) {
  if (count == 0) return;
  const int64_t rate = converter_.format().sample_rate;
  const bulkhead_rational unit = demuxer_->facts().time_base;
  if (decoded_ == 0 && first_pts_ && *first_pts_ != BULKHEAD_NO_TIMESTAMP &&
      unit.numerator > 0) {
    // Sample 0 is the first one that the file has, decoded or not.
    const __int128 ticks =
        __int128{count} * unit.denominator / rate / unit.numerator;
    int64_t begin;
    if (!__builtin_sub_overflow(*first_pts_, static_cast<int64_t>(ticks),
                                &begin)) {
      first_pts_ = begin;
    }
  }
  lost_.push_back({.first = decoded_,
                   .count = count,
                   .first_byte = timeline_.first_byte(),
                   .last_byte = timeline_.last_byte(),
                   .complaint = decoder_->TakeComplaint(),
                   .estimated = timeline_.estimated(),
                   .declared_size = declared_size});
}

ipc::Expected<void> AudioReader::Decode(const bulkhead_packet* packet) {
  silence_ = 0;
  first_sample_ = decoded_;
  damaged_ = false;
  room_ = kUnlimited;
  const int64_t before = decoded_;
  if (packet != nullptr && IsNew()) timeline_.Sent(*packet);
  bulkhead_packet to_decode;
  if (packet != nullptr) {
    to_decode = ac3_.FramesOf(*packet);
    packet = &to_decode;
  }
  for (;;) {
    IPC_ASSIGN_OR_RETURN(const auto sent, decoder_->SendPacket(packet));
    if (sent == Decoder::Sent::kDamaged) NoteDamage();
    IPC_TRY(TakeFrames());
    if (sent != Decoder::Sent::kTakeFramesFirst) break;
  }
  if (packet != nullptr) return {};
  ended_ = true;
  timeline_.Drained(decoded_ - before);
  IPC_ASSIGN_OR_RETURN(auto rest, converter_.Finish());
  Queue(std::move(rest));
  QueueSilenceAtEnd();
  return {};
}

ipc::Expected<void> AudioReader::TakeFrames() {
  DecodedFrame frame;
  for (;;) {
    IPC_ASSIGN_OR_RETURN(const auto received, decoder_->ReceiveFrame(&frame));
    switch (received) {
      case Decoder::Received::kFrame: {
        if (!first_pts_) first_pts_ = frame->pts;
        IPC_ASSIGN_OR_RETURN(auto samples, converter_.Convert(*frame));
        if (samples.count > 0) {
          PrecedeBySilence(static_cast<int64_t>(samples.count));
        }
        samples.first = decoded_;
        Queue(Part(std::move(samples), decoded_, first_sample_ + room_));
        break;
      }
      case Decoder::Received::kDamaged:
        NoteDamage();
        break;
      case Decoder::Received::kNeedsPacket:
      case Decoder::Received::kEndOfStream:
        return {};
    }
  }
}

void AudioReader::QueueSilence(int64_t count) {
  if (count == 0) return;
  queue_.push_back({.first = decoded_,
                    .channels = converter_.format().channels,
                    .count = static_cast<size_t>(count),
                    .data = {}});
  decoded_ += count;
}

void AudioReader::Queue(AudioSamples samples) {
  if (samples.count == 0) return;
  samples.first = decoded_;
  decoded_ = samples.end();
  queue_.push_back(std::move(samples));
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
    whole = packets_[target - i].damaged;
  }
  return {target, whole ? target : std::min<size_t>(*preroll, target)};
}

bool AudioReader::GoesOnTo(int64_t sample) const {
  return next_sample() <= sample && WayTo(sample).start() <= packet_;
}

ipc::Expected<void> AudioReader::Seek(int64_t sample) {
  if (GoesOnTo(sample)) return {};
  const Way way = WayTo(sample);
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
    // Drops what the previous packet yielded: only the last packet of the way
    // is wanted, the others are preroll.
    queue_.clear();
    decoded_ = packets_[i].first_sample;
    packet_ = i;
    has_samples_ = true;  // The silence before them is not wanted either.
    IPC_TRY(Decode(&demuxer_->packet()));
  }
  packet_ = way.target + 1;
  // The first visit counted these samples. Another number would shift all later
  // ones, so the caller then decodes from the beginning.
  const Packet& reached = packets_[way.target];
  if (decoded_ != reached.first_sample + static_cast<int64_t>(reached.samples))
    return false;
  ++jumps_;
  return true;
}

ipc::Expected<bool> AudioReader::FindPacket(const Packet& wanted) {
  if (wanted.pts == BULKHEAD_NO_TIMESTAMP) return false;
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
