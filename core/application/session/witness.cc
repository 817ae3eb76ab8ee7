// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/witness.h"

#include <algorithm>
#include <cstddef>
#include <variant>

#include "core/base/status_macros.h"

namespace bulkhead::session {
namespace {

constexpr size_t kMostFrames = 8;

}  // namespace

void Witness::Found(const FoundFrame& frame, const std::string& backend) {
  if (keeps_) found_.push_back({frame.number, frame.picture.fingerprint});
  if (!shadow_) return;
  shadow_->Show(backend, frame.picture, frame.number, /*in_order=*/false);
}

void Witness::Show(const worker_link::PublishedFrame& frame, uint64_t number,
                   const std::string& backend) {
  if (shadow_) shadow_->Show(backend, frame, number, /*in_order=*/true);
}

void Witness::Ended(uint64_t frames) {
  if (shadow_) shadow_->End(frames);
}

void Witness::Delivered() {
  for (const Print& found : found_) {
    std::erase_if(latest_, [&](const Print& print) {
      return print.number == found.number;
    });
    latest_.push_back(found);
    if (latest_.size() > kMostFrames) latest_.pop_front();
  }
  found_.clear();
}

void Witness::ChangeDevice() {
  keeps_ = false;
  found_.clear();
  latest_unproven_ = !latest_.empty();
  in_order_unproven_ = !in_order_.empty();
  // Neighbouring frames need no seek each if they are found in ascending order.
  std::sort(latest_.begin(), latest_.end(),
            [](const Print& a, const Print& b) { return a.number < b.number; });
}

Result<FrameFinder::Found> Witness::FindCompared(const Find& find,
                                                 uint64_t index) {
  if (latest_unproven_) {
    ASSIGN_OR_RETURN(const Comparison comparison, Compare(find));
    latest_unproven_ = false;
    latest_.clear();
    report_(comparison);
  }
  return find(index);
}

Result<Comparison> Witness::Compare(const Find& find) const {
  for (const Print& print : latest_) {
    const auto again = find(print.number);
    if (!again && again.error().code() != Code::kBadInput &&
        again.error().code() != Code::kOutOfRange) {
      return again.error();
    }
    const auto* frame = again ? std::get_if<FoundFrame>(&*again) : nullptr;
    if (frame == nullptr || frame->number != print.number ||
        frame->picture.fingerprint != print.fingerprint) {
      return Comparison{.same = false};
    }
  }
  return Comparison{.same = true, .frames = latest_.size()};
}

void Witness::DropOldest() {
  in_order_.pop_front();
  ++oldest_;
}

void Witness::Rewind() {
  in_order_.clear();
  oldest_ = 0;
  uncompared_ = 0;
  in_order_unproven_ = false;
}

void Witness::Replayed(bool same, uint64_t pictures) {
  in_order_unproven_ = false;
  if (!same) uncompared_ = oldest_ + in_order_.size();
  if (!same || pictures > 0) report_({.same = same, .frames = pictures});
}

}  // namespace bulkhead::session
