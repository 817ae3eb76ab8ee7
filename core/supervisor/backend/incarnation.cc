// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/incarnation.h"

#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

#include "core/base/application_limits.h"
#include "core/base/from_ipc.h"
#include "core/base/pidfd.h"
#include "core/control/exit_report.h"
#include "core/supervisor/sandbox/file_mappings.h"
#include "core/supervisor/sandbox/memory_limit.h"
#include "core/supervisor/sandbox/thread_status.h"
#include "ipc/limit_name.h"

namespace bulkhead::supervisor {
namespace {

using std::chrono::milliseconds;

// The time between a zygote's end on its socket and the reaper's report of it.
constexpr kj::Duration kReaperPatience = 500 * kj::MILLISECONDS;

// A backend may ship a model that it maps.
constexpr uint64_t kMostHeldBytes = uint64_t{4} << 30;

kj::Duration ToDuration(milliseconds time) {
  return time.count() * kj::MILLISECONDS;
}

}  // namespace

Incarnation::Incarnation(kj::UnixEventPort& port,
                         sandbox::LaunchedReaper launched,
                         sandbox::Forbidden forbidden,
                         sandbox::ExpectedCalls expected,
                         const sandbox::LoadedMemory& loading,
                         EndingReapers& ending, bool& met_media)
    : port_(port),
      timer_(port.getTimer()),
      launched_pid_(launched.pid),
      reaper_pidfd_(std::move(launched.pidfd)),
      reaper_observer_(port, reaper_pidfd_.get(),
                       kj::UnixEventPort::FdObserver::OBSERVE_READ),
      reaper_(std::make_unique<EventSocket>(port, std::move(launched.control))),
      zygote_(std::make_unique<EventSocket>(
          port, std::move(launched.zygote_control))),
      cgroup_(std::move(launched.cgroup)),
      log_(port, std::move(launched.log)),
      forbidden_(forbidden),
      expected_calls_(std::move(expected)),
      loading_(loading),
      ending_(ending),
      met_media_(met_media),
      tasks_(new kj::TaskSet(*this)) {
  if (met_media_) log_.ExpectMedia();
  tasks_->add(ServeReaper());
  tasks_->add(ServeZygote());
  tasks_->add(log_.Drain());
  tasks_->add(ReapReaper());
}

Incarnation::~Incarnation() noexcept(false) {
  tasks_.reset();
  if (reaper_alive_) {
    // A reaper without a control socket ends all other processes, then itself.
    reaper_.reset();
    ending_.Add(reaper_pidfd_.get(), std::move(cgroup_));
  } else {
    ending_.Add(std::move(cgroup_));
  }
}

void Incarnation::KillReaper() {
  killed_reaper_ = true;
  ::syscall(SYS_pidfd_send_signal, reaper_pidfd_.get(), SIGKILL, nullptr, 0);
}

void Incarnation::taskFailed(kj::Exception&&) {
  // Only failures of kj itself get here, and they leave no way to serve on.
  OnReaperGone();
}

pid_t Incarnation::zygote_pid() const {
  return zygote_alive_ && zygote_pidfd_ ? PidOf(zygote_pidfd_.get()) : 0;
}

kj::Promise<Status> Incarnation::AwaitReady(milliseconds timeout) {
  if (readiness_) return *readiness_;
  auto paf = kj::newPromiseAndFulfiller<Status>();
  ready_ = kj::mv(paf.fulfiller);
  return paf.promise.exclusiveJoin(
      timer_.afterDelay(ToDuration(timeout)).then([timeout] {
        return Status(Code::kDeadlineExceeded,
                      "it was not ready within " +
                          std::to_string(timeout.count()) + " ms of " +
                          ipc::DeadlineName("backend_start"));
      }));
}

kj::Promise<void> Incarnation::ServeReaper() {
  return reaper_->Receive(1).then([this](auto received) -> kj::Promise<void> {
    if (received && !*received) {
      // The socket closes before the process has ended, and how it ended is
      // worth waiting for.
      return timer_.afterDelay(kReaperPatience).then([this] {
        if (reaper_alive_) OnReaperGone();
      });
    }
    if (!received || !OnReaperEvent(**received).ok()) {
      OnReaperGone();
      return kj::READY_NOW;
    }
    return ServeReaper();
  });
}

kj::Promise<void> Incarnation::ServeZygote() {
  return zygote_->Receive(lacks_listener() ? 1 : 0)
      .then([this](auto received) -> kj::Promise<void> {
        if (received && !*received) {
          zygote_alive_ = false;
          zygote_heard_out_ = true;
          if (zygote_exit_ || !zygote_end_.empty()) {
            OnZygoteGone();
            return kj::READY_NOW;
          }
          // The socket closes before the process has ended. The reaper's report
          // decides whose fault it was, and is worth waiting for.
          return timer_.afterDelay(kReaperPatience).then([this] {
            OnZygoteGone();
          });
        }
        const Status status = received ? OnZygoteEvent(**received)
                                       : FromIpc(std::move(received).error());
        if (!status.ok()) {
          // The kernel may lack memory for what the zygote sent.
          KillZygote(status.code() == Code::kResourceExhausted
                         ? Code::kResourceExhausted
                         : Code::kBackendMisbehaved,
                     status.message());
          return kj::READY_NOW;
        }
        return ServeZygote();
      });
}

void Incarnation::OnExited(pid_t pid, int wait_status) {
  ProcessExit exit = ToProcessExit(
      wait_status, violations_ ? violations_->Take(pid) : std::nullopt);
  if (exit.kind == ProcessExit::Kind::kSignaled && exit.value == SIGKILL &&
      cgroup_ && cgroup_->TakeOutOfMemoryKill()) {
    exit.kind = ProcessExit::Kind::kOutOfMemory;
  }
  if (pid == zygote_inner_pid_) {
    // A zygote is in stage 1. The stage was told by the number of filters, and
    // vendor code may have added filters of its own.
    if (exit.violation) exit.stage = 1;
    zygote_exit_ = ToReport(exit);
    zygote_lost_ = zygote_end_.empty() && IsForeignKill(exit);
    zygote_alive_ = false;
    if (readiness_ || zygote_heard_out_) return OnZygoteGone();
    // What the zygote said last, such as why it cannot load, may still be in
    // its socket, and explains more than the exit status.
    tasks_->add(
        timer_.afterDelay(kReaperPatience).then([this] { OnZygoteGone(); }));
    return;
  }
  expected_calls_.Forget(pid);
  forgotten_.erase(pid);
  if (forbidden_ == sandbox::Forbidden::kKill) EndStrangers();
  const auto found = watched_.find(pid);
  if (found == watched_.end()) {
    // It was starved of the descriptor with which it would have been watched.
    return FinishPending(
        pid, Status(Code::kBackendLost, "the worker died while it was cloned"));
  }
  // Asks the kernel too: the zygote's own end may not have been reported yet.
  exit.zygote_alive = zygote_alive_ && !HasEnded(zygote_pidfd_.get());
  exit.has_devices = loading_.maps_devices;
  found->second.end = std::move(exit);
  found->second.Resolve();
}

void Incarnation::CheckReady() {
  if (!said_ready_ || readiness_ || !zygote_pidfd_) return;
  Status checked =
      lacks_listener()
          ? Status(Code::kSandboxUnavailable,
                   "it did not hand over the listener of its filter")
          : sandbox::CheckEveryThread(zygote_pidfd_.get(),
                                      sandbox::kStage1Filters);
  if (checked.ok()) {
    checked = sandbox::CheckLoaded(zygote_pidfd_.get(), loading_);
    // Asked for more than it may have, like a backend that lacks a grant.
    declined_ = !checked.ok();
  }
  const std::string refusal = declined_ ? "it had too much memory mapped"
                                        : "its lock-down was incomplete";
  if (!checked.ok()) return Refuse(std::move(checked), refusal);
  tasks_->add(HoldFiles().then([this](Status held) {
    if (readiness_) return;
    // What has no memory any more is not refused for what it cannot show.
    if (!held.ok() && IsEnding()) return;
    declined_ = held.code() == Code::kBackendUnavailable;
    if (!held.ok()) return Refuse(std::move(held), "its files were not held");
    ResolveReadiness(Status());
  }));
}

void Incarnation::Refuse(Status status, std::string reason) {
  // The zygote is dead. Its end, which carries the reason, is reported anyway.
  if (status.code() == Code::kBackendLost) return;
  ResolveReadiness(std::move(status));
  KillZygote(Code::kBackendLost, std::move(reason));
}

kj::Promise<Status> Incarnation::HoldFiles() {
  // A driver's mappings are not files, and may be as large as the device.
  if (loading_.maps_devices || !expected_calls_.reads_memory()) return Status();
  const pid_t zygote = PidOf(zygote_pidfd_.get());
  const auto mappings = sandbox::FileMappings(zygote);
  if (!mappings || mappings->empty()) {
    return Status(Code::kSandboxUnavailable,
                  "/proc does not show what its process maps");
  }
  Status added = expected_calls_.held_files().Add(
      zygote, *mappings, kMostHeldBytes, sandbox::HeldFiles::When::kFirst);
  if (!added.ok()) return added;
  return HoldRemaining();
}

bool Incarnation::IsEnding() const {
  if (HasEnded(zygote_pidfd_.get())) return true;
  const auto mappings = sandbox::FileMappings(PidOf(zygote_pidfd_.get()));
  return mappings && mappings->empty();
}

kj::Promise<Status> Incarnation::HoldRemaining() {
  const auto done = expected_calls_.held_files().Step();
  if (!done) return done.error();
  if (*done) return Status();
  // A timer and not evalLater(): kj polls descriptors only when nothing is
  // ready.
  return timer_.afterDelay(0 * kj::SECONDS).then([this] {
    return HoldRemaining();
  });
}

void Incarnation::ResolveReadiness(Status status) {
  readiness_ = std::move(status);
  if (ready_) ready_->fulfill(Status(*readiness_));
}

void Incarnation::KillZygote(Code code, std::string reason) {
  // Set before the reaper reports the SIGKILL, which would otherwise look like
  // one that others sent.
  zygote_end_ = std::move(reason);
  zygote_killed_for_ = code;
  if (zygote_pidfd_) SignalZygote(SIGKILL);
  OnZygoteGone(code);
}

void Incarnation::OnZygoteGone(Code code) {
  zygote_alive_ = false;
  if (zygote_exit_ && zygote_end_.empty()) {
    if (zygote_claim_) AddClaim(*std::move(zygote_claim_), *zygote_exit_);
    zygote_end_ = DescribeExit(*zygote_exit_);
  }
  const Status lost(
      code, "the backend's zygote died" +
                (zygote_end_.empty() ? std::string() : ": " + zygote_end_));
  if (!readiness_) {
    ResolveReadiness(Status(Code::kBackendUnavailable,
                            zygote_end_.empty()
                                ? "its process died while loading"
                                : zygote_end_ + " while loading"));
  }
  FailPending(lost);
  EndStrangers();
  gone_.fulfiller->fulfill();
}

void Incarnation::OnReaperGone() {
  LookAtReaper();
  // A reaper that cannot be spoken to neither reaps nor reports.
  if (reaper_alive_) KillReaper();
  if (!zygote_exit_ && zygote_end_.empty()) {
    zygote_lost_ = true;
    if (reaper_exit_) {
      zygote_end_ = "its reaper, without which nothing of it can run, ended: " +
                    DescribeExit(ToReport(*reaper_exit_));
    }
  }
  OnZygoteGone();
  for (auto& [pid, watched] : watched_) {
    // Closes the worker's end of its socket, which it may not have got yet:
    // whoever waits for its hello learns of its end by that.
    expected_calls_.Forget(pid);
    if (watched.end.kind != ProcessExit::Kind::kRunning) continue;
    // The kernel ended the worker together with its pid 1, by SIGKILL. Nobody
    // is to blame. Whoever killed the reaper by the same signal has killed the
    // worker: a kernel without memory, or an operator.
    watched.end = {.kind = ProcessExit::Kind::kUnknown};
    if (reaper_exit_ && IsForeignKill(*reaper_exit_)) {
      watched.end = *reaper_exit_;
    }
    watched.Resolve();
  }
}

void Incarnation::OnReaperHangs(const std::string& why) {
  zygote_lost_ = true;
  zygote_end_ = why;
  OnReaperGone();
}

void Incarnation::LookAtReaper() {
  // What is left for waitid() below to reap, or was looked at before.
  siginfo_t end = {};
  if (!reaper_alive_ || reaper_exit_ || killed_reaper_ ||
      ::waitid(static_cast<idtype_t>(P_PIDFD),
               static_cast<id_t>(reaper_pidfd_.get()), &end,
               WEXITED | WNOHANG | WNOWAIT | __WALL) != 0 ||
      end.si_pid == 0) {
    return;
  }
  ProcessExit exit;
  exit.kind = end.si_code == CLD_EXITED ? ProcessExit::Kind::kExited
                                        : ProcessExit::Kind::kSignaled;
  exit.value = end.si_status;
  reaper_exit_ = exit;
}

bool Incarnation::RanOutBeforeLoading() {
  if (!before_loading()) return false;
  (void)log_.Read();
  return SaysExhausted(log_.text());
}

ExitReport Incarnation::zygote_report() const {
  if (!zygote_killed_for_) return zygote_exit_.value_or(ExitReport());
  ExitReport report;
  if (*zygote_killed_for_ == Code::kBackendMisbehaved) {
    report.kind = ExitReport::Kind::kProtocolViolation;
  }
  return report;
}

kj::Promise<void> Incarnation::ReapReaper() {
  return reaper_observer_.whenBecomesReadable().then([this] {
    LookAtReaper();
    ::waitid(static_cast<idtype_t>(P_PIDFD), reaper_pidfd_.get(), nullptr,
             WEXITED | __WALL);
    reaper_alive_ = false;
    OnReaperGone();
  });
}

}  // namespace bulkhead::supervisor
