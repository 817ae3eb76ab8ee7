// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/audio_timeline.h"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace bulkhead::worker {
namespace {

// So much is taken for lost at the start at most, where nothing tells more.
constexpr int64_t kMostSecondsLostAtStart = 60;
// So many packets must have had the same number of samples, or any at all,
// before that counts as a rule.
constexpr int64_t kRule = 4;

// Reads the samples to leave out at the start of a packet, the first of the
// little-endian numbers in FFmpeg's side data.
int64_t SkippedBy(const bulkhead_packet& packet) {
  for (size_t i = 0; i < packet.side_data_count; ++i) {
    const bulkhead_side_data& item = packet.side_data[i];
    if (std::string_view(item.kind) != "Skip Samples" || item.bytes < 4) {
      continue;
    }
    uint32_t skipped = 0;
    for (int byte = 3; byte >= 0; --byte) {
      skipped = skipped << 8 | item.data[byte];
    }
    return skipped;
  }
  return 0;
}

bool IsTrimmed(const bulkhead_packet& packet) {
  return (packet.flags & BULKHEAD_PACKET_DISCARD) != 0 ||
         std::any_of(packet.side_data,
                     packet.side_data + packet.side_data_count,
                     [](const bulkhead_side_data& item) {
                       return std::string_view(item.kind) == "Skip Samples";
                     });
}

bool IsOneOf(std::string_view name,
             std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

int64_t Sum(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? a : sum;
}

}  // namespace

AudioTimeline::AudioTimeline(const Demuxer& demuxer)
    : bytes_(demuxer.bytes()),
      unit_(demuxer.facts().time_base),
      duration_(demuxer.facts().duration),
      container_microseconds_(demuxer.facts().container_microseconds),
      is_duration_estimated_(demuxer.facts().is_duration_estimated),
      is_duration_end_(demuxer.facts().container == "flv" ||
                       demuxer.facts().container == "matroska,webm"),
      size_(demuxer.size()),
      alone_(demuxer.facts().stream_count == 1),
      gapless_(alone_ && demuxer.facts().container == "ogg"),
      is_transport_(demuxer.facts().container == "mpegts"),
      length_follows_(is_transport_ ||
                      IsOneOf(demuxer.facts().container, {"ogg", "wav"})),
      size_follows_(alone_ &&
                    IsOneOf(demuxer.facts().container, {"asf", "flv"})),
      counts_samples_(
          IsOneOf(demuxer.facts().container, {"flac", "tta", "wv"})),
      counts_samples_of_cut_(IsOneOf(demuxer.facts().container,
                                     {"aiff", "au", "avi", "caf", "wav"})),
      is_matroska_(demuxer.facts().container == "matroska,webm"),
      begins_anywhere_(demuxer.facts().container == "mpeg"),
      is_caf_(demuxer.facts().container == "caf"),
      is_avi_(demuxer.facts().container == "avi"),
      is_pcm_(demuxer.facts().codec.starts_with("pcm_")),
      numbers_frames_(demuxer.facts().container == "flac" ||
                      demuxer.facts().container == "wv"),
      is_flac_(demuxer.facts().container == "flac"),
      is_wavpack_(demuxer.facts().container == "wv"),
      is_tta_(demuxer.facts().container == "tta"),
      ends_are_exact_(demuxer.facts().codec == "vorbis"),
      ends_anywhere_(
          IsOneOf(demuxer.facts().container, {"aptx", "aptx_hd", "aptxhd"})),
      gaps_(demuxer),
      checksum_(demuxer.facts().codec),
      walk_(demuxer),
      ogg_(demuxer) {
  if (unit_.numerator <= 0 || unit_.denominator <= 0) unit_ = {1, 1};
}

int64_t AudioTimeline::At(int64_t ticks, int64_t rate) const {
  const __int128 scaled = __int128{ticks} * unit_.numerator * rate;
  const __int128 half = unit_.denominator / 2;
  const __int128 samples =
      (scaled + (scaled < 0 ? -half : half)) / unit_.denominator;
  constexpr __int128 kMost = INT64_MAX / 4;
  return static_cast<int64_t>(std::clamp(samples, -kMost, kMost));
}

int64_t AudioTimeline::TicksOf(int64_t seconds) const {
  return seconds * unit_.denominator / unit_.numerator;
}

int64_t AudioTimeline::Tolerance(int64_t rate) const {
  const int64_t tick = At(2, rate);
  // AVI counts packets, the others may round to their unit.
  const bool exact =
      __int128{unit_.numerator} * rate % unit_.denominator == 0 &&
      (tick <= 2 || is_avi_);
  const bool finer =
      __int128{unit_.denominator} % (__int128{unit_.numerator} * rate) == 0;
  return exact || finer ? 0 : tick + 1;
}

int64_t AudioTimeline::Whole(int64_t gap, int64_t rate) const {
  const int64_t tolerance = Tolerance(rate);
  if (block_ > 0 && repeats_ >= kRule) {
    const int64_t whole = (gap + block_ / 2) / block_ * block_;
    if (std::abs(gap - whole) <= tolerance) return whole;
  }
  return gap > tolerance ? gap : 0;
}

void AudioTimeline::Suspect(int64_t position) {
  if (!suspect_) first_byte_ = last_byte_ = -1;
  suspect_ = true;
  if (position < 0) return;
  first_byte_ = first_byte_ < 0 ? position : std::min(first_byte_, position);
  last_byte_ = std::max(last_byte_, position);
}

void AudioTimeline::SeekSigns(const bulkhead_packet& packet) {
  if ((packet.flags & BULKHEAD_PACKET_CORRUPT) != 0 && !IsShortEnd(packet)) {
    Suspect(packet.position);
  }
  // Nothing may be missing between two pages of Ogg, but the last packet may be
  // left out as a whole.
  if (gapless_ && reference_ && !IsTrimmed(packet)) Suspect(-1);
  gaps_.Examine(packet);
  if (FollowsHole(packet) || gaps_.follows_hole()) {
    Suspect(std::max<int64_t>(end_position_, 0));
  }
}

bool AudioTimeline::FollowsHole(const bulkhead_packet& packet) {
  if (packet.position < 0) return false;
  if (is_transport_) {
    const bool lost = walk_.LostBefore(packet);
    if (!begin_) return lost;
    const bool jumps = packet.pts != BULKHEAD_NO_TIMESTAMP &&
                       packet.pts > Sum(sound_end_, sent_.duration / 2);
    return jumps && (lost || walk_.ShowsLossBehind());
  }
  if (numbers_frames_) {
    // A later number may be that of a joined file, or of FLAC with another
    // rate.
    return begin_ && packet.pts > end_ &&
           (packet.pts < duration_ || (is_wavpack_ && duration_ <= 0));
  }
  if (walk_.is_known()) {
    // A damaged time of an earlier packet can be later than all others.
    const int64_t before = sent_.pts == BULKHEAD_NO_TIMESTAMP
                               ? end_
                               : std::min(end_, Sum(sent_.pts, sent_.duration));
    // Times in milliseconds are rounded.
    const int64_t edge = Sum(begin_ ? before : 0, is_avi_ ? 0 : 1);
    const bool lost = walk_.LostBefore(packet);
    jumps_ = packet.pts != BULKHEAD_NO_TIMESTAMP &&
             Sum(packet.pts, walk_.delay()) > edge;
    if (!lost || (!jumps_ && !follows_gap_)) return false;
    guessed_ |= !walk_.has_sure_time();
    return true;
  }
  return alone_ && end_position_ >= 0 &&
         packet.position - end_position_ > kMostHeaderBytes;
}

void AudioTimeline::Stamp() {
  sent_.pts = clock_;
  if (!gaps_.has_frame()) {
    sent_.duration = 0;
    return;
  }
  if (sent_.duration > 0 && !gaps_.has_surplus()) {
    frame_duration_ = sent_.duration;
  } else {
    sent_.duration = frame_duration_;
  }
  int64_t lost;
  if (gaps_.lost_frames() > 0 &&
      !__builtin_mul_overflow(gaps_.lost_frames(), frame_duration_, &lost)) {
    sent_.pts = Sum(clock_, lost);
    Suspect(-1);
  }
  // Also a few bytes, which may be the trace of frames that were cut out.
  guessed_ |= gaps_.estimated();
  clock_ = Sum(sent_.pts, sent_.duration);
}

void AudioTimeline::StampByPages() {
  const auto found = ogg_.Find(sent_);
  sent_.pts = BULKHEAD_NO_TIMESTAMP;
  if (!found) return;
  if (found->starts_stream) {
    reference_.reset();
    begin_.reset();
  }
  if (found->follows_hole) {
    // More exact than the bytes between two packets.
    first_byte_ = last_byte_ = -1;
    Suspect(found->hole);
  }
  sent_.duration = found->duration;
  if (!found->end) return;
  sent_.pts = ogg_.TicksOf(*found->end - found->duration);
  if (found->stream_start) begin_ = ogg_.TicksOf(*found->stream_start);
  // Also where the first packet yields nothing, and the next one tells.
  guessed_ |= found->start_is_guessed || found->end_is_trimmed;
}

void AudioTimeline::Sent(const bulkhead_packet& packet) {
  SeekSigns(packet);
  sent_ = packet;
  skipped_ = SkippedBy(packet);
  is_counted_ = is_transport_ &&
                (packet.position < 0 || packet.position == last_position_);
  if (is_transport_ && !is_counted_ && doubtful_ > 0) {
    --doubtful_;
    Suspect(-1);
  }
  started_ = false;
  rejected_ = false;
  has_wrong_checksum_ = checksum_.IsWrong(packet);
  if (ogg_.is_known()) StampByPages();
  if (sent_.pts != BULKHEAD_NO_TIMESTAMP) {
    sent_.pts = Sum(sent_.pts, walk_.delay());
  }
  const auto bytes = static_cast<int64_t>(packet.bytes);
  if (packet.position < 0 || packet.position == last_position_) {
    if (end_position_ >= 0) end_position_ = Sum(end_position_, bytes);
  } else {
    end_position_ = Sum(packet.position, bytes);
  }
  ends_whole_ = is_flac_ && end_position_ == size_ && IsOneFlacFrame(packet);
  if (first_position_ < 0) first_position_ = packet.position;
  if (packet.position >= 0) last_position_ = packet.position;
  if (gaps_.untimed()) {
    if (!begin_) begin_ = 0;
    Stamp();
  }
  if (sent_.pts == BULKHEAD_NO_TIMESTAMP) return;
  const int64_t end = Sum(sent_.pts, std::max<int64_t>(sent_.duration, 0));
  end_ = begin_ ? std::max(end_, end) : end;
  if (begin_) return;
  begin_ = sent_.pts;
  if (is_transport_ && suspect_ && bytes > 0) {
    // By the bytes, since nothing tells when the stream began.
    const __int128 lost = __int128{sent_.duration} *
                          std::max<int64_t>(packet.position, bytes) / bytes;
    begin_ = Sum(sent_.pts, -static_cast<int64_t>(std::min<__int128>(
                                lost, TicksOf(kMostSecondsLostAtStart))));
    guessed_ = true;
  }
  if (walk_.is_known() && !is_transport_ && suspect_) {
    // The first packets are lost, and with them the time at which they began.
    begin_ = std::max(Sum(sent_.pts, -TicksOf(kMostSecondsLostAtStart)),
                      std::min<int64_t>(sent_.pts, 0));
    guessed_ = true;
  }
}

void AudioTimeline::NotDecoded() {
  if (IsShortEnd(sent_)) return;
  rejected_ = true;
  Suspect(sent_.position);
}

int64_t AudioTimeline::MissingBefore(int64_t next, int64_t count,
                                     int64_t rate) {
  if (started_) return 0;
  started_ = true;
  int64_t missing = 0;
  estimated_ = false;
  if (sent_.pts == BULKHEAD_NO_TIMESTAMP) {
    if (suspect_) missing = At(lost_ticks_, rate);
    estimated_ = true;
  } else {
    int64_t here = At(sent_.pts, rate);
    // Where libavformat leaves out the end of a packet, it may leave out more
    // than the page says: of a file of one page, the length of the first
    // packet.
    if (ends_are_exact_ && sent_.duration > 0 && Tolerance(rate) == 0 &&
        !IsTrimmed(sent_)) {
      here = At(Sum(sent_.pts, sent_.duration), rate) - count;
    }
    int64_t offset = here - next;
    // What is before the first whole frame may look like a frame, too.
    if (begins_anywhere_ && sound_packets_ < kRule) suspect_ = false;
    if (begins_anywhere_ && !reference_) begin_ = sent_.pts;
    if (!reference_) {
      reference_ = suspect_ && begin_ ? At(*begin_, rate) - next : offset;
    }
    if (suspect_ && follows_gap_) reference_ = before_gap_;
    // Whether anything is missing shows at the next packet.
    if (MayBeLate(offset - *reference_, count, rate)) return 0;
    if (suspect_) missing = Whole(offset - *reference_, rate);
    const int64_t counted = missing;
    if (is_counted_ && suspect_) missing = LostByBytes();
    guessed_ |= suspect_ && gaps_.may_hide_frames();
    estimated_ = guessed_ || missing != counted || !IsExact(missing, rate);
    if (missing > kMostSecondsLost * rate) {
      missing = At(lost_ticks_, rate);
      estimated_ = true;
    }
    missing = std::clamp<int64_t>(missing, 0, kMostSecondsLost * rate);
    offset -= missing;
    // Deviations within the unit of the timestamps are no drift.
    follows_gap_ = std::exchange(jumps_, false) && !suspect_;
    before_gap_ = *reference_;
    if (!is_counted_ && std::abs(offset - *reference_) > Tolerance(rate))
      reference_ = offset;
  }
  suspect_ = false;
  guessed_ = false;
  lost_ticks_ = 0;
  lost_bytes_ = 0;
  has_lost_ |= missing > 0;
  return missing;
}

bool AudioTimeline::MayBeLate(int64_t gap, int64_t count, int64_t rate) const {
  // libavformat times a short block of Vorbis behind a long one as if it were
  // behind a short one, which a copy from Ogg keeps: the time is late by up to
  // half of a long block's samples.
  return ends_are_exact_ && !ogg_.is_known() && count < block_ &&
         gap > Tolerance(rate) && gap <= block_ / 2 + Tolerance(rate);
}

int64_t AudioTimeline::LostByBytes() const {
  if (sound_bytes_ <= 0) return block_;
  const __int128 packets =
      (__int128{lost_bytes_} * sound_packets_ + sound_bytes_ / 2) /
      sound_bytes_;
  return static_cast<int64_t>(
      std::min<__int128>(packets * block_, INT64_MAX / 4));
}

bool AudioTimeline::IsExact(int64_t missing, int64_t rate) const {
  return Tolerance(rate) == 0 ||
         (block_ > 0 && repeats_ >= kRule && missing % block_ == 0);
}

std::optional<int64_t> AudioTimeline::Room(int64_t count, int64_t rate) {
  if (is_tta_ && sent_.duration > 0 && count > At(sent_.duration, rate)) {
    // Only the length of the last packet shows that damage was decoded.
    NotDecoded();
    return 0;
  }
  if (gaps_.is_torn() || has_wrong_checksum_) {
    // A decoder takes the bytes that are there for the whole, sound frame.
    NotDecoded();
    return 0;
  }
  if (repeats_ < kRule || sent_.duration <= 0 || IsTrimmed(sent_) ||
      std::abs(At(sent_.duration, rate) - block_) > Tolerance(rate)) {
    return std::nullopt;
  }
  return block_;
}

void AudioTimeline::Done(int64_t samples, bool resampled) {
  if (resampled) {
    always_yields_ = false;
    repeats_ = 0;
  }
  if (reference_) reference_ = Sum(*reference_, skipped_);
  if (numbers_frames_ && sound_packets_ == 0 && sent_.duration > 0 &&
      samples > sent_.duration) {
    // Damage has joined the first frames to one packet, which has the number of
    // the last of them.
    reference_ = 0;
    Suspect(sent_.position);
  }
  const bool trimmed = IsTrimmed(sent_) || IsShortEnd(sent_);
  if (samples == 0) {
    const bool rule = always_yields_ && sound_packets_ >= kRule;
    if (!rejected_ && !trimmed && rule) {
      Suspect(sent_.position);
    } else if (!rejected_ && !trimmed && sound_packets_ > 0) {
      always_yields_ = false;
    }
    yields_late_ |= !rejected_ && !trimmed && sound_packets_ == 0;
    lost_ticks_ = Sum(lost_ticks_, std::max<int64_t>(sent_.duration, 0));
    lost_bytes_ += static_cast<int64_t>(sent_.bytes);
  } else if (repeats_ >= kRule && samples < block_ && !trimmed &&
             !HasUsualBytes(samples)) {
    if (!rejected_) Suspect(sent_.position);
    lost_ticks_ = Sum(lost_ticks_, 1);
  } else if (!gaps_.has_surplus() && !rejected_) {
    ++sound_packets_;
    sound_bytes_ += static_cast<int64_t>(sent_.bytes);
    if (!trimmed) {
      repeats_ = samples == block_ ? repeats_ + 1 : 1;
      block_ = samples;
    }
  }
  if (gaps_.has_surplus()) Suspect(sent_.position);
  // libavformat counts the times on by what it takes for frames.
  guessed_ |= (begins_anywhere_ || is_avi_) && gaps_.is_irregular();
  // The first timestamp behind damage can be that of the frame before.
  if (suspect_) doubtful_ = 2;
  if (samples > 0 && sent_.pts != BULKHEAD_NO_TIMESTAMP) {
    sound_end_ = Sum(sent_.pts, std::max<int64_t>(sent_.duration, 0));
  }
  sent_.side_data_count = 0;  // the memory is the demuxer's
}

}  // namespace bulkhead::worker
