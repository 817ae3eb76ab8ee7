// SPDX-License-Identifier: Apache-2.0
//
// Takes the place of bulkhead-worker and behaves like it, except for one lie.
// The attr of the entry point, `liar.libliar:NAME`, names the lie, since the
// environment is empty. A worker with an unknown name is honest. NAME_once is
// only told to the first session of each zygote. The plugin is never loaded. A
// backend whose object is not libliar.so has the real worker.
// The lies of the zygote are here, of session workers in the files of
// FindLie() (lying_session.h).

#include <linux/close_range.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "backends/worker/lockdown/lockdown.h"
#include "backends/worker/zygote/crash_note.h"
#include "backends/worker/zygote/zygote.h"
#include "ipc/descriptors.h"
#include "ipc/message_socket.h"
#include "ipc/schema/control.capnp.h"
#include "tests/chaos/hold.h"
#include "tests/children/deaths.h"
#include "tests/children/lying_session.h"

namespace bulkhead::tests {
namespace {

namespace schema = ipc::schema;

constexpr std::chrono::milliseconds kPatience{60'000};
constexpr int kExitOnPurpose = 7;
constexpr pid_t kNobody = 30'000;

constexpr std::string_view kOnce = "_once";

void SendGarbage(int socket) { ::send(socket, "garbage!", 8, MSG_NOSIGNAL); }

// Sends an empty word, a byte at a time.
void Trickle(int socket) {
  for (size_t i = 0; i < sizeof(uint64_t); ++i) {
    ::send(socket, "", 1, MSG_NOSIGNAL);
    ::usleep(20'000);
  }
}

void Send(int socket, capnp::MessageBuilder& message) {
  if (!ipc::SendMessage(socket, message, {}, ipc::Deadline::After(kPatience))) {
    ::_exit(0);
  }
}

void SayCloned(uint64_t ticket, pid_t pid) {
  capnp::MallocMessageBuilder message;
  auto cloned = message.initRoot<schema::ZygoteEvent>().initCloned();
  cloned.setTicket(ticket);
  cloned.setPid(pid);
  Send(ipc::kZygoteControlFd, message);
}

void SayCloneFailed(uint64_t ticket) {
  capnp::MallocMessageBuilder message;
  auto failed = message.initRoot<schema::ZygoteEvent>().initCloneFailed();
  failed.setTicket(ticket);
  failed.initFailure().setMessage("no memory");
  Send(ipc::kZygoteControlFd, message);
}

pid_t CloneSibling() {
  return static_cast<pid_t>(
      ::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, 0, 0));
}

// Has the kernel log each further system call.
void InstallFilterThatLogs() {
  sock_filter log = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_LOG);
  const sock_fprog program = {.len = 1, .filter = &log};
  ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
            &program);
}

void SayReady() {
  capnp::MallocMessageBuilder message;
  message.initRoot<schema::ZygoteEvent>().setReady();
  Send(ipc::kZygoteControlFd, message);
}

void SayFailed(const char* why) {
  capnp::MallocMessageBuilder message;
  message.initRoot<schema::ZygoteEvent>().initFailed().setMessage(why);
  Send(ipc::kZygoteControlFd, message);
}

class LyingZygote {
 public:
  explicit LyingZygote(worker::lockdown::Lockdown lockdown)
      : lockdown_(std::move(lockdown)),
        name_(lockdown_.entry_symbol()),
        lie_(name_.substr(0, name_.find(kOnce))) {}

  [[noreturn]] void Run() {
    GetReady();
    for (;;) {
      auto received = ipc::ReceiveMessage(ipc::kZygoteControlFd, 1,
                                          ipc::Deadline::After(kPatience));
      if (!received || !*received) ::_exit(0);
      const auto clone = (*received)->root<schema::ZygoteRequest>()->getClone();
      // A zygote with a session's socket could read its media.
      if (Tells("clone_looks_for_socket") && !clone.getProbe() &&
          !(*received)->descriptors.empty()) {
        SayCloneFailed(clone.getTicket());
        continue;
      }
      data_bytes_ = clone.getDataBytes();
      address_bytes_ = clone.getAddressBytes();
      Clone(
          clone.getTicket(), clone.getProbe(),
          clone.getSocketComesLater() ? -1 : (*received)->descriptors[0].get());
    }
  }

 private:
  bool Tells(const char* lie) const { return lie_ == lie; }

  void GetReady() {
    if (!Tells("ready_unlocked") &&
        !lockdown_.InstallStage1(ipc::kZygoteControlFd, ipc::kZygotePluginFd)) {
      ::_exit(1);
    }
    if (Tells("ready_never")) Hold();
    if (Tells("ready_exit")) ::_exit(kExitOnPurpose);
    if (Tells("ready_death")) Segfault();
    if (Tells("ready_garbage")) SendGarbage(ipc::kZygoteControlFd);
    if (Tells("ready_trickle")) Trickle(ipc::kZygoteControlFd);
    if (Tells("ready_failed")) SayFailed("no \x1b[2J licence");
    SayReady();
    if (Tells("ready_twice")) SayReady();
    if (Tells("ready_storm")) {
      for (;;) SayCloned(1'000'000, 5);
    }
  }

  void Clone(uint64_t ticket, bool probe, int socket) {
    const std::string step = probe ? "probe_" : "clone_";
    if (lie_ == step + "never") return;
    if (const Death death = FindDeath(lie_, step)) death();
    if (lie_ == step + "spare" && CloneSibling() == 0) Hold();
    const pid_t pid = CloneSibling();
    if (lie_ == step + "unnamed") {
      if (pid == 0) Hold();
      return SayCloneFailed(ticket);
    }
    if (pid == 0) {
      // A clone without exec keeps close-on-exec descriptors.
      if (socket >= 0) {
        ::syscall(SYS_close_range, ipc::kZygoteControlFd, socket - 1, 0U);
      }
      const int from = std::max(socket + 1, int{ipc::kZygoteControlFd});
      if (!Tells("clone_keeps_files") || probe) {
        ::syscall(SYS_close_range, from, ~0U, 0U);
      }
      probe ? Probe(socket) : Serve(socket);
    }
    pid_t claimed = pid;
    if (lie_ == step + "pid_one") claimed = 1;
    if (lie_ == step + "pid_negative") claimed = -1;
    if (lie_ == step + "pid_own") claimed = ::getpid();
    if (lie_ == step + "pid_nobody") claimed = kNobody;
    if (lie_ == step + "pid_of_other" && last_session_ != 0) {
      claimed = last_session_;
    }
    if (!probe) last_session_ = pid;
    if (!probe && Tells("clone_garbage")) {
      return SendGarbage(ipc::kZygoteControlFd);
    }
    SayCloned(ticket, claimed);
    if (lie_ == step + "twice") SayCloned(ticket, claimed);
  }

  [[noreturn]] void Probe(int socket) {
    if (Tells("probe_silent")) Hold();
    if (Tells("probe_exit")) ::_exit(kExitOnPurpose);
    if (Tells("probe_garbage")) {
      SendGarbage(socket);
      Hold();
    }
    capnp::MallocMessageBuilder message;
    auto list = message.initRoot<schema::DeviceList>();
    const uint32_t count = Tells("probe_many")   ? 65
                           : Tells("probe_none") ? 0
                                                 : 1;
    auto devices = list.initDevices(count);
    for (uint32_t i = 0; i < count; ++i) {
      // An honest probe reports the device that the manifest reserves: the
      // lie's name.
      devices[i].setName(Tells("probe_stranger") ? "str\x1b[2Janger"
                                                 : name_.c_str());
    }
    if (Tells("probe_failed")) {
      list.initFailed().setMessage("no \x1b[2J driver");
    }
    if (Tells("probe_crashed")) {
      auto note = list.initCrashed();
      note.setSignal(SIGSEGV);
      note.setFrameCount(1);
      note.initFrames(1)[0].initPlace(8);
    }
    Send(socket, message);
    ::_exit(0);
  }

  static void Limit(__rlimit_resource resource, uint64_t bytes) {
    const rlimit limit = {bytes, bytes};
    if (bytes > 0 && setrlimit(resource, &limit) != 0) ::_exit(1);
  }

  [[noreturn]] void Serve(int socket) {
    if (!Tells("memory_unlimited")) Limit(RLIMIT_DATA, data_bytes_);
    if (!Tells("address_space_unlimited")) Limit(RLIMIT_AS, address_bytes_);
    if (Tells("clone_without_death_signal")) Hold();  // stage 2 sets it
    if (Tells("filter_logs")) InstallFilterThatLogs();
    if (socket < 0) socket = ipc::kWorkerSocketFd;
    // A liar's death has no note.
    if (!Tells("faults_unhandled")) worker::zygote::SendCrashNotesOfSession(-1);
    if (!Tells("lockdown_half") && !lockdown_.InstallStage2()) ::_exit(1);
    if (Tells("log_flood")) {
      const std::string line(4096, 'x');
      for (;;) (void)!::write(STDERR_FILENO, line.data(), line.size());
    }
    const bool told = lie_ == name_ || last_session_ == 0;
    LyingSession::Run(socket, told ? FindLie(lie_) : std::nullopt);
  }

  const worker::lockdown::Lockdown lockdown_;
  const std::string name_;
  const std::string lie_;
  pid_t last_session_ = 0;
  uint64_t data_bytes_ = 0;     // of the latest clone
  uint64_t address_bytes_ = 0;  // of the latest clone
};

}  // namespace
}  // namespace bulkhead::tests

int main() {
  auto lockdown = bulkhead::worker::lockdown::Lockdown::Read(
      bulkhead::ipc::kZygoteLockdownFd);
  if (!lockdown) return 1;
  if (!lockdown->plugin_path().ends_with("/libliar.so")) {
    ::_exit(bulkhead::worker::zygote::RunZygote());
  }
  bulkhead::tests::LyingZygote(*std::move(lockdown)).Run();
}
