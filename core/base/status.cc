// SPDX-License-Identifier: Apache-2.0
#include "core/include/bulkhead/status.h"

namespace bulkhead {

const char* CodeName(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
      return "kInvalidArgument";
    case Code::kNotFound:
      return "kNotFound";
    case Code::kOutOfRange:
      return "kOutOfRange";
    case Code::kBadInput:
      return "kBadInput";
    case Code::kPoisonedInput:
      return "kPoisonedInput";
    case Code::kUnsupported:
      return "kUnsupported";
    case Code::kBackendUnavailable:
      return "kBackendUnavailable";
    case Code::kBackendLost:
      return "kBackendLost";
    case Code::kBackendMisbehaved:
      return "kBackendMisbehaved";
    case Code::kDeadlineExceeded:
      return "kDeadlineExceeded";
    case Code::kResourceExhausted:
      return "kResourceExhausted";
    case Code::kSandboxUnavailable:
      return "kSandboxUnavailable";
    case Code::kInternal:
      return "kInternal";
    case Code::kCancelled:
      return "kCancelled";
    case Code::kOk:
      return "kOk";
  }
  return "unknown";
}

int ExitCodeFor(Code code) {
  switch (code) {
    case Code::kOk:
      return 0;
    case Code::kInvalidArgument:
    case Code::kNotFound:
    case Code::kOutOfRange:
      return 2;
    case Code::kBadInput:
    case Code::kPoisonedInput:
    case Code::kUnsupported:
      return 3;
    case Code::kBackendUnavailable:
    case Code::kBackendLost:
    case Code::kBackendMisbehaved:
    case Code::kDeadlineExceeded:
    case Code::kResourceExhausted:
      return 4;
    case Code::kSandboxUnavailable:
      return 5;
    case Code::kCancelled:
      return 130;
    case Code::kInternal:
      break;
  }
  return 1;
}

const std::string& Status::message() const {
  static const std::string empty;
  return ok() ? empty : failure_->message;
}

Status Status::WithContext(std::string_view context) const {
  if (ok()) return *this;
  return Status(failure_->code, std::string(context) + ": " + failure_->message,
                failure_->exit_report);
}

std::string Status::ToString() const {
  if (ok()) return "ok";
  return std::string(CodeName(code())) + ": " + message();
}

std::ostream& operator<<(std::ostream& out, const Status& status) {
  return out << status.ToString();
}

}  // namespace bulkhead
