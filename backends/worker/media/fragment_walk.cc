// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/media/fragment_walk.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

namespace bulkhead::worker {
namespace {

constexpr int64_t kMostTicks = INT64_MAX / 4;
constexpr size_t kMostPlaces = 1 << 16;
// Boxes before the first fragment, and between two.
constexpr int kMostBoxes = 64;
constexpr std::string_view kFragment = "moof";
constexpr std::string_view kFragmentHeader = "mfhd";
// Two sizes and the two names above.
constexpr size_t kFragmentStart = 16;
constexpr size_t kSearched = 64 << 10;

// Returns where in `bytes` a fragment begins, and -1 if none does. So many
// bytes follow in the file from the first one on.
int64_t FindFragment(std::span<const uint8_t> bytes, int64_t follow) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              bytes.size());
  for (size_t at = 0; (at = text.find(kFragment, at)) != text.npos; ++at) {
    if (at < 4 || at + 12 > text.size()) continue;
    const auto begin = static_cast<int64_t>(at - 4);
    int64_t size = 0;
    for (const uint8_t byte : bytes.subspan(at - 4, 4)) size = size << 8 | byte;
    if (text.substr(at + 8, 4) == kFragmentHeader &&
        size >= static_cast<int64_t>(kFragmentStart) &&
        begin + size <= follow) {
      return begin;
    }
  }
  return -1;
}

}  // namespace

std::unique_ptr<FragmentWalk> FragmentWalk::Open(FileWindow file, int track) {
  int64_t offset = 0;
  for (int i = 0; i < kMostBoxes; ++i) {
    const auto box = ReadMp4Box(file, offset);
    if (!box) return nullptr;
    if (box->kind == "moov") {
      auto header =
          ReadFragmentedTrack(file, *box, static_cast<uint32_t>(track));
      if (!header) return nullptr;
      return std::unique_ptr<FragmentWalk>(
          new FragmentWalk(std::move(file), *std::move(header)));
    }
    offset = box->end;
  }
  return nullptr;
}

bool FragmentWalk::LostUntil(int64_t position) {
  if (position < 0 || position == position_) return false;
  // Damaged fragments can place samples before those of earlier ones.
  went_back_ |= position < position_;
  position_ = std::max(position_, position);
  const bool restarted = std::exchange(restarted_, false);
  if (restarted) ReturnTo(position);
  bool lost = false;
  while (at_.offset <= position && at_.offset < file_.size()) {
    lost |= Step();
  }
  return lost && !restarted;
}

bool FragmentWalk::LostUntilEnd() {
  lost_packets_ = 0;
  const Place read = at_;
  unread_ = 0;
  while (at_.offset < file_.size()) {
    if (Step()) lost_packets_ += SamplesIn(gap_ticks_);
  }
  uint64_t unread = unread_;
  if (unread == 0 && !went_back_) unread = LostByIndex();
  const auto box = ReadMp4Box(file_, read.fragment);
  if (read.fragment >= 0 && box) {
    // Of the fragment that was read last, something may be left.
    const auto last =
        ReadMovieFragment(file_, read.fragment, *box, track_, position_);
    if (unread > 0 || last.data_end > file_.size()) {
      unread += last.behind.samples;
    }
  }
  lost_packets_ += unread;
  is_whole_ = lost_packets_ == 0 && ends_in_data_ && read.fragment >= 0;
  if (lost_packets_ > 0 && broken_at_ < read.offset) broken_at_ = read.offset;
  return lost_packets_ > 0;
}

void FragmentWalk::Restart() {
  restarted_ = true;
  went_back_ = false;
  position_ = -1;
}

void FragmentWalk::ReturnTo(int64_t position) {
  suspect_ = -1;
  is_broken_ = false;
  if (position >= at_.offset) return;
  const auto after = std::upper_bound(
      places_.begin(), places_.end(), position,
      [](int64_t value, const Place& place) { return value < place.offset; });
  at_ = after == places_.begin() ? Place() : *(after - 1);
  box_ = at_.offset;
}

bool FragmentWalk::Step() {
  const int64_t here = at_.offset;
  const auto box = ReadMp4Box(file_, here);
  const bool is_known = box && IsMp4Kind(box->kind);
  if (!box || (box->to_end && box->kind != "mdat")) {
    Search();
    return false;
  }
  if (box->end > file_.size() || !is_known) {
    // Else the file may be cut off in a box, or the name of one is damaged.
    const auto next = ReadMp4Box(file_, box->end);
    const bool leads_on = box->end == file_.size() ||
                          (next && IsMp4Kind(next->kind) && !next->to_end);
    if (!leads_on) {
      const bool was_suspect = suspect_ >= 0;
      Search();
      if (is_known && at_.offset == file_.size()) {
        at_.offset = box->end;
        ends_in_data_ = box->kind == "mdat" && !was_suspect;
      }
      return false;
    }
    Suspect(here);
  }
  box_ = here;
  at_.offset = box->end;
  if (box->kind == "mfra") ReadIndex(*box);
  if (box->kind != kFragment) return false;
  return Take(ReadMovieFragment(file_, here, *box, track_, position_));
}

void FragmentWalk::Search() {
  Suspect(at_.offset);
  is_broken_ = true;
  // The size of the box before may be what is damaged.
  int64_t offset = std::min(box_ + 1, at_.offset);
  at_.offset = file_.size();
  for (;;) {
    const auto bytes = file_.At(offset, kSearched);
    if (bytes.size() < kFragmentStart) return;
    const int64_t found = FindFragment(bytes, file_.size() - offset);
    if (found >= 0) {
      box_ = at_.offset = offset + found;
      return;
    }
    offset += static_cast<int64_t>(bytes.size() - kFragmentStart + 1);
  }
}

bool FragmentWalk::Take(const MovieFragment& fragment) {
  Place place = at_;
  place.offset = fragment.offset;
  const bool follows = fragment.number == at_.number + 1;
  const bool skips = at_.number > 0 && fragment.number > at_.number + 1 &&
                     (counts_ || NumbersFollow(fragment));
  counts_ |= at_.number > 0 && follows;
  at_.number = fragment.number;
  if (!fragment.has_track) {
    if (skips || !fragment.readable) Suspect(fragment.offset);
    return false;
  }
  if (places_.size() < kMostPlaces &&
      (places_.empty() || places_.back().offset < place.offset)) {
    places_.push_back(place);
  }
  const SampleCount& all = fragment.all;
  gap_ticks_ = 0;
  bool lost = false;
  if (fragment.begin && at_.expected) {
    const int64_t gap = *fragment.begin - *at_.expected;
    const int64_t frame =
        all.samples > 0 ? all.ticks / static_cast<int64_t>(all.samples) : 0;
    lost = (suspect_ >= 0 || skips) && gap > frame / 2;
    if (lost) gap_ticks_ = gap;
  } else if (at_.fragments == 0 || !fragment.begin) {
    lost = fragment.begin ? suspect_ >= 0 : is_broken_;
  }
  if (lost) {
    broken_at_ = suspect_ >= 0 ? suspect_ : fragment.offset;
    is_torn_ = is_broken_;
  }
  suspect_ = fragment.readable ? -1 : fragment.offset;
  is_broken_ = false;
  at_.expected.reset();
  if (fragment.begin && all.ticks > 0) {
    at_.expected = *fragment.begin + all.ticks;
  }
  // Where samples were lost, the packets read last may be bytes of this
  // fragment.
  unread_ += went_back_ ? fragment.behind.samples : all.samples;
  at_.fragment = fragment.offset;
  ++at_.fragments;
  at_.samples.samples += all.samples;
  at_.samples.ticks = std::min(at_.samples.ticks + all.ticks, kMostTicks);
  return lost;
}

bool FragmentWalk::NumbersFollow(const MovieFragment& fragment) {
  int64_t offset = fragment.end;
  for (int i = 0; i < kMostBoxes; ++i) {
    const auto box = ReadMp4Box(file_, offset);
    if (!box) return false;
    if (box->kind == kFragment) {
      const auto next = ReadMovieFragment(file_, offset, *box, track_, -1);
      return next.number == fragment.number + 1;
    }
    offset = box->end;
  }
  return false;
}

void FragmentWalk::ReadIndex(const Mp4Box& index) {
  const auto times = ReadFragmentIndex(file_, index, track_.id);
  indexed_fragments_ = times.size();
  if (!times.empty()) last_indexed_ = times.back();
}

uint64_t FragmentWalk::SamplesIn(int64_t ticks) const {
  const auto& [samples, all_ticks] = at_.samples;
  if (ticks <= 0 || all_ticks <= 0) return 0;
  return static_cast<uint64_t>((__int128{ticks} * samples + all_ticks / 2) /
                               all_ticks);
}

uint64_t FragmentWalk::LostByIndex() const {
  if (indexed_fragments_ <= at_.fragments || !at_.expected ||
      last_indexed_ < *at_.expected || at_.fragments == 0) {
    return 0;
  }
  // The index has the times of showing, which are a few frames later.
  const uint64_t mean = at_.samples.samples / at_.fragments;
  return std::min((indexed_fragments_ - at_.fragments) * mean,
                  SamplesIn(last_indexed_ - *at_.expected) + mean);
}

void FragmentWalk::Suspect(int64_t offset) {
  if (suspect_ < 0) suspect_ = offset;
}

}  // namespace bulkhead::worker
