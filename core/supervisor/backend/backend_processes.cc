// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/backend_processes.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "core/base/application_limits.h"
#include "core/grants/permissions.h"
#include "core/supervisor/files/file_reach.h"
#include "core/supervisor/files/missing_library.h"

namespace bulkhead::backend {

BackendProcesses::BackendProcesses(const discovery::BackendCandidate& candidate,
                                   unsigned number, const StartContext& context,
                                   Owner& owner)
    : candidate_(candidate),
      number_(number),
      context_(context),
      counts_(context.counts.Of(candidate.name())),
      owner_(owner),
      devices_(candidate),
      session_launches_(
          context, [this](Incarnation& ended) { OnSessionZygoteGone(ended); }) {
}

void BackendProcesses::Start() {
  current_.reset();
  refused_tasks_ = context_.task_limits.Refusals();
  start_ = std::make_shared<BackendStart>(candidate_, number_, context_);
  starting_ = start_->Run()
                  .then([this, start = start_](Status status) {
                    return FinishStart(*start, status);
                  })
                  .fork();
}

kj::Promise<Status> BackendProcesses::AwaitStart() {
  return KJ_ASSERT_NONNULL(starting_).addBranch().then(
      [this, start = start_](Status status) -> kj::Promise<Status> {
        // A command ended this start, which is not the caller's concern: the
        // caller waits for the next start, or is refused.
        if (start->abandoned()) return owner_.EnsureReady();
        return status;
      });
}

kj::Promise<Status> BackendProcesses::FinishStart(BackendStart& start,
                                                  const Status& status) {
  if (start.incarnation()) {
    start.incarnation()->set_life(++lives_);
    ++counts_.starts;
  }
  if (start.abandoned()) {
    // The state has moved on, perhaps to another start. Raise nothing.
    start.TakeIncarnation().reset();
    return status;
  }
  if (status.ok()) return owner_.OnStarted();
  // Whatever follows, a failed start leaves no process.
  const auto launched = start.TakeIncarnation();
  if (start.quarantine()) {
    return owner_.OnQuarantineFound(
        {.code = status.code(), .text = status.message()});
  }
  BackendCause cause{.text = DescribeFailure(status, launched.get(),
                                             start.culprit(), start.probing()),
                     .culprit = start.culprit()};
  const bool ran_out = !LowLimits().empty() && SaysExhausted(cause.text);
  if (cause.culprit == blame::Culprit::kNobody) {
    if (status.code() == Code::kResourceExhausted) cause.code = status.code();
    return owner_.OnStartFailed(cause);
  }
  cause.code = ran_out ? Code::kResourceExhausted
               : status.code() == Code::kSandboxUnavailable ||
                       status.code() == Code::kResourceExhausted ||
                       status.code() == Code::kNotFound
                   ? status.code()
                   : Code::kBackendUnavailable;
  return owner_.OnStartFailed(cause);
}

std::string BackendProcesses::DescribeFailure(
    const Status& cause, Incarnation* launched,
    std::optional<blame::Culprit> culprit, bool probing) {
  std::string text = cause.message();
  if (launched && !launched->log().text().empty()) {
    std::string log = launched->log().text();
    std::replace(log.begin(), log.end(), '\n', ' ');
    text += "; it wrote: " + log + files::PackageOfMissingLibrary(log);
  }
  const std::string low = LowLimits();
  if (!low.empty() && text.find(low) == std::string::npos) {
    text += "; " + RaiseTheLimits(low);
  }
  const auto missing =
      Missing(candidate_.manifest.permissions, Granted().effective);
  if (!missing.empty()) {
    text += "; it asks for what nobody granted: bulkhead grant " +
            candidate_.name() + " " + ToArguments(missing);
  }
  if (launched && culprit) {
    text += context_.crashes.See(context_.crashes.RecordStart(
        Ended(launched), probing, *culprit, cause));
  }
  return text;
}

void BackendProcesses::Adopt() {
  current_ = start_->TakeIncarnation();
  devices_.Set(start_->devices());
  zygote_gone_ = current_->WhenZygoteGone()
                     .then([this, life = lives_] { OnZygoteGone(life); })
                     .eagerlyEvaluate(nullptr)
                     .fork();
}

void BackendProcesses::OnZygoteGone(uint32_t life) {
  // A later incarnation has taken its place.
  if (life != lives_ || !current_) return;
  const std::string& end = current_->zygote_end();
  context_.events.Add({.kind = bulkhead::Event::Kind::kZygoteEnded,
                       .backend = candidate_.name(),
                       .text = end.empty() ? "with its reaper" : end});
  owner_.OnZygoteEnded(*current_);
}

void BackendProcesses::Stop(Code code, const std::string& why) {
  if (start_ && start_->under_way()) start_->Abandon();
  if (current_ && current_->zygote_alive()) current_->KillZygote(code, why);
  session_launches_.KillZygotes(code, why);
}

bool BackendProcesses::MayLackLess() const {
  return start_ && (Granted().effective != start_->granted() ||
                    blame::LibrariesChangedNs() != start_->libraries_ns());
}

records::EndedBackend BackendProcesses::Ended(Incarnation* incarnation) const {
  records::EndedBackend ended{
      .candidate = candidate_,
      .tier = context_.tier,
      .deadline_ms = static_cast<uint32_t>(context_.start_deadline.count())};
  if (incarnation) {
    ended.life = incarnation->life();
    ended.log = &incarnation->log();
    ended.zygote_report = incarnation->zygote_report();
    ended.zygote_end = incarnation->zygote_end();
  }
  return ended;
}

Granting BackendProcesses::Granted() const {
  return GrantTo(candidate_, context_.grants.Latest(),
                 start_ ? start_->hash_verdicts() : HashVerdicts());
}

bool BackendProcesses::RunsOnItsFile() const {
  // No file takes the pages of a copy away, and the inode that it was made from
  // may be the number of another file by now. A zygote that is dead already
  // raises its own end.
  return !(start_ && start_->runs_copy()) && current_ &&
         current_->zygote_alive();
}

bool BackendProcesses::ObjectIsOverwritten() const {
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

std::vector<std::string> BackendProcesses::DescribeAccess(
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

kj::Promise<BackendProcesses::ForOne> BackendProcesses::ForSession() {
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

kj::Promise<BackendProcesses::ForOne> BackendProcesses::JudgeLaunch(
    const BackendStart& start, SessionLaunches::Outcome outcome) {
  // The command, failure or successor that ended this start explains the
  // outcome, or makes it worthless.
  if (start_.get() != &start || !owner_.IsReady() || !current_) {
    return ForOne(Status(Code::kBackendLost, "the backend " +
                                                 candidate_.name() +
                                                 " was ended while a session "
                                                 "loaded it"));
  }
  if (outcome.files_changed) return AwaitSuccessor();
  if (outcome.status.ok()) return ForOne(std::move(outcome.incarnation));
  // Nobody is to blame while others of the user starve it of descriptors.
  if (!outcome.incarnation ||
      outcome.status.code() == Code::kResourceExhausted) {
    return ForOne(NamingLimits(outcome.status));
  }
  if (outcome.incarnation->RanOutBeforeLoading()) {
    return ForOne(Status(
        Code::kResourceExhausted,
        "a session could not load the backend " + candidate_.name() + ": " +
            DescribeFailure(outcome.status, outcome.incarnation.get(),
                            std::nullopt, /*probing=*/false)));
  }
  if (outcome.incarnation->zygote_lost()) {
    return ForOne(Status(Code::kBackendLost,
                         "the process that loaded the backend " +
                             candidate_.name() + " for a session was killed"));
  }
  return ForOne(FailStart(outcome.status, *outcome.incarnation));
}

kj::Promise<BackendProcesses::ForOne> BackendProcesses::AwaitSuccessor() {
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

Status BackendProcesses::FailStart(const Status& cause, Incarnation& launched) {
  // As at a start, nobody is to blame for what the backend declines by itself.
  std::optional<blame::Culprit> culprit = blame::Culprit::kStart;
  if (launched.declined() || launched.before_loading() ||
      cause.code() == Code::kSandboxUnavailable) {
    culprit.reset();
  }
  const std::string text =
      "a session could not load it: " +
      DescribeFailure(cause, &launched, culprit, /*probing=*/false);
  Status answer =
      owner_.OnLoadFailed({.code = cause.code() == Code::kSandboxUnavailable
                                       ? cause.code()
                                       : Code::kBackendUnavailable,
                           .text = text,
                           .culprit = culprit});
  // Whoever asks next gets the cause at once, as after any failed start.
  if (current_ && current_->zygote_alive()) {
    current_->KillZygote(Code::kBackendLost, text);
  }
  current_.reset();
  return answer;
}

void BackendProcesses::OnSessionZygoteGone(Incarnation& ended) {
  // Those of an earlier start, those that others have killed and those that
  // were ended on purpose count against nobody.
  if (ended.life() != lives_ || ended.zygote_lost() || !owner_.IsReady()) {
    return;
  }
  context_.events.Add({.kind = bulkhead::Event::Kind::kZygoteEnded,
                       .backend = candidate_.name(),
                       .text = ended.zygote_end()});
  owner_.OnZygoteEnded(ended);
}

}  // namespace bulkhead::backend
