// SPDX-License-Identifier: Apache-2.0
#include "core/control/crash_note.h"

#include <capnp/message.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "ipc/worker_exit.h"

namespace bulkhead {
namespace {

using ipc::schema::CrashNote;

class CrashNoteTest : public testing::Test {
 protected:
  CrashNoteTest()
      : message_(std::make_unique<capnp::MallocMessageBuilder>()),
        note_(message_->initRoot<CrashNote>()) {
    note_.setSignal(SIGSEGV);
    note_.setAddress(0x10);
  }
  void AddPlaces(unsigned count, const std::string& text, size_t bytes) {
    auto frames = note_.initFrames(count);
    for (auto frame : frames) {
      auto place = frame.initPlace(static_cast<unsigned>(bytes));
      std::memcpy(place.begin(), text.data(), std::min(bytes, text.size()));
    }
    note_.setFrameCount(count);
  }

  std::unique_ptr<capnp::MallocMessageBuilder>
      message_;  // may throw at its end
  CrashNote::Builder note_;
};

TEST_F(CrashNoteTest, PlacesEndAtTheirFirstZero) {
  AddPlaces(2, "liba.so+0x1 (f+0x1)", 160);
  const CrashClaim claim = ReadCrashNote(note_.asReader());
  EXPECT_EQ(claim.signal, SIGSEGV);
  EXPECT_EQ(claim.address, 0x10u);
  EXPECT_EQ(claim.backtrace,
            std::vector<std::string>(2, "liba.so+0x1 (f+0x1)"));
}

TEST_F(CrashNoteTest, OfALostDeviceHasTheBackendsWords) {
  AddPlaces(2, "acme: the card fell off the bus", 40);
  note_.setSignal(0);
  note_.setDeviceLost(true);
  const CrashClaim claim = ReadCrashNote(note_.asReader());
  ASSERT_EQ(claim.backtrace,
            std::vector<std::string>{"acme: the card fell off the bus"});
  ExitReport exited{.kind = ExitReport::Kind::kExited,
                    .value = ipc::kExitDeviceLost};
  AddClaim(claim, exited);
  EXPECT_EQ(exited.claimed_backtrace, claim.backtrace);
  ExitReport killed{.kind = ExitReport::Kind::kSignaled, .value = SIGKILL};
  AddClaim(claim, killed);
  EXPECT_TRUE(killed.claimed_backtrace.empty());
}

TEST_F(CrashNoteTest, OfABackendThatFailedTouchesNoAddress) {
  AddPlaces(1, "acme: firmware error 0x42", 30);
  note_.setBackendFailed(true);
  const CrashClaim claim = ReadCrashNote(note_.asReader());
  ExitReport failed{.kind = ExitReport::Kind::kExited,
                    .value = ipc::kExitBackendFailed};
  AddClaim(claim, failed);
  EXPECT_EQ(failed.claimed_backtrace,
            std::vector<std::string>{"acme: firmware error 0x42"});
  EXPECT_EQ(failed.claimed_address, 0u);
  ExitReport other{.kind = ExitReport::Kind::kExited,
                   .value = ipc::kExitDeviceLost};
  AddClaim(claim, other);
  EXPECT_TRUE(other.claimed_backtrace.empty());
}

TEST_F(CrashNoteTest, IsBoundedAndCleaned) {
  AddPlaces(1000, "\x1b]0;title\a" + std::string(1000, 'x'), 1000);
  const CrashClaim claim = ReadCrashNote(note_.asReader());
  ASSERT_EQ(claim.backtrace.size(), 64u);
  EXPECT_EQ(claim.backtrace[0].size(), 160u);
  EXPECT_TRUE(claim.backtrace[0].starts_with("?]0;title?x"));
}

TEST_F(CrashNoteTest, CountsNoFramesThatAreNotThere) {
  AddPlaces(1, "a", 1);
  note_.setFrameCount(4'000'000'000);
  EXPECT_EQ(ReadCrashNote(note_.asReader()).backtrace.size(), 1u);
}

TEST_F(CrashNoteTest, OnlyWhatAgreesWithTheReaperIsAdded) {
  AddPlaces(1, "a", 1);
  const CrashClaim claim = ReadCrashNote(note_.asReader());
  ExitReport exited{.kind = ExitReport::Kind::kExited, .value = SIGSEGV};
  ExitReport other{.kind = ExitReport::Kind::kSignaled, .value = SIGKILL};
  ExitReport same{.kind = ExitReport::Kind::kSignaled, .value = SIGSEGV};
  for (ExitReport* report : {&exited, &other, &same}) AddClaim(claim, *report);
  EXPECT_TRUE(exited.claimed_backtrace.empty());
  EXPECT_TRUE(other.claimed_backtrace.empty());
  EXPECT_EQ(same.claimed_backtrace, std::vector<std::string>{"a"});
  EXPECT_EQ(same.claimed_address, 0x10u);
}

}  // namespace
}  // namespace bulkhead
