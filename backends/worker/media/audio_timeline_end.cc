// SPDX-License-Identifier: Apache-2.0
//
// This file tells what an AudioTimeline finds missing at the end of a stream.
#include <algorithm>
#include <cstdlib>

#include "backends/worker/media/audio_timeline.h"
#include "backends/worker/media/wavpack_end.h"

namespace bulkhead::worker {

bool AudioTimeline::IsShortEnd(const bulkhead_packet& packet) const {
  return ends_anywhere_ && (packet.flags & BULKHEAD_PACKET_CORRUPT) != 0;
}

bool AudioTimeline::HasUsualBytes(int64_t samples) const {
  return __int128{static_cast<int64_t>(sent_.bytes)} * sound_packets_ *
             block_ ==
         __int128{samples} * sound_bytes_;
}

std::optional<int64_t> AudioTimeline::PromisedEnd(int64_t rate) const {
  if (!begin_) return std::nullopt;
  const int64_t begin = At(*begin_, rate);
  if (const auto end = walk_.listed_end()) return begin + At(*end, rate);
  if (duration_ != BULKHEAD_NO_TIMESTAMP && duration_ > 0) {
    return begin + At(duration_, rate);
  }
  if (container_microseconds_ <= 0) return std::nullopt;
  const __int128 samples = __int128{container_microseconds_} * rate / 1'000'000;
  return (is_duration_end_ ? 0 : begin) +
         static_cast<int64_t>(std::min<__int128>(samples, INT64_MAX / 4));
}

std::optional<int64_t> AudioTimeline::End(int64_t rate) const {
  const auto& info = gaps_.agreed();
  if (!info || !info->has_padding) return std::nullopt;
  int64_t ticks;
  if (__builtin_mul_overflow(int64_t{info->frames}, frame_duration_, &ticks)) {
    return std::nullopt;
  }
  const int64_t end = At(ticks, rate) - info->start_padding - info->end_padding;
  return end > 0 ? std::make_optional(end) : std::nullopt;
}

int64_t AudioTimeline::ByBytes(int64_t next, int64_t bytes) const {
  const int64_t read = end_position_ - first_position_;
  if (bytes <= 0 || read <= 0) return 0;
  return static_cast<int64_t>(
      std::min<__int128>(__int128{next} * bytes / read, INT64_MAX / 4));
}

int64_t AudioTimeline::MissingAtEndOfPages(int64_t next, int64_t rate) {
  const OggEnd end = ogg_.Finish();
  int64_t missing = 0;
  if (end.granule) {
    missing = At(ogg_.TicksOf(*end.granule), rate) - *reference_ - next;
  }
  // A gap that sound files have, too.
  if (!suspect_ && !end.is_broken && missing <= 2 * block_) return 0;
  estimated_ = guessed_ || !end.is_sure;
  // They can be those of another stream.
  missing = std::max(missing, alone_ ? ByBytes(next, end.stray_bytes)
                                     : std::min(end.stray_bytes, block_));
  Suspect(std::max<int64_t>(end_position_, 0));
  return std::clamp<int64_t>(missing, 0, kMostSecondsLost * rate);
}

int64_t AudioTimeline::MissingAtEnd(int64_t next, int64_t rate, bool cut,
                                    int64_t declared, bool stopped) {
  if (!reference_) return 0;
  const bool cut_off = declared > size_;
  counted_ = false;
  int64_t missing = ogg_.is_known() && !cut
                        ? MissingAtEndOfPages(next, rate)
                        : MissingByTimes(next, rate, cut, cut_off, stopped);
  const int64_t counted = cut ? 0 : MissingByCount(next, rate, cut_off);
  const int64_t numbered = cut ? 0 : MissingByNumbers(next, rate);
  if (numbered > 0) {
    missing = numbered;
    Suspect(std::max<int64_t>(end_position_, 0));
  } else if (counted > 0) {
    missing = counted;
    counted_ = true;
    // The header of AVI counts chunks without bytes, too.
    estimated_ = guessed_ || (is_avi_ && !is_pcm_);
    Suspect(std::max<int64_t>(end_position_, 0));
  } else if (missing <= 0 && cut_off &&
             (length_follows_ || (size_follows_ && !has_lost_))) {
    missing = std::max<int64_t>(
        alone_ ? ByBytes(next, declared - end_position_) : block_, 1);
    Suspect(std::max<int64_t>(end_position_, 0));
    estimated_ = true;
  }
  return std::clamp<int64_t>(missing, 0, kMostSecondsLost * rate);
}

int64_t AudioTimeline::MissingByNumbers(int64_t next, int64_t rate) {
  if (!is_wavpack_ || duration_ > 0 || !begin_ || last_position_ < 0) return 0;
  // Once bytes are lost, blocks may be within the last packet.
  const auto end = ReadWavpackEnd(bytes_, size_, last_position_);
  if (!end) return 0;
  const int64_t missing = At(end->sample, rate) - *reference_ - next;
  if (missing > 0) estimated_ = end->is_torn;
  return missing;
}

int64_t AudioTimeline::MissingByCount(int64_t next, int64_t rate,
                                      bool cut_off) const {
  if (duration_ <= 0 || (counts_samples_ ? begin_ != 0 : !cut_off) ||
      !(counts_samples_ || counts_samples_of_cut_)) {
    return 0;
  }
  // A copy of a part of a .flac file has the number of samples of the whole. A
  // file that is cut off by accident hardly ever ends with a whole frame.
  if (ends_whole_ && !suspect_) return 0;
  return std::min(*PromisedEnd(rate) - *reference_ - next,
                  kMostSecondsLost * rate);
}

int64_t AudioTimeline::MissingByTimes(int64_t next, int64_t rate, bool cut,
                                      bool cut_off, bool stopped) {
  int64_t missing = 0;
  estimated_ = guessed_;
  if (gaps_.untimed()) gaps_.End();
  const auto end = End(rate);
  if (end && (suspect_ || gaps_.lost_frames() > 0)) {
    missing = *end - next;
    counted_ = gaps_.is_shorter() && gaps_.lost_frames() > 0;
    estimated_ |= gaps_.estimated();
  } else if (gaps_.untimed() && gaps_.lost_frames() > 0) {
    missing = At(end_, rate) - *reference_ - next +
              At(frame_duration_, rate) * gaps_.lost_frames();
    estimated_ = true;
  } else if (suspect_ && lost_ticks_ > 0 &&
             !(gaps_.untimed() && gaps_.has_surplus())) {
    // Surplus bytes at the end of a file are no audio.
    missing = Whole(At(end_, rate) - *reference_ - (next - held_back_), rate);
    estimated_ |= !IsExact(missing, rate);
  }
  if (is_transport_ && walk_.LostAtEnd()) {
    missing = std::max(missing, ByBytes(next, size_ - end_position_));
    estimated_ = true;
  }
  const bool unread =
      stopped ||
      (walk_.is_known() && !is_transport_
           ? walk_.LostAtEnd()
           : alone_ && !gaps_.untimed() && !is_caf_ && end_position_ >= 0 &&
                 size_ - end_position_ > kMostHeaderBytes);
  if (unread && walk_.is_fragmented()) {
    // Others may have been lost with the fragments that listed them.
    missing += static_cast<int64_t>(
        std::min<__int128>(__int128{walk_.lost_packets()} * block_,
                           __int128{kMostSecondsLost} * rate));
    estimated_ = true;
    Suspect(std::max<int64_t>(end_position_, 0));
    if (!cut) return missing;
  }
  const auto promised = PromisedEnd(rate);
  // Else nothing tells how many packets were behind the last one.
  const bool agrees = promised && std::abs(*promised - *reference_ - next -
                                           missing) <= 2 * block_;
  estimated_ |= suspect_ && !end && (!agrees || unread || is_transport_);
  // The last page of Ogg counts the samples of the whole stream, and the
  // packets of that page get no times of their own: they follow the packets
  // before.
  // An estimate by the size of the file says nothing of what is in it, only of
  // what a file had that became shorter since. Of fragments, libavformat tells
  // the end of those that it has read so far.
  const bool is_told =
      cut || (!is_duration_estimated_ && !walk_.is_fragmented());
  if ((cut || cut_off || unread || gapless_) && promised && is_told) {
    const int64_t rest = *promised - *reference_ - next;
    // The bytes that were not read could hold what is promised.
    const bool is_exact =
        cut ||
        (unread &&
         (is_matroska_ || walk_.listed_end() ||
          (duration_ > 0 && ByBytes(next, size_ - end_position_) >= rest / 2)));
    const bool is_sign = unread && walk_.is_known() && !is_transport_;
    const int64_t slack = is_exact ? 0 : is_sign ? block_ / 2 : 2 * block_;
    const int64_t least = slack + Tolerance(rate);
    if (rest > least && rest <= kMostSecondsLost * rate && rest > missing) {
      missing = rest;
      // The container's own duration is rounded, or follows from the bit rate.
      estimated_ = duration_ <= 0 || gaps_.untimed() || Tolerance(rate) > 0 ||
                   (gapless_ && !cut);
      Suspect(std::max<int64_t>(end_position_, 0));
    }
  }
  if (missing <= 0 && unread && !(promised && is_told) &&
      walk_.torn_bytes() > 0) {
    missing = std::max(
        ByBytes(next, size_ + walk_.torn_bytes() - end_position_), block_);
    estimated_ = true;
    Suspect(std::max<int64_t>(end_position_, 0));
  }
  return missing;
}

}  // namespace bulkhead::worker
