// SPDX-License-Identifier: Apache-2.0
#include "core/application/frames/sample_damage_log.h"

#include <algorithm>
#include <iterator>

#include "core/base/damage_from_ipc.h"

namespace bulkhead::frames {
namespace {

using ipc::LostSamples;

int64_t EndOf(const LostSamples& damage) { return damage.first + damage.count; }

// Extends `run` so that it contains `other` and the samples in between.
void Join(const LostSamples& other, LostSamples& run) {
  const int64_t end = std::max(EndOf(run), EndOf(other));
  const bool begins = other.first < run.first;
  if (run.words.empty() || (begins && !other.words.empty())) {
    run.words = other.words;
  }
  if (begins) run.sign = other.sign;
  run.first = std::min(run.first, other.first);
  run.count = end - run.first;
  run.estimated |= other.estimated;
  run.declared_size = std::max(run.declared_size, other.declared_size);
  run.declared_samples = std::max(run.declared_samples, other.declared_samples);
  if (other.first_byte < 0) return;
  run.first_byte = run.first_byte < 0
                       ? other.first_byte
                       : std::min(run.first_byte, other.first_byte);
  run.last_byte = std::max(run.last_byte, other.last_byte);
}

}  // namespace

void SampleDamageLog::AddNote(const LostSamples& note) {
  const NoteKey key{note.first, note.first_byte, note.sign};
  if (notes_.size() < kMostRanges) {
    notes_.emplace(key, note);
  } else if (notes_.count(key) == 0) {
    LostSamples& last = notes_.rbegin()->second;
    last.last_byte = std::max(last.last_byte, note.last_byte);
  }
}

void SampleDamageLog::Add(const LostSamples& damage) {
  if (ipc::IsNote(damage.sign)) {
    AddNote(damage);
    return;
  }
  // Joins the new run with all runs that it touches (in a full log, always with
  // the run before it), and then inserts the result.
  LostSamples run = damage;
  auto next = runs_.upper_bound(run.first);
  if (next != runs_.begin()) {
    const auto before = std::prev(next);
    const bool full = runs_.size() >= kMostRanges;
    if (full || EndOf(before->second) >= run.first) {
      Join(before->second, run);
      next = runs_.erase(before);
    }
  }
  while (next != runs_.end() && next->first <= EndOf(run)) {
    Join(next->second, run);
    next = runs_.erase(next);
  }
  // The log is still full: no run was before the new run or touched it. So the
  // new run joins the next one.
  if (runs_.size() >= kMostRanges) {
    Join(next->second, run);
    runs_.erase(next);
  }
  runs_.emplace(run.first, run);
}

std::optional<LostSamples> SampleDamageLog::FirstIn(int64_t first,
                                                    int64_t end) const {
  auto run = runs_.upper_bound(first);
  if (run != runs_.begin() && EndOf(std::prev(run)->second) > first) --run;
  if (run == runs_.end() || run->first >= end) return std::nullopt;
  return run->second;
}

std::vector<DamagedSamples> SampleDamageLog::Ranges(double begin_seconds,
                                                    double rate) const {
  std::vector<DamagedSamples> ranges;
  ranges.reserve(runs_.size() + notes_.size());
  for (const auto& [first, run] : runs_) {
    ranges.push_back(Describe(run, begin_seconds, rate));
  }
  for (const auto& [key, note] : notes_) {
    ranges.push_back(Describe(note, begin_seconds, rate));
  }
  return ranges;
}

DamagedSamples Describe(const LostSamples& damage, double begin_seconds,
                        double rate) {
  const auto byte = [](int64_t position) -> std::optional<int64_t> {
    if (position < 0) return std::nullopt;
    return position;
  };
  return {
      .kind = KindOf(damage.sign),
      .sign = FromIpc(damage.sign),
      .samples = static_cast<uint64_t>(damage.count),
      .first_sample = static_cast<uint64_t>(damage.first),
      .begin_seconds = begin_seconds + static_cast<double>(damage.first) / rate,
      .end_seconds = begin_seconds + static_cast<double>(EndOf(damage)) / rate,
      .first_byte = byte(damage.first_byte),
      .last_byte = byte(damage.last_byte),
      .backend_says = damage.words,
      .estimated = damage.estimated};
}

}  // namespace bulkhead::frames
