// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <string>

#include "tests/children/lying_session.h"

namespace bulkhead::tests {
namespace {

namespace schema = ipc::schema;
using Session = LyingSession;
using Step = LyingSession::Step;
using Opened = schema::Opened::Builder;
using Frame = schema::PublishedFrame::Builder;

// Lies about native pictures, to a host that asked for them.
const std::map<std::string, Session::Lie, std::less<>> kLies = {
    {"native_format_unknown",
     {Step::kOpen,
      [](Session& s) {
        s.ReplyOpened([](Opened o) { o.setPixelFormat("gray17le"); });
      }}},
    {"native_format_of_a_device",
     {Step::kOpen,
      [](Session& s) {
        s.ReplyOpened([](Opened o) { o.setPixelFormat("vaapi"); });
      }}},
    {"native_format_none",
     {Step::kOpen,
      [](Session& s) {
        s.ReplyOpened([](Opened o) { o.setPixelFormat(""); });
      }}},
    {"native_floats",
     {Step::kOpen,
      [](Session& s) {
        s.ReplyOpened(
            [](Opened o) { o.setElementType(schema::ElementType::FLOAT32); });
      }}},
    {"native_stride_larger",
     {Step::kFrame,
      [](Session& s) {
        s.Publish([](Frame f) { f.setStride(f.getStride() + 64); });
      }}},
    {"native_stride_none",
     {Step::kFrame,
      [](Session& s) { s.Publish([](Frame f) { f.setStride(0); }); }}},
    {"native_larger",
     {Step::kFrame,
      [](Session& s) {
        s.Publish([](Frame f) { f.setHeight(2 * kLyingHeight); });
      }}},
    // Takes every slot that it can get.
    {"native_greedy",
     {Step::kFrame,
      [](Session& s) {
        for (;;) {
          s.ReplyNeedsSlot(s.grants_taken());
          s.Listen();
        }
      }}},
    // Was helped long ago.
    {"native_never_content",
     {Step::kFrame,
      [](Session& s) {
        for (;;) s.ReplyNeedsSlot(0);
      }}},
    {"rgb_needs_slot",
     {Step::kFrame, [](Session& s) { s.ReplyNeedsSlot(s.grants_taken()); }}},
    {"native_range",
     {Step::kFrame,
      [](Session& s) {
        s.Publish([](Frame f) { f.initFacts().setRange(3); });
      }}},
    {"native_chroma",
     {Step::kFrame,
      [](Session& s) {
        s.Publish([](Frame f) { f.initFacts().setChromaLocation(255); });
      }}},
};

}  // namespace

std::optional<LyingSession::Lie> FindNativeLie(std::string_view name) {
  const auto found = kLies.find(name);
  if (found == kLies.end()) return std::nullopt;
  return found->second;
}

}  // namespace bulkhead::tests
