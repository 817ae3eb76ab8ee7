// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/incarnation.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <utility>
#include <vector>

#include "core/base/application_limits.h"
#include "core/supervisor/sandbox/child_processes.h"
#include "core/supervisor/sandbox/thread_status.h"

namespace bulkhead::backend {

Incarnation::Incarnation(kj::UnixEventPort& port,
                         sandbox::LaunchedReaper launched,
                         sandbox::Forbidden forbidden,
                         sandbox::ExpectedCalls expected,
                         const sandbox::LoadedMemory& loading,
                         EndingReapers& ending, bool& met_media)
    : timer_(port.getTimer()),
      forbidden_(forbidden),
      expected_calls_(std::move(expected)),
      loading_(loading),
      met_media_(met_media),
      tasks_(new kj::TaskSet(*this)),
      reaper_(new ReaperLink(port, launched.pid, std::move(launched.pidfd),
                             std::move(launched.control),
                             std::move(launched.cgroup), ending, *tasks_,
                             *this)),
      zygote_(port, std::move(launched.zygote_control), forbidden,
              expected_calls_, loading_, *tasks_, *this),
      log_(port, std::move(launched.log)),
      workers_(timer_),
      clones_(port, zygote_, *reaper_, workers_, expected_calls_, loading_,
              *tasks_, *this) {
  if (met_media_) log_.ExpectMedia();
  tasks_->add(reaper_->Serve());
  tasks_->add(zygote_.Serve());
  tasks_->add(log_.Drain());
  tasks_->add(reaper_->Reap());
}

Incarnation::~Incarnation() noexcept(false) {
  tasks_.reset();
  // The reaper goes before the listener of the filter: once the listener is
  // closed, system calls that wait for bulkheadd return.
  reaper_.reset();
}

void Incarnation::taskFailed(kj::Exception&&) {
  // Only failures of kj itself arrive here, and nothing can be served after
  // them.
  reaper_->GiveUp();
}

void Incarnation::OnStarted(pid_t zygote, ipc::UniqueFd pidfd) {
  zygote_.OnStarted(zygote, std::move(pidfd));
}

void Incarnation::OnWatched(pid_t pid, ipc::UniqueFd pidfd) {
  clones_.OnWatched(pid, std::move(pidfd));
}

void Incarnation::OnRefused(pid_t pid) { clones_.OnRefused(pid); }

void Incarnation::OnStarved(pid_t pid) {
  const Status starved(
      Code::kResourceExhausted,
      "its reaper cannot send a descriptor: other programs of this user have "
      "too many in flight through sockets; try again");
  if (zygote_.inner_pid() == 0) return zygote_.OnStarved(starved);
  clones_.OnStarved(pid, starved);
}

void Incarnation::OnExited(pid_t pid, int wait_status) {
  blame::ProcessExit exit =
      blame::ToProcessExit(wait_status, zygote_.TakeViolation(pid));
  if (exit.kind == blame::ProcessExit::Kind::kSignaled &&
      exit.value == SIGKILL && reaper_->TakeOutOfMemoryKill()) {
    exit.kind = blame::ProcessExit::Kind::kOutOfMemory;
  }
  if (pid == zygote_.inner_pid()) return zygote_.OnExited(std::move(exit));
  expected_calls_.Forget(pid);
  workers_.NoteForgottenEnd(pid);
  if (forbidden_ == sandbox::Forbidden::kKill) EndStrangers();
  if (!workers_.Watches(pid)) return clones_.OnExited(pid);
  exit.zygote_alive = zygote_.runs();
  exit.has_devices = loading_.maps_devices;
  workers_.NoteEnd(pid, std::move(exit));
}

void Incarnation::OnReaperGone() {
  zygote_.OnReaperGone(reaper_->exit());
  // Closes the ends of sockets that workers have not received yet, so that
  // whoever waits for the hello of such a worker sees the socket close.
  for (const pid_t pid : workers_.pids()) expected_calls_.Forget(pid);
  workers_.NoteEndOfReaper(reaper_->exit());
}

Status Incarnation::OnCloned(ipc::schema::Cloned::Reader cloned_untrusted) {
  return clones_.OnCloned(cloned_untrusted);
}

Status Incarnation::OnCloneFailed(
    ipc::schema::CloneFailed::Reader failed_untrusted) {
  return clones_.OnCloneFailed(failed_untrusted);
}

void Incarnation::OnZygoteGone(const Status& lost) {
  clones_.Fail(lost);
  EndStrangers();
}

void Incarnation::OnCloneAsked() {
  zygote_.Continue();
  StopIdleZygote();
}

void Incarnation::OnCloneAnswered() { StopIdleZygote(); }

bool Incarnation::RanOutBeforeLoading() {
  if (!before_loading()) return false;
  (void)log_.Read();
  return SaysExhausted(log_.text());
}

Status Incarnation::ConfirmWorker(const Worker& worker) {
  Status checked =
      sandbox::CheckEveryThread(worker.pidfd.get(), sandbox::kStage2Filters);
  if (checked.ok()) checked = sandbox::CheckSignals(worker.pidfd.get());
  if (checked.ok()) {
    checked = sandbox::CheckMemoryLimits(worker.pidfd.get(), worker.memory);
  }
  if (checked.ok()) {
    log_.ExpectMedia();
    met_media_ = had_media_ = true;
    StopIdleZygote();
  }
  if (checked.code() == Code::kSandboxUnavailable) KillWorker(worker.pid);
  // With kKill no system call waits for bulkheadd, so the zygote may have
  // cloned processes that nobody asked for.
  if (forbidden_ == sandbox::Forbidden::kKill) EndStrangers();
  return checked;
}

void Incarnation::StopIdleZygote() {
  // The threads of a driver may have to serve a device.
  if (!had_media_ || zygote_.stopped() || loading_.maps_devices) return;
  const kj::TimePoint until = clones_.AwaitedUntil();
  if (until > timer_.now()) {
    // Somebody waits for an answer, which the zygote may withhold on purpose.
    // So it is stopped at the latest at the end of that wait. The next call
    // runs in tasks_ and not in stopping_, which it may replace.
    stopping_ = timer_.atTime(until)
                    .then([this] {
                      tasks_->add(kj::evalLater([this] { StopIdleZygote(); }));
                    })
                    .eagerlyEvaluate(nullptr);
    return;
  }
  zygote_.Stop();
  if (expected_calls_.clones_under_way() == 0) return;
  // A clone that was approved a moment ago may not exist yet, so strangers are
  // ended now and once more a moment later.
  EndStrangers();
  tasks_->add(timer_.afterDelay(ReaperLink::kStarvedPause).then([this] {
    if (zygote_.stopped()) EndStrangers();
  }));
}

void Incarnation::EndStrangers() {
  // The pid of a reaped reaper may be another process's.
  if (!reaper_->alive()) return;
  std::vector<ipc::UniqueFd> strangers;
  for (auto& [pid, pidfd] : sandbox::ChildrenOf(reaper_->pid())) {
    if (pid == zygote_.inner_pid() || workers_.Knows(pid) ||
        clones_.Names(pid)) {
      continue;
    }
    strangers.push_back(std::move(pidfd));
  }
  // Clones that were approved but are not named yet are among the strangers.
  // They may live while the zygote runs. A stopped zygote was late with their
  // names. Then they are ended too, since they could watch the workers that
  // have media.
  const size_t unnamed =
      zygote_.alive() ? expected_calls_.clones_under_way() : 0;
  const size_t may_live = zygote_.stopped() ? 0 : unnamed;
  if (strangers.size() <= may_live) return;
  // Nobody knows which of too many are the clones, so all are ended.
  for (const ipc::UniqueFd& stranger : strangers) {
    ::syscall(SYS_pidfd_send_signal, stranger.get(), SIGKILL, nullptr, 0);
  }
  if (zygote_.alive() && strangers.size() > unnamed) {
    KillZygote(Code::kBackendMisbehaved,
               "it made a process that it did not name");
  }
}

}  // namespace bulkhead::backend
