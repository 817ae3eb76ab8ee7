// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <map>
#include <string>

#include "tests/children/lying_session.h"

namespace bulkhead::tests {
namespace {

namespace schema = ipc::schema;
using Session = LyingSession;
using Step = LyingSession::Step;
using Frame = schema::PublishedFrame::Builder;

// Publishes a frame of another size than the first.
Session::Lie Sized(uint32_t width, uint32_t height) {
  return {Step::kFrame, [=](Session& s) {
            s.Publish([&](Frame f) {
              f.setWidth(width);
              f.setHeight(height);
              f.setStride(s.StrideOf(width, height));
            });
          }};
}

// Returns the height of a picture of kWidth columns that no slot has room for:
// a worker that replays has the larger slots of the worker before.
constexpr uint32_t kWidth = 1024;
uint32_t HeightBeyondSlots(Session& s) {
  return static_cast<uint32_t>(s.slot_bytes() / s.StrideOf(kWidth, 1)) + 1;
}

// Lies about pictures that keep their own sizes.
const std::map<std::string, Session::Lie, std::less<>> kLies = {
    {"size_beyond_slot", Sized(2 * kLyingWidth, 2 * kLyingHeight)},
    {"size_beyond_slot_native", Sized(1920, 1080)},
    {"size_beyond_limit",
     {Step::kFrame,
      [](Session& s) {
        s.Publish([](Frame f) {
          f.setWidth(UINT32_MAX);
          f.setHeight(UINT32_MAX);
        });
      }}},
    {"size_none",
     {Step::kFrame,
      [](Session& s) { s.Publish([](Frame f) { f.setHeight(0); }); }}},
    // Fits its slot if its rows overlap.
    {"size_wider_than_its_rows",
     {Step::kFrame,
      [](Session& s) {
        s.Publish([](Frame f) { f.setWidth(8 * kLyingWidth); });
      }}},
    {"size_format_unknown",
     {Step::kFrame,
      [](Session& s) {
        s.Publish([](Frame f) { f.setPixelFormat("gray17le"); });
      }}},
    {"size_format_none",
     {Step::kFrame,
      [](Session& s) { s.Publish([](Frame f) { f.setPixelFormat(""); }); }}},
    // Its planes have more bytes than in the format before.
    {"size_format_beyond_slot",
     {Step::kFrame,
      [](Session& s) {
        s.Publish([](Frame f) { f.setPixelFormat("gbrapf32le"); });
      }}},
    {"size_smaller",
     {Step::kFrame,
      [](Session& s) {
        s.Publish([&](Frame f) {
          f.setWidth(kLyingWidth / 2);
          f.setHeight(kLyingHeight / 2);
          f.setStride(s.StrideOf(kLyingWidth / 2, kLyingHeight / 2));
        });
      }}},
    // Its next life makes the same frame larger, with the same fingerprint.
    {"size_differs",
     {Step::kFrame,
      [](Session& s) {
        s.Publish([&](Frame f) {
          f.setWidth(kLyingWidth / 2);
          f.setHeight(kLyingHeight / 2);
        });
      }}},
    // Needs larger slots, gets them, and goes on.
    {"size_grows",
     {Step::kFrame,
      [](Session& s) {
        s.GrowTo(640, 360);
        s.GoOn();
      }}},
    {"pool_with_autoscale",
     {Step::kFrame, [](Session& s) { s.ReplyNeedsPool(640, 360); }}},
    {"pool_that_it_has",
     {Step::kFrame,
      [](Session& s) { s.ReplyNeedsPool(kLyingWidth, kLyingHeight); }}},
    {"pool_beyond_limit",
     {Step::kFrame, [](Session& s) { s.ReplyNeedsPool(1 << 20, 1 << 20); }}},
    {"pool_of_no_size",
     {Step::kFrame, [](Session& s) { s.ReplyNeedsPool(0, 360); }}},
    // Asks for more before it has used what it got.
    {"pool_twice",
     {Step::kFrame,
      [](Session& s) {
        s.GrowTo(kWidth, HeightBeyondSlots(s));
        s.ReplyNeedsPool(kWidth, HeightBeyondSlots(s));
      }}},
    {"pool_twice_in_a_row",
     {Step::kFrame,
      [](Session& s) {
        s.ReplyNeedsPool(kWidth, HeightBeyondSlots(s));
        s.ReplyNeedsPool(kWidth, 2 * HeightBeyondSlots(s));
      }}},
    // Takes all the memory that it can get, one frame after the other.
    {"pool_greedy",
     {Step::kFrame,
      [](Session& s) {
        for (uint32_t height = 90;; height *= 2) {
          s.GrowTo(2048, height);
          s.Publish();
        }
      }}},
    {"pool_never_attached",
     {Step::kFrame,
      [](Session& s) { s.ReplyNeedsPool(kWidth, HeightBeyondSlots(s)); }}},
    {"pool_dies",
     {Step::kFrame,
      [](Session& s) {
        s.ReplyNeedsPool(kWidth, HeightBeyondSlots(s));
        ::_exit(3);
      }}},
    // Publishes a slot of the pool that it had before.
    {"pool_of_before",
     {Step::kFrame,
      [](Session& s) {
        const auto [slot, generation] = s.grants().front();
        s.GrowTo(640, 360);
        s.Publish([slot = slot, generation = generation](Frame f) {
          f.setSlot(slot);
          f.setGeneration(generation + 1);
        });
      }}},
};

}  // namespace

std::optional<LyingSession::Lie> FindSizeLie(std::string_view name) {
  const auto found = kLies.find(name);
  if (found == kLies.end()) return std::nullopt;
  return found->second;
}

}  // namespace bulkhead::tests
