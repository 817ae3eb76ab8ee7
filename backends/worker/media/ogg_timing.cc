// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/ogg_timing.h"

#include <algorithm>
#include <utility>

namespace bulkhead::worker {
namespace {

// libavformat gives up after so many bytes without a page, and the rest of a
// file is read no further than that behind it.
constexpr int64_t kMostBytesToEnd = int64_t{1} << 20;
// The longest page has half of that.
constexpr int64_t kTailBytes = int64_t{128} << 10;
// The samples of a page of which nothing is known.
constexpr int64_t kUsualPacket = 1024;
// So many pages at the start can be lost with few of their bytes left.
constexpr int64_t kMostPagesCutOut = 16;
// A torn page is not believed if it tells a later time.
constexpr int64_t kMostTicksTorn = int64_t{3600} * 192000;

}  // namespace

OggTiming::OggTiming(const Demuxer& demuxer)
    : is_known_(demuxer.facts().container == "ogg"),
      bytes_(demuxer.bytes()),
      size_(demuxer.size()),
      alone_(demuxer.facts().stream_count == 1),
      durations_(demuxer),
      pages_(bytes_, 0) {
  is_known_ = is_known_ && durations_.can_tell();
}

void OggTiming::Restart(const OggPage& page) {
  serial_ = page.serial;
  sequence_.reset();
  granule_.reset();
  has_sound_ = false;
  is_at_end_ = false;
  jumps_ = false;
  stray_bytes_ = 0;
  packets_.clear();
  begun_.reset();
}

std::optional<OggPacket> OggTiming::Find(const bulkhead_packet& packet) {
  if (packet.position < 0) return std::nullopt;
  for (bool again = true;; again = false) {
    for (;;) {
      while (!packets_.empty() &&
             packets_.front().position <= packet.position) {
        const OggPacket found = packets_.front();
        packets_.pop_front();
        if (found.position == packet.position && found.bytes == packet.bytes) {
          return found;
        }
      }
      const bool may_follow = page_offset_ < packet.position ||
                              (begun_ && begun_->position == packet.position);
      if (!serial_ || !packets_.empty() || !may_follow) break;
      const int64_t end = page_offset_ < packet.position
                              ? packet.position + 1
                              : packet.position + kMostBytesToEnd +
                                    2 * static_cast<int64_t>(packet.bytes);
      if (!TakePage(end)) break;
    }
    if (!again) return std::nullopt;
    // A stream has begun, the first one or the next of a chain.
    const auto page =
        OggPages(bytes_, packet.position).Next(packet.position + 1);
    if (!page || (serial_ && *serial_ == page->serial)) return std::nullopt;
    if (!serial_) {
      Restart(*page);
      continue;
    }
    Restart(*page);
    durations_.Restart();
    pages_ = OggPages(bytes_, packet.position);
    page_offset_ = -1;
  }
}

bool OggTiming::TakePage(int64_t limit) {
  for (;;) {
    const auto page = pages_.Next(limit);
    if (!page) return false;
    stray_bytes_ += page->stray_bytes;
    page_offset_ = page->offset;
    if (page->serial != *serial_) continue;
    if (page->begins_stream && sequence_) {
      Restart(*page);
      durations_.Restart();
    }
    Assemble(*page);
    sequence_ = page->sequence;
    end_ = page->end;
    is_at_end_ = page->ends_stream;
    stray_bytes_ = 0;
    return true;
  }
}

void OggTiming::Assemble(const OggPage& page) {
  const size_t first = packets_.size();
  size_t next = 0;
  if (sequence_ && page.sequence != *sequence_ + 1) {
    if (!jumps_) lost_pages_ = 0;
    if (!jumps_) hole_ = end_;
    jumps_ = true;
    lost_pages_ += int64_t{page.sequence} - *sequence_ - 1;
  }
  // As libavformat does, which does not look at the numbers of pages: it joins
  // what does not belong together, and drops the end of a packet whose start is
  // missing.
  if (!begun_ && page.continues && !page.parts.empty()) next = 1;
  for (; next < page.parts.size(); ++next) {
    const OggPart& part = page.parts[next];
    OggPacket packet;
    OggPart start = part;
    if (begun_) {
      packet = *std::exchange(begun_, std::nullopt);
      start = begun_part_;
    } else {
      packet.position = page.offset;
    }
    packet.bytes += part.bytes;
    start.bytes = packet.bytes;
    if (!part.ends) {
      if (packet.bytes > 0) begun_ = packet;
      begun_part_ = start;
      continue;
    }
    packet.duration = durations_.Of(start);
    // The demuxer does not pass on empty packets.
    if (packet.bytes > 0) packets_.push_back(packet);
  }
  SetEnds(page, first);
}

void OggTiming::SetEnds(const OggPage& page, size_t first) {
  if (!page.granule || packets_.size() == first) return;
  const auto begin = packets_.begin() + static_cast<ptrdiff_t>(first);
  int64_t sum = 0;
  for (auto packet = begin; packet != packets_.end(); ++packet) {
    sum += packet->duration;
  }
  const bool is_header = *page.granule == 0 && !has_sound_;
  if (is_header) return;
  const bool jumps = std::exchange(jumps_, false);
  int64_t end = *page.granule - sum;
  // The last page has fewer samples than its packets.
  if (page.ends_stream) end = std::max(end, granule_.value_or(0));
  for (auto packet = begin; packet != packets_.end(); ++packet) {
    const int64_t most = std::max<int64_t>(*page.granule - end, 0);
    packet->duration = std::min(packet->duration, most);
    end += packet->duration;
    packet->end = end;
  }
  begin->follows_hole = jumps && has_sound_;
  begin->hole = hole_;
  begin->end_is_trimmed = jumps && page.ends_stream;
  begin->starts_stream = !has_sound_;
  if (!has_sound_ && jumps) SetStart(page, sum, &*begin);
  granule_ = page.granule;
  has_sound_ = true;
}

void OggTiming::SetStart(const OggPage& page, int64_t sum,
                         OggPacket* packet) const {
  const int64_t stray = stray_bytes_;
  const int64_t lost = lost_pages_;
  const int64_t bytes = page.end - page.offset;
  const int64_t begin = *page.granule - sum;
  if (stray == 0 || lost <= 0 || begin <= 0) return;
  packet->follows_hole = true;
  const int64_t each = sum > 0 ? sum : kUsualPacket;
  const int64_t pages = begin / each;
  const bool fits = pages / 4 <= lost && lost / 4 <= pages &&
                    (lost <= kMostPagesCutOut || lost <= 2 * stray / bytes);
  packet->stream_start = 0;
  packet->start_is_guessed = !fits || !durations_.begins_at_zero();
  if (fits) return;
  const __int128 guess = __int128{std::max(stray / bytes, int64_t{1})} * each;
  packet->stream_start = std::max<int64_t>(
      begin - static_cast<int64_t>(std::min<__int128>(guess, begin)), 0);
}

OggEnd OggTiming::Finish() {
  OggEnd end;
  if (!serial_) return end;
  const int64_t most = std::min(size_, pages_.offset() + kMostBytesToEnd);
  while (TakePage(most)) packets_.clear();
  if (most < size_) {
    stray_bytes_ += pages_.stray_bytes();
    pages_ = OggPages(bytes_, std::max(most, size_ - kTailBytes));
    while (TakePage(size_)) packets_.clear();
  }
  end.granule = granule_;
  end.is_sure = is_at_end_ && granule_;
  if (is_at_end_) return end;
  if (alone_) end.stray_bytes = stray_bytes_ + pages_.stray_bytes();
  const auto& torn = pages_.torn();
  const bool may_be_next = torn && torn->serial == *serial_ && torn->granule &&
                           granule_ && *torn->granule > *granule_ &&
                           *torn->granule - *granule_ < kMostTicksTorn;
  end.is_broken = may_be_next || end.stray_bytes > 0;
  if (may_be_next) {
    end.granule = torn->granule;
    if (torn->ends_stream) end.stray_bytes = 0;
  }
  return end;
}

}  // namespace bulkhead::worker
