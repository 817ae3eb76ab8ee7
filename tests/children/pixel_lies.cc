// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>

#include "tests/children/deaths.h"
#include "tests/children/lying_session.h"

namespace bulkhead::tests {
namespace {

using Session = LyingSession;
using Step = LyingSession::Step;

void Overwrite(std::span<std::byte> bytes) {
  std::fill(bytes.begin(), bytes.end(), kLyingPixel);
}

// Dies with the first half of a picture in its slot.
void DieHalfWay(Session& session) {
  while (session.grants().empty()) session.Listen();
  const uint32_t slot = session.grants().front().first;
  Overwrite(session.pool().subspan(slot * session.slot_bytes(),
                                   session.slot_bytes() / 2));
  Segfault();
}

// Dies after publishing a frame for which it did not wake the host.
void DieUnheard(Session& session) {
  session.StopWaking();
  while (!session.Publish()) session.Listen();
  Segfault();
}

// Returns whether the host has taken a frame and given its slot back. The grant
// may have come before the lie began, so this looks at the generations of what
// is granted: the first grant of a slot has generation 1.
bool IsGrantedAgain(const Session& session) {
  const auto grants = session.grants();
  return std::any_of(grants.begin(), grants.end(),
                     [](const auto& grant) { return grant.second > 1; });
}

// Publishes frames for which it was granted nothing.
void Flood(Session& session) {
  for (uint32_t slot = 0;; ++slot) {
    session.Reply([&](ipc::schema::Reply::Builder reply) {
      auto frame = reply.initFrame();
      frame.setEpoch(session.epoch());
      frame.setSlot(slot % 8);
      frame.setGeneration(UINT32_MAX);
      frame.setWidth(kLyingWidth);
      frame.setHeight(kLyingHeight);
      frame.setStride(session.StrideOf(kLyingWidth, kLyingHeight));
      frame.setPts(slot);
    });
  }
}

const std::map<std::string_view, LyingSession::Lie> kPixelLies = {
    {"frame_half_written", {Step::kFrame, DieHalfWay}},
    {"frame_unannounced", {Step::kFrame, DieUnheard}},
    {"frame_storm", {Step::kFrame, Flood}},
    // Writes to frames that the host has.
    {"frame_rewritten",
     {Step::kFrame,
      [](Session& s) {
        while (!IsGrantedAgain(s)) s.Listen();
        Overwrite(s.pool());
      }}},
};

}  // namespace

std::optional<LyingSession::Lie> FindPixelLie(std::string_view name) {
  const auto found = kPixelLies.find(name);
  if (found == kPixelLies.end()) return std::nullopt;
  return found->second;
}

}  // namespace bulkhead::tests
