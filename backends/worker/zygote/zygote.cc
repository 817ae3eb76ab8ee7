// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/zygote/zygote.h"

#include <capnp/message.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

extern "C" {
#include <libavutil/log.h>
}

#include "backends/worker/lockdown/lockdown.h"
#include "backends/worker/session/session_worker.h"
#include "backends/worker/session/shared_worker.h"
#include "backends/worker/zygote/arguments.h"
#include "backends/worker/zygote/clone.h"
#include "backends/worker/zygote/codec_tables.h"
#include "backends/worker/zygote/crash_note.h"
#include "backends/worker/zygote/plugin.h"
#include "backends/worker/zygote/probe.h"
#include "ipc/capnp_read.h"
#include "ipc/descriptors.h"
#include "ipc/message_socket.h"
#include "ipc/schema/control.capnp.h"
#include "ipc/worker_exit.h"

namespace bulkhead::worker::zygote {
namespace {

namespace schema = ipc::schema;
using lockdown::Lockdown;
using std::chrono::milliseconds;

constexpr milliseconds kSendDeadline{5'000};
// Only bounds a single wait: bulkheadd may be silent for any time, and if it is
// gone, the reaper ends this process.
constexpr milliseconds kIdleDeadline{3'600'000};

bool Send(capnp::MessageBuilder& message) {
  return ipc::SendMessage(ipc::kZygoteControlFd, message, {},
                          ipc::Deadline::After(kSendDeadline))
      .has_value();
}

bool IsReadable(int fd) {
  pollfd poll{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&poll, 1, 0) != 0;
}

void FillFailure(schema::Failure::Builder out, const ipc::Error& error) {
  out.setCode(static_cast<schema::ErrorCode>(error.code));
  out.setMessage(error.message);
}

int SendFailed(const ipc::Error& error) {
  capnp::MallocMessageBuilder message;
  FillFailure(message.initRoot<schema::ZygoteEvent>().initFailed(), error);
  Send(message);
  return 1;
}

// Closes the descriptors that a worker has inherited from the zygote, except
// its own socket, and granted devices that the plugin has opened, since a
// session cannot open devices.
void CloseInherited(const Lockdown& lockdown, int socket) {
  if (!lockdown.has_devices()) {  // Closes all below, then all above `socket`.
    if (socket >= 0) {
      ::syscall(SYS_close_range, ipc::kZygoteControlFd, socket - 1, 0U);
    }
    ::syscall(SYS_close_range, std::max(socket + 1, int{ipc::kZygoteControlFd}),
              ~0U, 0U);
    return;
  }
  rlimit files = {};
  ::getrlimit(RLIMIT_NOFILE, &files);
  const int end = static_cast<int>(files.rlim_cur);
  for (int fd = ipc::kZygoteControlFd; fd < end; ++fd) {
    if (fd != socket && !lockdown.IsGrantedDevice(fd)) ::close(fd);
  }
}

// Lowers both limits of a resource to `bytes`; 0 leaves them as they are.
bool Limit(__rlimit_resource resource, uint64_t bytes) {
  rlimit limit = {};
  if (bytes == 0) return true;
  if (::getrlimit(resource, &limit) != 0) return false;
  limit.rlim_max = std::min<rlim_t>(limit.rlim_max, bytes);
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(resource, &limit) == 0;
}

// Writes the reason why the clone ends to stderr, which the crash record keeps.
// Returns the clone's exit code.
int FailLockdown(const std::string& why) {
  const std::string line = "stage 2 of the sandbox: " + why + "\n";
  (void)!::write(STDERR_FILENO, line.data(), line.size());
  return ipc::kExitLockdown;
}

// Runs the kind of worker that the request asks for, in a clone. Returns its
// exit code. `socket` is -1 if bulkheadd installs the worker's socket later,
// when the worker installs its last filter.
int RunWorker(const bulkhead_backend& backend, const Lockdown& lockdown,
              schema::CloneWorker::Reader kind, int socket) {
  // The zygote's control socket is closed before anything else: no code that
  // has seen media may speak as the zygote.
  CloseInherited(lockdown, socket);
  // The probe stays in stage 1: it sees no media, and drivers open device
  // files.
  if (kind.getProbe()) {
    SendCrashNotesOfProbe(socket);
    return RunProbe(backend, socket);
  }
  // Limits the memory before stage 2, which forbids setrlimit(). At the limit
  // an allocation fails, which also stops a decompression bomb.
  if (!Limit(RLIMIT_DATA, kind.getDataBytes()) ||
      !Limit(RLIMIT_AS, kind.getAddressBytes())) {
    return FailLockdown("cannot limit its memory");
  }
  if (socket < 0) socket = ipc::kWorkerSocketFd;
  // Replaces the zygote's handlers, which use the zygote's socket, before stage
  // 2 forbids new handlers.
  SendCrashNotesOfSession(socket);
  const auto tasks =
      kind.getReserve() ? Lockdown::Tasks::kAll : Lockdown::Tasks::kLeaveSome;
  if (auto installed = lockdown.InstallStage2(tasks); !installed) {
    return FailLockdown(installed.error().message);
  }
  if (kind.getShared()) return session::RunSharedWorker(backend, socket);
  auto worker = session::SessionWorker::Attach(backend, socket);
  return worker ? (*worker)->Run() : 1;
}

}  // namespace

int RunZygote() {
  // libav's problems reach the host as errors, so its log is not needed.
  ::av_log_set_level(AV_LOG_QUIET);
  // The cloner and HideArguments() need calls of prctl() that the lock-down
  // forbids.
  auto cloner = SiblingCloner::Create();
  if (!cloner) return SendFailed(cloner.error());
  if (auto hidden = HideArguments(); !hidden) return SendFailed(hidden.error());
  auto lockdown = Lockdown::Read(ipc::kZygoteLockdownFd);
  if (!lockdown) return SendFailed(lockdown.error());
  if (auto installed =
          lockdown->InstallStage1(ipc::kZygoteControlFd, ipc::kZygotePluginFd);
      !installed) {
    return SendFailed(installed.error());
  }
  // From here on vendor code can crash this process.
  SendCrashNotesOfZygote(ipc::kZygoteControlFd);
  auto backend = LoadPlugin(lockdown->plugin_path(), ipc::kZygotePluginFd,
                            lockdown->entry_symbol());
  if (!backend) return SendFailed(backend.error());
  capnp::MallocMessageBuilder ready;
  ready.initRoot<schema::ZygoteEvent>().setReady();
  if (!Send(ready)) return 1;

  CodecTables tables;
  for (;;) {
    // Prepares tables while there is no request. There is time after `ready`,
    // since bulkheadd then loads the backend's files into memory. Later there
    // may be none: bulkheadd stops a zygote (SIGSTOP) between two requests.
    while (!IsReadable(ipc::kZygoteControlFd) && tables.PrepareNext()) {
    }
    auto received = ipc::ReceiveMessage(ipc::kZygoteControlFd, 1,
                                        ipc::Deadline::After(kIdleDeadline));
    if (!received) {
      if (received.error().code == ipc::Code::kDeadlineExceeded) continue;
      return 1;
    }
    if (!*received) return 0;
    auto request = (*received)->root<schema::ZygoteRequest>();
    if (!request) return 1;
    const auto clone = request->getClone();
    auto& descriptors = (*received)->descriptors;
    if (descriptors.size() != (clone.getSocketComesLater() ? 0U : 1U)) return 1;
    auto pid = cloner->Clone();
    // The clone leaves the loop for good; it returns its exit code from main().
    if (pid && *pid == 0) {
      return RunWorker(**backend, *lockdown, clone,
                       descriptors.empty() ? -1 : descriptors[0].release());
    }
    capnp::MallocMessageBuilder answer;
    auto event = answer.initRoot<schema::ZygoteEvent>();
    if (pid) {
      auto cloned = event.initCloned();
      cloned.setTicket(clone.getTicket());
      cloned.setPid(*pid);
    } else {
      auto failed = event.initCloneFailed();
      failed.setTicket(clone.getTicket());
      FillFailure(failed.initFailure(), pid.error());
    }
    if (!Send(answer)) return 1;
  }
}

}  // namespace bulkhead::worker::zygote
