// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/witness.h"

#include <algorithm>
#include <cstddef>
#include <variant>

namespace bulkhead::session {
namespace {

constexpr size_t kMostFrames = 8;

}  // namespace

void Witness::Found(const FoundFrame& frame, const std::string& backend) {
  if (keeps_) found_.push_back({frame.number, frame.picture.fingerprint});
  if (!shadow_) return;
  shadow_->Show(backend, frame.picture, frame.number, /*in_order=*/false);
}

void Witness::Passed(const worker_link::PublishedFrame& frame, uint64_t number,
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
  other_device_ = !latest_.empty();
}

Result<std::optional<Comparison>> Witness::Compare(const Find& find) {
  if (!other_device_) return std::optional<Comparison>();
  // Neighbouring frames need no seek each if they are found in ascending order.
  std::sort(latest_.begin(), latest_.end(),
            [](const Print& a, const Print& b) { return a.number < b.number; });
  Comparison comparison{.same = true};
  for (const Print& print : latest_) {
    const auto again = find(print.number);
    if (!again && again.error().code() != Code::kBadInput &&
        again.error().code() != Code::kOutOfRange) {
      return again.error();
    }
    const auto* frame = again ? std::get_if<FoundFrame>(&*again) : nullptr;
    if (frame == nullptr || frame->number != print.number ||
        frame->picture.fingerprint != print.fingerprint) {
      comparison = {};
      break;
    }
    ++comparison.frames;
  }
  other_device_ = false;
  latest_.clear();
  return std::make_optional(comparison);
}

}  // namespace bulkhead::session
