// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "bulkhead/exit_report.h"

namespace bulkhead {

// The reason why a call failed. The set is closed, and each code is defined by
// what the caller should do next. The numeric values are part of the ABI.
enum class Code : uint16_t {
  kInvalidArgument = 0,  // Fix the call.
  kNotFound = 1,         // Name a file, stream, device or backend that exists.
  kOutOfRange = 2,       // Ask for an index or a time that exists.
  kBadInput = 3,         // The file is damaged: repair or skip it.
  kPoisonedInput = 4,    // The file kills workers: skip it for good.
  kUnsupported = 5,      // Choose another backend, or convert the file.
  kBackendUnavailable = 6,   // The backend cannot be started: remove the cause
                             // that the message states.
  kBackendLost = 7,          // The worker died and replay gave up: retry.
  kBackendMisbehaved = 8,    // The backend broke the protocol: report it to its
                             // vendor, do not retry.
  kDeadlineExceeded = 9,     // The worker was too slow and was killed: allow
                             // more time.
  kResourceExhausted = 10,   // Raise the limit that the message names, or ask
                             // for less.
  kSandboxUnavailable = 11,  // Fix what `bulkhead doctor` reports, or lower the
                             // configured floor knowingly.
  kInternal = 12,            // A bug in Bulkhead: report it.
  kCancelled = 13,           // Another thread cancelled the call: call again
                             // when the result is wanted.
  kOk = 0xffff,              // Nothing failed. Never stored and never sent.
};

// Returns the enumerator's spelling, for instance "kBadInput", or "unknown" for
// a value outside the set. The string has static storage.
const char* CodeName(Code code);

// Returns the exit status with which a command line program reports `code`:
// 0 done, 1 a bug in Bulkhead, 2 fix the call, 3 fix the file or choose another
// backend, 4 a fault of the backend or a limit, 5 no sandbox, 130 cancelled (as
// a shell reports ^C).
int ExitCodeFor(Code code);

// The outcome of a call that returns no value. Success is a null pointer and
// costs nothing; a failure is immutable and cheap to copy.
//
//     if (Status status = host->Restart("cpu"); !status.ok()) {
//       std::cerr << status.message() << '\n';
//       return ExitCodeFor(status.code());
//     }
//
// Thread safety is as for an int: any number of threads may call const
// methods at the same time.
class [[nodiscard]] Status {
 public:
  Status() = default;  // OK.
  // Makes a failure. With Code::kOk, makes an OK status and drops the message.
  Status(Code code, std::string message,
         std::optional<ExitReport> exit_report = std::nullopt) {
    if (code == Code::kOk) return;
    failure_ = std::make_shared<const Failure>(
        Failure{code, std::move(message), std::move(exit_report)});
  }

  bool ok() const { return failure_ == nullptr; }
  Code code() const { return ok() ? Code::kOk : failure_->code; }
  // Returns the text for people: what failed, on which object, and what to do
  // next; empty if OK. The reference is valid as long as any copy of this
  // status exists.
  const std::string& message() const;
  // Returns the report of the worker's end if that end made the call fail, and
  // null if not. The pointer is valid as long as any copy of this status
  // exists.
  const ExitReport* exit_report() const {
    return ok() || !failure_->exit_report ? nullptr : &*failure_->exit_report;
  }

  // Returns the same failure with "`context`: " before its message. An OK
  // status stays OK.
  Status WithContext(std::string_view context) const;

  // Returns "kBadInput: clip.mp4 ends early", or "ok". For logs and tests.
  std::string ToString() const;

 private:
  struct Failure {
    Code code;
    std::string message;
    std::optional<ExitReport> exit_report;
  };

  std::shared_ptr<const Failure> failure_;
};

std::ostream& operator<<(std::ostream& out, const Status& status);

// The exception that Result::value() throws, for callers who prefer exceptions
// and for language bindings. what() returns Status::ToString(), the code and
// the message.
class StatusError : public std::runtime_error {
 public:
  explicit StatusError(Status status)
      : std::runtime_error(status.ToString()), status_(std::move(status)) {}
  const Status& status() const noexcept { return status_; }

 private:
  Status status_;
};

// A T, or the Status that says why there is none. The interface is as in
// std::expected<T, Status>: `*` and `->` require a value, error() requires an
// error, and value() throws StatusError if there is no value. Unlike in
// std::expected, `*` and value() of a temporary return the T by value, so that
// the T lives as long as the loop in `for (auto& device :
// host.Devices().value())`.
//
//     Result<Frame> frame = decoder.FrameAt(7);
//     if (!frame) return frame.error();
//     Show(*frame);
//
// Thread safety is as for T.
template <typename T>
class [[nodiscard]] Result {
  static_assert(!std::is_reference_v<T> && !std::is_same_v<T, Status>);

 public:
  using value_type = T;
  using error_type = Status;

  Result(T value) : value_(std::move(value)) {}  // NOLINT: as std::expected
  template <typename U>
  requires std::is_convertible_v<U&&, T> &&
      (!std::is_same_v<std::remove_cvref_t<U>, T>)&&(
          !std::is_convertible_v<
              U&&, Status>)&&(!std::is_same_v<std::remove_cvref_t<U>, Result>)
          Result(U&& value)
      : value_(std::forward<U>(value)) {}  // NOLINT
  // Makes an error. An OK status cannot explain a missing value, so it becomes
  // kInternal.
  Result(Status error) : error_(std::move(error)) {  // NOLINT
    if (error_.ok()) error_ = Status(Code::kInternal, "OK without a value");
  }

  bool has_value() const { return value_.has_value(); }
  explicit operator bool() const { return has_value(); }

  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

  T& value() & { return Checked(), *value_; }
  const T& value() const& { return Checked(), *value_; }
  T value() && { return Checked(), *std::move(value_); }

  template <typename U>
  T value_or(U&& other) const& {
    return value_.value_or(std::forward<U>(other));
  }
  template <typename U>
  T value_or(U&& other) && {
    return std::move(value_).value_or(std::forward<U>(other));
  }

  const Status& error() const& { return error_; }
  Status&& error() && { return std::move(error_); }

 private:
  void Checked() const {
    if (!has_value()) throw StatusError(error_);
  }

  std::optional<T> value_;
  Status error_;
};

}  // namespace bulkhead
