// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/records/crash_recorder.h"

#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/clean_text.h"
#include "core/base/pidfd.h"
#include "core/control/exit_report.h"

namespace bulkhead::records {
namespace {

using std::chrono::duration_cast;
using std::chrono::milliseconds;

constexpr size_t kMaxWords = 512;
constexpr size_t kMaxLines = 40;
// The most reads of each log for the process's last output, since the event
// loop waits for them.
constexpr int kMaxLogReads = 4;

const char* NameOf(blame::Culprit culprit) {
  switch (culprit) {
    case blame::Culprit::kInput:
      return "input";
    case blame::Culprit::kBackend:
    case blame::Culprit::kBreach:
      return "backend";
    case blame::Culprit::kDevice:
      return "device";
    case blame::Culprit::kStart:
      return "start";
    case blame::Culprit::kNobody:
      break;
  }
  return "nobody";
}

std::string Now() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  const int64_t ms = duration_cast<milliseconds>(now).count();
  const time_t seconds = ms / 1000;
  tm utc = {};
  ::gmtime_r(&seconds, &utc);
  std::array<char, 32> text = {};
  ::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  // "1" and three digits, with leading zeros.
  const std::string fraction = std::to_string(1000 + ms % 1000);
  return std::string(text.data()) + "." + fraction.substr(1) + "Z";
}

std::string ProgramOf(pid_t pid) {
  std::array<char, 4096> path;
  const std::string link = "/proc/" + std::to_string(pid) + "/exe";
  const ssize_t bytes = ::readlink(link.c_str(), path.data(), path.size());
  if (bytes <= 0) return "";
  return CleanText({path.data(), static_cast<size_t>(bytes)}, path.size());
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  if (lines.size() > kMaxLines) {
    lines.erase(lines.begin(), lines.end() - kMaxLines);
  }
  return lines;
}

// Describes an end without the process's own claims. Those may contain parts of
// the media, and the record has a separate place for them.
std::string DescribeWithoutClaims(ExitReport end) {
  end.claimed_backtrace.clear();
  return DescribeExit(end);
}

}  // namespace

CrashRecorder::CrashRecorder(const std::string& state_directory,
                             int application)
    : store_(state_directory), directory_(state_directory) {
  application_.pid = PidOf(application);
  application_.program = ProgramOf(application_.pid);
}

CrashRecorder::~CrashRecorder() { AddUnrecorded(); }

bool CrashRecorder::IsWorthy(const blame::ProcessExit& exit,
                             blame::Culprit culprit) {
  if (culprit != blame::Culprit::kNobody) return true;
  return !blame::IsForeignKill(exit) && !exit.told;
}

uint64_t CrashRecorder::RecordWorker(const EndedBackend& backend,
                                     const SessionFacts& facts,
                                     blame::Culprit culprit, ExitReport end) {
  Crash crash;
  crash.device = facts.device;
  crash.process = "worker";
  crash.blamed = NameOf(culprit);
  crash.cause = facts.cause.empty() ? DescribeWithoutClaims(end) : facts.cause;
  crash.claims_cause = facts.claims_cause;
  crash.end = std::move(end);
  crash.end.position = facts.position;
  crash.input = facts.input;
  crash.request = facts.request;
  crash.last_message = facts.last_message;
  crash.attempt = facts.attempt;
  return Record(backend, std::move(crash));
}

uint64_t CrashRecorder::RecordStart(const EndedBackend& backend, bool probing,
                                    blame::Culprit culprit,
                                    const Status& cause) {
  if (culprit == blame::Culprit::kNobody) return 0;
  Crash crash;
  crash.process = probing ? "worker" : "zygote";
  crash.blamed = NameOf(culprit);
  crash.cause = cause.message();
  if (cause.exit_report()) {
    crash.end = *cause.exit_report();
  } else if (cause.code() == Code::kDeadlineExceeded) {
    crash.end.kind = ExitReport::Kind::kDeadline;
  } else if (cause.code() == Code::kBackendMisbehaved) {
    crash.end.kind = ExitReport::Kind::kProtocolViolation;
  } else {
    crash.end = backend.zygote_report;
  }
  crash.request.deadline_ms = backend.deadline_ms;
  crash.outcome = CodeName(Code::kBackendUnavailable);
  return Record(backend, std::move(crash));
}

uint64_t CrashRecorder::RecordZygote(const EndedBackend& backend) {
  Crash crash;
  crash.process = "zygote";
  crash.blamed = NameOf(blame::Culprit::kBackend);
  crash.end = backend.zygote_report;
  crash.cause = crash.end.claimed_backtrace.empty()
                    ? backend.zygote_end
                    : DescribeWithoutClaims(crash.end);
  crash.request.deadline_ms = backend.deadline_ms;
  return Record(backend, std::move(crash));
}

uint64_t CrashRecorder::Record(const EndedBackend& backend, Crash crash) {
  unseen_.clear();
  if (!store_.enabled()) return 0;
  if (!TakeAllowance()) {
    ++unrecorded_;
    ++skipped_;
    unseen_ = "; no record of it was made, since there were too many at once";
    return 0;
  }
  const discovery::BackendCandidate& candidate = backend.candidate;
  crash.time = Now();
  crash.application = application_;
  crash.backend = {.name = candidate.name(),
                   .distribution = candidate.entry_point.distribution,
                   .version = candidate.entry_point.version,
                   .directory = candidate.directory,
                   .file = candidate.directory + "/" + candidate.plugin_path,
                   .hash = candidate.plugin_hash,
                   .bytes = candidate.plugin_identity.bytes,
                   .modified_ns = candidate.plugin_identity.modified_ns};
  crash.tier = static_cast<SandboxTier>(backend.tier);
  if (backend.log) {
    crash.incarnation = backend.life;
    LogTail& log = *backend.log;
    LogTail& media_log = backend.worker_log ? *backend.worker_log : log;
    for (LogTail* read : {&log, &media_log}) {
      for (int i = 0; i < kMaxLogReads && read->Read(); ++i) {
      }
    }
    crash.had_media = log.expects_media();
    crash.log = LinesOf(log.text());
    crash.media_log = LinesOf(media_log.media_text());
  }
  crash.unrecorded = unrecorded_;
  // The outcome of a failed start is known now; the outcome of a session comes
  // later.
  const bool known = !crash.outcome.empty();
  const auto number = store_.Add(std::move(crash));
  if (!number) {
    ++lost_;
    ++unrecorded_;
    last_loss_ = number.error();
    unseen_ = "; no record of it could be kept: " + last_loss_.message();
    return 0;
  }
  unrecorded_ = 0;
  latest_ = *number;
  if (!known) open_.insert(*number);
  // Forgets the oldest, whose outcome the application never reported.
  if (open_.size() > crashes::CrashStore::kMaxRecords) {
    open_.erase(open_.begin());
  }
  return *number;
}

std::string CrashRecorder::See(uint64_t crash) const {
  return crash == 0 ? unseen_ : SeeCrash(crash);
}

std::optional<Diagnostic> CrashRecorder::problem() const {
  std::string text;
  if (skipped_ > 0) {
    text = std::to_string(skipped_) + " of the crashes have no record, since " +
           "there were too many at once (" + std::to_string(kAtOnce) +
           ", then one every " + std::to_string(kPause.count()) +
           " s); the records there are show the same trouble";
  }
  if (lost_ > 0) {
    text += (text.empty() ? "" : ". ") + std::to_string(lost_) +
            (lost_ == 1 ? " record of a crash is" : " records of crashes are") +
            " lost: " + last_loss_.message() +
            "; make room or make it writable, or name another directory by "
            "BULKHEAD_STATE_DIR";
  }
  if (text.empty()) return std::nullopt;
  return Diagnostic{Diagnostic::Severity::kWarning, directory_, 0, text};
}

void CrashRecorder::AddUnrecorded() {
  if (unrecorded_ == 0 || latest_ == 0) return;
  // Fails if the record was removed, or the directory is full.
  const Status added = store_.AddUnrecorded(latest_, unrecorded_);
  if (added.ok()) unrecorded_ = 0;
}

void CrashRecorder::SetOutcome(uint64_t crash, const std::string& outcome) {
  if (open_.erase(crash) == 0) return;
  // Fails if somebody has removed the record, which is their right.
  (void)store_.SetOutcome(crash, CleanText(outcome, kMaxWords));
  // After the storm there may be no further record that could contain the
  // number.
  AddUnrecorded();
}

bool CrashRecorder::TakeAllowance() {
  const Time now = std::chrono::steady_clock::now();
  // Advances by whole pauses only, so that a part of a pause counts later.
  const auto earned = (now - refilled_) / kPause;
  refilled_ += earned * kPause;
  allowance_ =
      static_cast<uint32_t>(std::min<int64_t>(kAtOnce, allowance_ + earned));
  if (allowance_ == 0) return false;
  --allowance_;
  return true;
}

}  // namespace bulkhead::records
