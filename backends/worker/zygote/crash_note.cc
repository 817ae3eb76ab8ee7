// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/zygote/crash_note.h"

#include <capnp/message.h>
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string_view>
#include <thread>

#include "backends/worker/media/decode/side_thread.h"
#include "ipc/message_socket.h"
#include "ipc/schema/control.capnp.h"
#include "ipc/schema/types.capnp.h"
#include "ipc/worker_exit.h"

namespace bulkhead::worker::zygote {
namespace {

namespace schema = ipc::schema;

constexpr size_t kMaxFrames = 24;
constexpr size_t kPlaceBytes = 160;
constexpr size_t kStackBytes = size_t{256} << 10;
constexpr std::chrono::milliseconds kSendDeadline{100};
// Converting a frame takes some milliseconds, more on a busy machine.
constexpr std::chrono::milliseconds kPublishPatience{200};
// The time for the note of the thread that faulted first.
constexpr std::chrono::milliseconds kNotePatience{1'000};

// Everything that the handler needs, allocated in advance, since a signal
// handler must not allocate.
struct Note {
  using Root =
      std::function<schema::CrashNote::Builder(capnp::MessageBuilder&)>;

  Note(int to, const Root& init_root) : socket(to), note(init_root(message)) {
    auto frames = note.initFrames(kMaxFrames);
    for (auto frame : frames) frame.initPlace(kPlaceBytes);
  }

  const int socket;
  std::atomic_flag written;
  capnp::MallocMessageBuilder message{kMaxFrames * (kPlaceBytes / 8 + 4) + 32};
  schema::CrashNote::Builder note;
  std::array<std::byte, kStackBytes> stack;
};

// Global, because a signal handler gets no argument of ours.
Note* note_of_this_process = nullptr;

class Writer {
 public:
  explicit Writer(capnp::Data::Builder out) : out_(out) {}
  void Text(std::string_view text) {
    for (const char c : text) {
      if (used_ < out_.size()) out_[used_++] = static_cast<kj::byte>(c);
    }
  }
  void Hex(uintptr_t number) {
    char digits[2 * sizeof(number)];
    size_t count = 0;
    do {
      digits[count++] = "0123456789abcdef"[number % 16];
      number /= 16;
    } while (number != 0);
    std::reverse(digits, digits + count);
    Text("0x");
    Text({digits, count});
  }

 private:
  capnp::Data::Builder out_;
  size_t used_ = 0;
};

// Writes a code address in the form "libacme.so+0x1f30 (acme_decode+0x12)".
void WritePlace(uintptr_t address, capnp::Data::Builder out) {
  Writer place(out);
  Dl_info info = {};
  if (::dladdr(reinterpret_cast<void*>(address), &info) == 0 ||
      info.dli_fname == nullptr) {
    place.Hex(address);
    return;
  }
  const std::string_view file(info.dli_fname);
  place.Text(file.substr(file.find_last_of('/') + 1));
  place.Text("+");
  place.Hex(address - reinterpret_cast<uintptr_t>(info.dli_fbase));
  if (info.dli_sname == nullptr) return;
  place.Text(" (");
  place.Text(info.dli_sname);
  place.Text("+");
  place.Hex(address - reinterpret_cast<uintptr_t>(info.dli_saddr));
  place.Text(")");
}

struct Walk {
  schema::CrashNote::Builder note;
  unsigned frames = 0;
  bool in_handler = true;
};

// Records one stack frame. Skips the frames of the handler itself, which come
// first: the unwinder marks the frame that the signal interrupted.
_Unwind_Reason_Code VisitFrame(_Unwind_Context* context, void* argument) {
  Walk& walk = *static_cast<Walk*>(argument);
  int before_instruction = 0;
  const uintptr_t address = ::_Unwind_GetIPInfo(context, &before_instruction);
  if (before_instruction != 0) walk.in_handler = false;
  if (walk.in_handler) return _URC_NO_REASON;
  if (walk.frames == kMaxFrames || address == 0) return _URC_END_OF_STACK;
  // A return address is the instruction after the call, which may belong to the
  // next function or line.
  WritePlace(address - (before_instruction != 0 ? 0 : 1),
             walk.note.getFrames()[walk.frames].getPlace());
  walk.note.setFrameCount(++walk.frames);
  return _URC_NO_REASON;
}

// Sends the note, and ends the process by an exit code instead of the signal:
// for a fault without a handler, the kernel logs bytes of the process around
// the fault (ipc/worker_exit.h).
void OnFault(int signal, siginfo_t* info, void*) {
  Note& last = *note_of_this_process;
  // The kernel's own faults have positive codes (sigaction(2)).
  const bool sent_by_a_process = info->si_code <= 0;
  if (sent_by_a_process) ::_exit(ipc::ExitOfFault(SIGSEGV));
  if (last.written.test_and_set()) {
    // Another thread writes the note and then ends the process.
    std::this_thread::sleep_for(kNotePatience);
    ::_exit(ipc::ExitOfFault(signal));
  }
  // Waits until the second thread has published the previous frame, so that no
  // other worker has to decode it again.
  decode::SideThread::AwaitBeforeDeath(kPublishPatience);
  last.note.setSignal(static_cast<uint8_t>(signal));
  last.note.setAddress(reinterpret_cast<uintptr_t>(info->si_addr));
  Walk walk{.note = last.note};
  ::_Unwind_Backtrace(VisitFrame, &walk);
  (void)ipc::SendMessage(last.socket, last.message, {},
                         ipc::Deadline::After(kSendDeadline));
  ::_exit(ipc::ExitOfFault(signal));
}

_Unwind_Reason_Code VisitNothing(_Unwind_Context*, void*) {
  return _URC_END_OF_STACK;
}

void Install(Note* note) {
  note_of_this_process = note;
  // The unwinder may allocate on its first use, which a handler must not do.
  ::_Unwind_Backtrace(VisitNothing, nullptr);
  stack_t stack = {};
  stack.ss_sp = note_of_this_process->stack.data();
  stack.ss_size = kStackBytes;
  ::sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = OnFault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  // With all signals blocked, a fault in the handler ends the process at once.
  ::sigfillset(&action.sa_mask);
  for (const int signal : ipc::kFaults) {
    ::sigaction(signal, &action, nullptr);
  }
}

}  // namespace

void SendCrashNotesOfZygote(int socket) {
  Install(new Note(socket, [](capnp::MessageBuilder& message) {
    return message.initRoot<schema::ZygoteEvent>().initCrashed();
  }));
}

void SendCrashNotesOfProbe(int socket) {
  Install(new Note(socket, [](capnp::MessageBuilder& message) {
    return message.initRoot<schema::DeviceList>().initCrashed();
  }));
}

void SendCrashNotesOfSession(int socket) {
  Install(new Note(socket, [](capnp::MessageBuilder& message) {
    return message.initRoot<schema::CrashNote>();
  }));
}

}  // namespace bulkhead::worker::zygote
