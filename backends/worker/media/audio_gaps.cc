// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/audio_gaps.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "backends/worker/media/audio_framing.h"

namespace bulkhead::worker {
namespace {

// A larger file is not read once more: the deadline of the call runs meanwhile.
constexpr int64_t kMostBytesToCount = int64_t{128} << 20;
// Bytes that are read at once to follow ADTS, that two packets are told apart
// by, and that are searched for the next packet.
constexpr size_t kWindow = 64 << 10;
constexpr size_t kComparedBytes = 32;
constexpr size_t kMostHole = 1 << 20;
// Padding makes the frames of a constant bit rate differ by so many bytes.
constexpr int64_t kPadding = 2;
// So many frames must have been seen before their length is a rule.
constexpr int64_t kRule = 4;

bool IsUntimed(std::string_view container) {
  constexpr std::string_view kUntimed[] = {"mp3", "aac", "ac3",   "eac3",
                                           "dts", "mlp", "truehd"};
  return std::find(std::begin(kUntimed), std::end(kUntimed), container) !=
         std::end(kUntimed);
}

}  // namespace

AudioGaps::AudioGaps(const Demuxer& demuxer)
    : demuxer_(&demuxer), untimed_(IsUntimed(demuxer.facts().container)) {
  const StreamFacts& facts = demuxer.facts();
  if (facts.codec == "mp1" || facts.codec == "mp2" || facts.codec == "mp3") {
    framing_ = Framing::kMpeg;
  } else if (facts.codec == "ac3" || (facts.codec == "eac3" && untimed_)) {
    framing_ = Framing::kAc3;
  } else if (facts.codec == "dts" && untimed_) {
    framing_ = Framing::kDts;
  } else if ((facts.codec == "mlp" || facts.codec == "truehd") && untimed_) {
    framing_ = Framing::kMlp;
  } else if (facts.codec == "aac" &&
             (untimed_ || facts.container == "mpegts")) {
    framing_ = Framing::kAdts;
  }
  if (facts.container == "mp3") info_ = ReadMp3Info(demuxer.bytes());
  if (!info_) return;
  end_ = info_->end;
  shorter_ = demuxer.size() - info_->begin < int64_t{info_->bytes};
}

size_t AudioGaps::FrameBytes(const bulkhead_packet& packet) const {
  const std::span<const uint8_t> bytes(packet.data, packet.bytes);
  switch (framing_) {
    case Framing::kMpeg:
      return MpegAudioFrameBytes(bytes);
    case Framing::kAdts:
      return AdtsFrameBytes(bytes);
    case Framing::kAc3:
      return Ac3FrameBytes(bytes);
    case Framing::kDts:
      return DtsFrameBytes(bytes);
    case Framing::kMlp:
      return MlpFrameBytes(bytes);
    case Framing::kNone:
      break;
  }
  return packet.bytes;
}

std::span<const uint8_t> AudioGaps::At(int64_t offset, size_t count) {
  const int64_t begin = offset - window_begin_;
  if (begin < 0 || begin + static_cast<int64_t>(count) >
                       static_cast<int64_t>(window_.size())) {
    window_.resize(std::max(count, kWindow));
    const ssize_t got = demuxer_->bytes().ReadAt(offset, window_);
    window_.resize(got < 0 ? 0 : static_cast<size_t>(got));
    window_begin_ = offset;
    return std::span(window_).first(std::min(count, window_.size()));
  }
  return std::span(window_).subspan(static_cast<size_t>(begin), count);
}

bool AudioGaps::IsAt(int64_t offset, std::span<const uint8_t> bytes) {
  const auto start = bytes.first(std::min(bytes.size(), kComparedBytes));
  const auto here = At(offset, start.size());
  return std::equal(here.begin(), here.end(), start.begin(), start.end());
}

int64_t AudioGaps::PlaceOf(const bulkhead_packet& packet) {
  // libavformat tells the place as if it had passed over no bytes of ADTS.
  if (framing_ != Framing::kAdts || end_ < 0) return packet.position;
  const std::span<const uint8_t> start(
      packet.data, std::min<size_t>(packet.bytes, kComparedBytes));
  if (IsAt(end_, start)) return end_;
  const auto ahead = At(end_, kMostHole);
  const auto found =
      std::search(ahead.begin(), ahead.end(), start.begin(), start.end());
  return found == ahead.end() ? -1 : end_ + (found - ahead.begin());
}

bool AudioGaps::IsTagAt(int64_t offset) const {
  std::array<uint8_t, 16> bytes{};
  const ssize_t got = demuxer_->bytes().ReadAt(offset, bytes);
  return got > 0 && IsTag(std::span(bytes).first(static_cast<size_t>(got)));
}

void AudioGaps::Examine(const bulkhead_packet& packet) {
  const size_t frame = FrameBytes(packet);
  const std::span<const uint8_t> bytes(packet.data, packet.bytes);
  has_frame_ = frame > 0;
  is_irregular_ = frame != packet.bytes;
  // Parsers return less than a frame of AC-3 only at the end of the file.
  is_torn_ = (shorter_ || (untimed_ && framing_ == Framing::kAc3)) &&
             frame > packet.bytes;
  has_surplus_ = frame < packet.bytes && !IsTag(bytes.subspan(frame));
  follows_hole_ = false;
  lost_frames_ = 0;
  if (!untimed_ || framing_ == Framing::kNone) return;

  const int64_t place = PlaceOf(packet);
  const int64_t hole = place >= 0 && end_ >= 0 ? place - end_ : 0;
  follows_hole_ = hole > 0 && !IsTagAt(end_);
  if (follows_hole_) gap_ += hole;
  // The bytes before the first frame count as its own.
  const bool is_first = end_ < 0;
  if (place >= 0 && (!is_first || IsAt(place, bytes))) {
    end_ = place + static_cast<int64_t>(packet.bytes);
  }
  if (!has_frame_) {
    if (has_surplus_) gap_ += static_cast<int64_t>(packet.bytes);
    return;
  }
  const int64_t closed = gap_;
  gap_ = has_surplus_ ? static_cast<int64_t>(packet.bytes - frame) : 0;
  Close(closed);
  ++seen_.frames;
  seen_.ends_whole = packet.bytes >= frame;
  if (packet.bytes != frame) return;
  const auto length = static_cast<int64_t>(frame);
  shortest_ = sound_frames_ == 0 ? length : std::min(shortest_, length);
  longest_ = std::max(longest_, length);
  ++sound_frames_;
  sound_bytes_ += length;
}

bool AudioGaps::may_hide_frames() const {
  return untimed_ && !agreed_ && longest_ - shortest_ > kPadding;
}

void AudioGaps::End() {
  lost_frames_ = 0;
  if (!info_) return;
  if (gap_ > 0) Close(std::exchange(gap_, 0));
  if (agreed_) return;
  const int64_t whole = seen_.frames - (is_torn_ ? 1 : 0);
  lost_frames_ =
      std::max<int64_t>(int64_t{info_->frames} - whole - lost_so_far_, 0);
  // Some programs count the frame that counts, too.
  const int64_t least = info_->has_padding ? 1 : 2;
  if (!shorter_ || lost_frames_ < least) {
    lost_frames_ = 0;
    return;
  }
  // Whole frames can be missing anywhere in a file that ends with a whole one.
  estimated_ = seen_.gaps > 0 || !info_->has_padding || !is_torn_;
  agreed_ = info_;
}

void AudioGaps::Close(int64_t gap) {
  estimated_ = false;
  if (gap == 0) return;
  ++seen_.gaps;
  seen_.gap_bytes += gap;
  if (!counted_ && may_agree_) Agree();
  int64_t frames = 0;
  bool whole = false;
  if (sound_frames_ > 0) {
    const int64_t average = std::max<int64_t>(sound_bytes_ / sound_frames_, 1);
    frames = static_cast<int64_t>(
        (__int128{gap} * sound_frames_ + sound_bytes_ / 2) /
        std::max<int64_t>(sound_bytes_, 1));
    const __int128 rest =
        __int128{gap} * sound_frames_ - __int128{frames} * sound_bytes_;
    const __int128 most =
        __int128{kPadding} * (sound_frames_ + std::max<int64_t>(frames, 1));
    whole = sound_frames_ >= kRule && longest_ - shortest_ <= kPadding &&
            average > 2 * kPadding && -most <= rest && rest <= most;
  }
  if (agreed_) {
    // Rounded as a running sum, so that nothing is left over at the end.
    const auto sum = static_cast<int64_t>(
        (__int128{lost_in_all_} * seen_.gap_bytes + totals_.gap_bytes / 2) /
        totals_.gap_bytes);
    const int64_t share = std::max<int64_t>(sum - lost_so_far_, 0);
    estimated_ = shorter_ || !info_->has_padding ||
                 (totals_.gaps > 1 && !(whole && share == frames));
    frames = share;
  } else {
    estimated_ = !whole;
  }
  lost_so_far_ += frames;
  lost_frames_ = frames;
}

std::optional<AudioGaps::Totals> AudioGaps::Count() const {
  if (demuxer_->size() > kMostBytesToCount) return std::nullopt;
  const auto again = demuxer_->OpenAgain();
  if (!again) return std::nullopt;
  AudioGaps gaps(**again);
  gaps.may_agree_ = false;
  for (;;) {
    const auto read = (*again)->ReadPacket();
    if (!read) return std::nullopt;
    if (!*read) break;
    gaps.Examine((*again)->packet());
  }
  if (gaps.gap_ > 0) {
    ++gaps.seen_.gaps;
    gaps.seen_.gap_bytes += gaps.gap_;
  }
  return gaps.seen_;
}

void AudioGaps::Agree() {
  counted_ = true;
  if (!info_) return;
  const auto totals = Count();
  if (!totals || totals->gap_bytes == 0) return;
  // A file that ends within a frame was cut off there. Nothing tells how many
  // of the missing frames were in the gaps.
  if (shorter_ && !totals->ends_whole) return;
  if (info_->frames < totals->frames) return;
  totals_ = *totals;
  lost_in_all_ = info_->frames - totals->frames;
  agreed_ = info_;
}

}  // namespace bulkhead::worker
