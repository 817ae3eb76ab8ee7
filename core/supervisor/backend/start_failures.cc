// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/start_failures.h"

#include <algorithm>
#include <cstdint>

#include "core/base/application_limits.h"
#include "core/grants/permissions.h"
#include "core/supervisor/files/missing_library.h"

namespace bulkhead::backend {
namespace {

// Returns the code for callers of a start that failed with `status`. `text` has
// the words of its processes, too.
Code CodeOf(const Status& status, const std::string& text) {
  if (!LowLimits().empty() && SaysExhausted(text)) {
    return Code::kResourceExhausted;
  }
  switch (status.code()) {
    case Code::kSandboxUnavailable:
    case Code::kResourceExhausted:
    case Code::kNotFound:
      return status.code();
    default:
      return Code::kBackendUnavailable;
  }
}

}  // namespace

BackendCause StartFailures::OfStart(const BackendStart& start,
                                    const Status& status,
                                    Incarnation* launched) const {
  BackendCause cause{.text = Describe(start, status, launched, start.culprit(),
                                      start.probing()),
                     .culprit = start.culprit()};
  if (cause.culprit == blame::Culprit::kNobody) {
    if (status.code() == Code::kResourceExhausted) cause.code = status.code();
    return cause;
  }
  cause.code = CodeOf(status, cause.text);
  return cause;
}

BackendCause StartFailures::OfLoad(const BackendStart& start,
                                   const Status& status,
                                   Incarnation& launched) const {
  // Nobody is to blame, as for a start, if the backend itself declined or none
  // of its code ran.
  std::optional<blame::Culprit> culprit = blame::Culprit::kStart;
  const bool no_sandbox = status.code() == Code::kSandboxUnavailable;
  if (launched.declined() || launched.before_loading() || no_sandbox) {
    culprit.reset();
  }
  return {
      .code = no_sandbox ? status.code() : Code::kBackendUnavailable,
      .text = "a session could not load it: " +
              Describe(start, status, &launched, culprit, /*probing=*/false),
      .culprit = culprit};
}

Status StartFailures::OfExhaustedLoad(const BackendStart& start,
                                      const Status& status,
                                      Incarnation& launched) const {
  return Status(Code::kResourceExhausted,
                "a session could not load the backend " + candidate_.name() +
                    ": " +
                    Describe(start, status, &launched, std::nullopt,
                             /*probing=*/false));
}

std::string StartFailures::Describe(const BackendStart& start,
                                    const Status& status, Incarnation* launched,
                                    std::optional<blame::Culprit> culprit,
                                    bool probing) const {
  std::string text = status.message();
  if (launched && !launched->log().text().empty()) {
    std::string log = launched->log().text();
    std::replace(log.begin(), log.end(), '\n', ' ');
    text += "; it wrote: " + log + files::PackageOfMissingLibrary(log);
  }
  const std::string low = LowLimits();
  if (!low.empty() && text.find(low) == std::string::npos) {
    text += "; " + RaiseTheLimits(low);
  }
  const Granting granting =
      GrantTo(candidate_, context_.grants.Latest(), start.hash_verdicts());
  const auto missing =
      Missing(candidate_.manifest.permissions, granting.effective);
  if (!missing.empty()) {
    text += "; it asks for what nobody granted: bulkhead grant " +
            candidate_.name() + " " + ToArguments(missing);
  }
  if (launched && culprit) {
    text += context_.crashes.See(context_.crashes.RecordStart(
        Ended(launched), probing, *culprit, status));
  }
  return text;
}

records::EndedBackend StartFailures::Ended(Incarnation* incarnation) const {
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

}  // namespace bulkhead::backend
