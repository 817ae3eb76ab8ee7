// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/incarnations.h"

#include <sys/stat.h>

#include <utility>

#include "core/base/application_limits.h"
#include "core/supervisor/files/file_reach.h"

namespace bulkhead::backend {

Incarnations::Incarnations(const discovery::BackendCandidate& candidate,
                           unsigned number, const StartContext& context,
                           Owner& owner)
    : candidate_(candidate),
      number_(number),
      context_(context),
      counts_(context.counts.Of(candidate.name())),
      owner_(owner),
      failures_(candidate, context),
      devices_(candidate),
      session_launches_(
          context, [this](Incarnation& ended) { OnSessionZygoteGone(ended); }) {
}

void Incarnations::Start() {
  current_.reset();
  refused_tasks_ = context_.task_limits.Refusals();
  start_ = std::make_shared<BackendStart>(candidate_, number_, context_);
  starting_ = start_->Run()
                  .then([this, start = start_](Status status) {
                    return FinishStart(*start, status);
                  })
                  .fork();
}

kj::Promise<Status> Incarnations::AwaitStart() {
  return KJ_ASSERT_NONNULL(starting_).addBranch().then(
      [this, start = start_](Status status) -> kj::Promise<Status> {
        // A command ended this start, which is not the caller's concern: the
        // caller waits for the next start, or is refused.
        if (start->abandoned()) return owner_.EnsureReady();
        return status;
      });
}

kj::Promise<Status> Incarnations::FinishStart(BackendStart& start,
                                              const Status& status) {
  if (start.incarnation()) {
    start.incarnation()->set_life(++lives_);
    ++counts_.starts;
  }
  if (start.abandoned()) {
    // The state of the backend has moved on, perhaps to another start, so the
    // owner hears nothing of this one.
    start.TakeIncarnation().reset();
    return status;
  }
  if (status.ok()) return owner_.OnStarted();
  // A failed start leaves no process: this ends the incarnation on return.
  const auto launched = start.TakeIncarnation();
  if (start.quarantine()) {
    return owner_.OnQuarantineFound(
        {.code = status.code(), .text = status.message()});
  }
  return owner_.OnStartFailed(failures_.OfStart(start, status, launched.get()));
}

void Incarnations::Adopt() {
  current_ = start_->TakeIncarnation();
  devices_.Set(start_->devices());
  zygote_gone_ = current_->WhenZygoteGone()
                     .then([this, life = lives_] { OnZygoteGone(life); })
                     .eagerlyEvaluate(nullptr)
                     .fork();
}

void Incarnations::OnZygoteGone(uint32_t life) {
  // A later incarnation has taken its place.
  if (life != lives_ || !current_) return;
  const std::string& end = current_->zygote_end();
  context_.events.Add({.kind = bulkhead::Event::Kind::kZygoteEnded,
                       .backend = candidate_.name(),
                       .text = end.empty() ? "with its reaper" : end});
  owner_.OnZygoteEnded(*current_);
}

void Incarnations::Stop(Code code, const std::string& why) {
  if (start_ && start_->under_way()) start_->Abandon();
  if (current_ && current_->zygote_alive()) current_->KillZygote(code, why);
  session_launches_.KillZygotes(code, why);
}

bool Incarnations::GrantsOrLibrariesChanged() const {
  return start_ && (Granted().effective != start_->granted() ||
                    blame::LibrariesChangedNs() != start_->libraries_ns());
}

Granting Incarnations::Granted() const {
  return GrantTo(candidate_, context_.grants.Latest(),
                 start_ ? start_->hash_verdicts() : HashVerdicts());
}

bool Incarnations::RunsOnItsFile() const {
  // A zygote that runs a copy does not depend on the installed file, whose
  // inode may belong to another file by now. OnZygoteGone() handles a dead
  // zygote.
  return !(start_ && start_->runs_copy()) && current_ &&
         current_->zygote_alive();
}

bool Incarnations::ObjectIsOverwritten() const {
  struct stat now = {};
  if (!RunsOnItsFile() || ::stat(ObjectPath(candidate_).c_str(), &now) != 0) {
    return false;
  }
  const discovery::FileIdentity& loaded = candidate_.plugin_identity;
  const int64_t modified_ns =
      int64_t{now.st_mtim.tv_sec} * 1'000'000'000 + now.st_mtim.tv_nsec;
  // Another inode is a file renamed into place, which leaves the old object's
  // pages to whoever has mapped them.
  return now.st_dev == loaded.device && now.st_ino == loaded.inode &&
         (now.st_size != loaded.bytes || modified_ns != loaded.modified_ns);
}

std::vector<std::string> Incarnations::DescribeAccess(
    Diagnostics& diagnostics) const {
  if (candidate_.usable() && !candidate_.built_in &&
      context_.places.Answered(candidate_.directory)) {
    const std::string obstacle =
        files::ObstacleToFiles(candidate_, context_.reach());
    if (!obstacle.empty()) {
      diagnostics.push_back({Diagnostic::Severity::kWarning,
                             ObjectPath(candidate_), 0, obstacle});
    }
  }
  const bool runs = owner_.IsReady();
  if (start_) {
    const Diagnostics& of_files = start_->diagnostics();
    diagnostics.insert(diagnostics.end(), of_files.begin(), of_files.end());
  }
  return DescribeGrants(candidate_, Granted(), context_.reach(),
                        runs ? &start_->granted() : nullptr, diagnostics);
}

kj::Promise<Incarnations::ForOne> Incarnations::ForSession() {
  // Between EnsureReady() and here the zygote may have ended, and another start
  // may have begun. A session that gets kBackendLost tries again.
  const bool exec = StartsByExec(candidate_);
  if (!current_ || (exec && !owner_.IsReady())) {
    return ForOne(
        Status(Code::kBackendLost,
               "the backend " + candidate_.name() + " is being started anew"));
  }
  if (!exec) return ForOne(current_);
  return session_launches_.Launch(start_->launch(), lives_)
      .then([this, start = start_](SessionLaunches::Outcome outcome) {
        return JudgeLaunch(*start, std::move(outcome));
      });
}

kj::Promise<Incarnations::ForOne> Incarnations::JudgeLaunch(
    const BackendStart& start, SessionLaunches::Outcome outcome) {
  // A command, a failure or a successor has ended that start meanwhile, so the
  // outcome says nothing about the backend.
  if (start_.get() != &start || !owner_.IsReady() || !current_) {
    return ForOne(Status(Code::kBackendLost, "the backend " +
                                                 candidate_.name() +
                                                 " was ended while a session "
                                                 "loaded it"));
  }
  if (outcome.files_changed) return AwaitSuccessor();
  if (outcome.status.ok()) return ForOne(std::move(outcome.incarnation));
  // Nobody is to blame if nothing was launched, or if other programs of the
  // user have too many descriptors in flight.
  if (!outcome.incarnation ||
      outcome.status.code() == Code::kResourceExhausted) {
    return ForOne(NamingLimits(outcome.status));
  }
  if (outcome.incarnation->RanOutBeforeLoading()) {
    return ForOne(
        failures_.OfExhaustedLoad(start, outcome.status, *outcome.incarnation));
  }
  if (outcome.incarnation->zygote_lost()) {
    return ForOne(Status(Code::kBackendLost,
                         "the process that loaded the backend " +
                             candidate_.name() + " for a session was killed"));
  }
  return ForOne(CountAsFailedStart(
      failures_.OfLoad(start, outcome.status, *outcome.incarnation)));
}

kj::Promise<Incarnations::ForOne> Incarnations::AwaitSuccessor() {
  return owner_.AwaitSuccessor().then([this](Status replaced) -> ForOne {
    const std::string changed = "the files of the backend " +
                                candidate_.name() +
                                " changed, so that no session can load what "
                                "was started";
    // A session that gets kBackendLost tries again, and finds the successor.
    if (replaced.ok()) return Status(Code::kBackendLost, changed);
    return Status(replaced.code(), changed + "; " + replaced.message());
  });
}

Status Incarnations::CountAsFailedStart(const BackendCause& cause) {
  Status answer = owner_.OnLoadFailed(cause);
  // Whoever asks next gets the cause at once, as after any failed start.
  if (current_ && current_->zygote_alive()) {
    current_->KillZygote(Code::kBackendLost, cause.text);
  }
  current_.reset();
  return answer;
}

void Incarnations::OnSessionZygoteGone(Incarnation& ended) {
  // Nobody is to blame for a zygote of an earlier start, one that others have
  // killed, or one that was ended on purpose.
  if (ended.life() != lives_ || ended.zygote_lost() || !owner_.IsReady()) {
    return;
  }
  context_.events.Add({.kind = bulkhead::Event::Kind::kZygoteEnded,
                       .backend = candidate_.name(),
                       .text = ended.zygote_end()});
  owner_.OnZygoteEnded(ended);
}

}  // namespace bulkhead::backend
