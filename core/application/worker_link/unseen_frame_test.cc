// SPDX-License-Identifier: Apache-2.0
#include "core/application/worker_link/unseen_frame.h"

#include <capnp/message.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>

#include "ipc/damage_sign.h"
#include "ipc/index_entry.h"

namespace bulkhead::worker_link {
namespace {

namespace schema = ipc::schema;
using Builder = schema::UnseenFrame::Builder;
using Fate = schema::UnseenFrame::Fate;

constexpr int64_t kSkipBefore = 100;
constexpr int64_t kMediaBytes = 5'000;

// Validates a lost frame that `change` makes something else.
Result<UnseenFrame> Validate(const std::function<void(Builder)>& change) {
  capnp::MallocMessageBuilder message;
  auto frame = message.initRoot<schema::UnseenFrame>();
  frame.setFate(Fate::LOST);
  frame.setSign(schema::Sign::NO_PICTURE);
  frame.setPts(40);
  frame.setPosition(700);
  change(frame);
  return ValidateUnseen(frame.asReader(), kSkipBefore, kMediaBytes);
}

std::string Complaint(const std::function<void(Builder)>& change) {
  const auto frame = Validate(change);
  if (frame) return "";
  EXPECT_EQ(frame.error().code(), Code::kBackendMisbehaved);
  return frame.error().message();
}

TEST(ValidateUnseenTest, KeepsTheSign) {
  const auto lost = Validate([](Builder) {});
  ASSERT_TRUE(lost) << lost.error();
  EXPECT_EQ(lost->fate, UnseenFrame::Fate::kLost);
  EXPECT_EQ(lost->damage.sign, ipc::DamageSign::kNoPicture);
  EXPECT_EQ(lost->damage.packets, 1u);
  EXPECT_EQ(lost->damage.position, 700);
}

TEST(ValidateUnseenTest, ANoteStandsForNoFrame) {
  for (const int64_t pts : {int64_t{40}, int64_t{900}, ipc::kNoTimestamp}) {
    const auto note = Validate([pts](Builder frame) {
      frame.setFate(Fate::NOTE);
      frame.setSign(schema::Sign::MARKED);
      frame.setPts(pts);
      frame.setCount(UINT64_MAX);
    });
    ASSERT_TRUE(note) << note.error();
    EXPECT_EQ(note->fate, UnseenFrame::Fate::kNote);
    EXPECT_EQ(note->damage.sign, ipc::DamageSign::kMarked);
    EXPECT_EQ(note->damage.pts, pts);
    EXPECT_EQ(note->damage.packets, 0u);
  }
}

TEST(ValidateUnseenTest, RefusesSignsThatDoNotFit) {
  EXPECT_EQ(Complaint([](Builder frame) {
              frame.setSign(static_cast<schema::Sign>(12));
            }),
            "it reported damage of no known sign");
  const std::string kMixed =
      "it reported damage as a note, or a note as damage";
  EXPECT_EQ(Complaint([](Builder frame) { frame.setSign(schema::Sign::GAP); }),
            kMixed);
  EXPECT_EQ(Complaint([](Builder frame) { frame.setFate(Fate::NOTE); }),
            kMixed);
  EXPECT_EQ(Complaint([](Builder frame) {
              frame.setFate(Fate::SOUND);
              frame.setSign(schema::Sign::MARKED);
            }),
            kMixed);
}

TEST(ValidateUnseenTest, RefusesFramesThatCannotBe) {
  EXPECT_EQ(
      Complaint([](Builder frame) { frame.setFate(static_cast<Fate>(99)); }),
      "it reported a frame of no known fate");
  EXPECT_EQ(Complaint([](Builder frame) {
              frame.setFate(Fate::DAMAGED);
              frame.setPts(kSkipBefore);
            }),
            "it left out a frame that was asked for");
  for (const uint64_t count : {uint64_t{0}, uint64_t{2}}) {
    EXPECT_EQ(Complaint([count](Builder frame) { frame.setCount(count); }),
              "it reported an impossible number of frames");
  }
  EXPECT_EQ(Complaint([](Builder frame) {
              frame.setFate(Fate::NOT_IN_INDEX);
              frame.setSign(schema::Sign::CUT_OFF);
              frame.setDeclaredSize(kMediaBytes);
            }),
            "it reported a file that is not cut off as such");
}

}  // namespace
}  // namespace bulkhead::worker_link
