// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/zygote/crash_note.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "ipc/message_socket.h"
#include "ipc/schema/types.capnp.h"
#include "ipc/testing/forked_child.h"

namespace bulkhead::worker {
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
  ASSERT_TRUE(WIFSIGNALED(end.status));
  EXPECT_EQ(WTERMSIG(end.status), SIGSEGV);
  ASSERT_TRUE(end.note);
  const auto note = end.note->root<CrashNote>().value();
  EXPECT_EQ(note.getSignal(), SIGSEGV);
  EXPECT_EQ(note.getAddress(), 16u);
  const std::string places = PlacesOf(note);
  EXPECT_TRUE(places.find("(TouchNowhere+") < places.find('\n')) << places;
}

TEST(CrashNoteTest, DiesOfTheSignalThatCame) {
  End end = Crash(DivideByZero);
  ASSERT_TRUE(WIFSIGNALED(end.status));
  EXPECT_EQ(WTERMSIG(end.status), SIGFPE);
  ASSERT_TRUE(end.note);
  EXPECT_EQ(end.note->root<CrashNote>()->getSignal(), SIGFPE);
}

TEST(CrashNoteTest, ASignalFromOutsideEndsItWithoutANote) {
  const End end = Crash([] {
    kill(getpid(), SIGSEGV);
    for (;;) pause();
  });
  ASSERT_TRUE(WIFSIGNALED(end.status));
  EXPECT_EQ(WTERMSIG(end.status), SIGSEGV);
  EXPECT_FALSE(end.note);
}

TEST(CrashNoteTest, ASocketWithoutReaderDoesNotKeepItAlive) {
  const End end = Crash([] {
    auto sockets = ipc::MakeSocketPair();
    SendCrashNotesOfSession(sockets->second.get());
    sockets->first.reset();
    TouchNowhere();
  });
  ASSERT_TRUE(WIFSIGNALED(end.status));
  EXPECT_EQ(WTERMSIG(end.status), SIGSEGV);
}

}  // namespace
}  // namespace bulkhead::worker
