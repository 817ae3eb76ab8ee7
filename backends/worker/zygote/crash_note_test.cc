// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/zygote/crash_note.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <barrier>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "ipc/message_socket.h"
#include "ipc/schema/types.capnp.h"
#include "ipc/testing/forked_child.h"
#include "ipc/worker_exit.h"

namespace bulkhead::worker::zygote {
namespace {

using ipc::schema::CrashNote;

volatile int* volatile nowhere = nullptr;
volatile int zero = 0;

// Exported, so that crash notes can name these functions.
extern "C" [[gnu::noinline, gnu::visibility("default")]] void TouchNowhere() {
  nowhere[4] = 1;
}
extern "C" [[gnu::noinline, gnu::visibility("default")]] void DivideByZero() {
  zero = 100 / zero;
}

struct End {
  int status = 0;
  std::optional<ipc::ReceivedMessage> note;
};

// Returns the fault that a process reports, which does not die of a signal.
std::optional<int> FaultOf(const End& end) {
  if (!WIFEXITED(end.status)) return std::nullopt;
  return ipc::FaultOf(WEXITSTATUS(end.status));
}

End Crash(const std::function<void()>& crash) {
  auto sockets = ipc::MakeSocketPair();
  ipc::ForkedChild child([&] {
    sockets->first.reset();
    SendCrashNotesOfSession(sockets->second.get());
    crash();
    return 0;
  });
  sockets->second.reset();
  End end;
  end.status = child.Wait();
  auto received = ipc::ReceiveMessage(
      sockets->first.get(), 0, ipc::Deadline::After(std::chrono::seconds(60)));
  if (received && *received) end.note = **std::move(received);
  return end;
}

std::string PlacesOf(CrashNote::Reader note) {
  std::string places;
  for (unsigned i = 0; i < note.getFrameCount(); ++i) {
    const auto place = note.getFrames()[i].getPlace();
    places += reinterpret_cast<const char*>(place.begin());
    places += "\n";
  }
  return places;
}

TEST(CrashNoteTest, SaysWhatWasTouchedAndByWhom) {
  End end = Crash(TouchNowhere);
  EXPECT_EQ(FaultOf(end), SIGSEGV);
  ASSERT_TRUE(end.note);
  const auto note = end.note->root<CrashNote>().value();
  EXPECT_EQ(note.getSignal(), SIGSEGV);
  EXPECT_EQ(note.getAddress(), 16u);
  const std::string places = PlacesOf(note);
  EXPECT_TRUE(places.find("(TouchNowhere+") < places.find('\n')) << places;
}

TEST(CrashNoteTest, ReportsTheSignalThatCame) {
  End end = Crash(DivideByZero);
  EXPECT_EQ(FaultOf(end), SIGFPE);
  ASSERT_TRUE(end.note);
  EXPECT_EQ(end.note->root<CrashNote>()->getSignal(), SIGFPE);
}

TEST(CrashNoteTest, ABreakpointIsAFault) {
  EXPECT_EQ(FaultOf(Crash([] { asm volatile("int3"); })), SIGTRAP);
}

// One of them writes the note, and no other spoils it.
TEST(CrashNoteTest, ThreadsThatFaultTogetherSendOneNote) {
  End end = Crash([] {
    std::barrier together(8);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        together.arrive_and_wait();
        TouchNowhere();
      });
    }
  });
  EXPECT_EQ(FaultOf(end), SIGSEGV);
  ASSERT_TRUE(end.note);
  const std::string places = PlacesOf(end.note->root<CrashNote>().value());
  EXPECT_TRUE(places.find("(TouchNowhere+") < places.find('\n')) << places;
}

TEST(CrashNoteTest, ASignalFromOutsideEndsItWithoutANote) {
  const End end = Crash([] {
    kill(getpid(), SIGSEGV);
    for (;;) pause();
  });
  EXPECT_EQ(FaultOf(end), SIGSEGV);
  EXPECT_FALSE(end.note);
}

TEST(CrashNoteTest, ASocketWithoutReaderDoesNotKeepItAlive) {
  const End end = Crash([] {
    auto sockets = ipc::MakeSocketPair();
    SendCrashNotesOfSession(sockets->second.get());
    sockets->first.reset();
    TouchNowhere();
  });
  EXPECT_EQ(FaultOf(end), SIGSEGV);
}

}  // namespace
}  // namespace bulkhead::worker::zygote
