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
#include <vector>

namespace bulkhead {

// Why a call failed. The set is closed, and each code is defined by what the
// caller should do next. The values are part of the ABI.
enum class Code : uint16_t {
  kInvalidArgument = 0,      // Fix the call.
  kNotFound = 1,             // Name a file, device or backend that exists.
  kOutOfRange = 2,           // Ask for an index or a time that exists.
  kBadInput = 3,             // The file is damaged: repair or skip it.
  kPoisonedInput = 4,        // The file kills workers: skip it for good.
  kUnsupported = 5,          // Choose another backend, or convert the file.
  kBackendUnavailable = 6,   // It cannot be started: remove the stated cause.
  kBackendLost = 7,          // The worker died and replay gave up: retry.
  kBackendMisbehaved = 8,    // It broke the protocol: do not retry, report it.
  kDeadlineExceeded = 9,     // It was too slow and was killed: allow more time.
  kResourceExhausted = 10,   // Raise the limit that is named, or ask for less.
  kSandboxUnavailable = 11,  // Fix what `bulkhead doctor` says, or lower the
                             // configured floor knowingly.
  kInternal = 12,            // A bug of Bulkhead's: report it.
  kOk = 0xffff,              // Nothing failed. Never stored, never sent.
};

// The enumerator's spelling, for instance "kBadInput"; "unknown" for a value
// outside of the set. Static storage.
const char* CodeName(Code code);

// The exit status with which a command line program reports `code`:
// 0 done, 1 our bug, 2 fix the call, 3 fix the file or choose another backend,
// 4 the backend's fault or a limit, 5 no sandbox.
int ExitCodeFor(Code code);

// How a worker ended, where that is why a call failed.
struct ExitReport {
  enum class Kind : uint8_t {
    kUnknown,            // Nobody could learn it.
    kExited,             // `value` is the exit code.
    kSignaled,           // `value` is the signal.
    kSandboxViolation,   // Killed for a system call that its sandbox forbids.
    kDeadline,           // We killed it: its step took too long.
    kProtocolViolation,  // We killed it: what it sent is not allowed.
    kOutOfMemory,        // Its backend was at the limit of its memory.
  };

  std::string backend;
  std::string device;
  Kind kind = Kind::kUnknown;
  int value = 0;
  std::string position;  // Of the input, in words: "clip.mp4, frame 37".
  uint64_t crash = 0;    // Number of its record (crashes.h); 0: there is none.

  // Of a kSandboxViolation. True: what follows was told by the kernel, and is
  // no claim of the worker's. False: which call it was is not known.
  bool syscall_trusted = false;
  int syscall_number = 0;    // As it was passed, for instance 41.
  std::string syscall;       // "socket"; empty for a number without a name.
  std::string architecture;  // "x86_64", "i386" or "x32".
  int stage = 0;             // Of the lock-down: 1 or 2; 0 where not known.

  // Of a kSignaled, what the process itself said last, which may be a lie. The
  // address that it touched, and the calls that led there, innermost first:
  // "libacme.so+0x1f30 (acme_decode+0x12)". Empty where it said nothing.
  uint64_t claimed_address = 0;
  std::vector<std::string> claimed_backtrace;
};

// The outcome of a call that returns nothing else. Success is a null pointer
// and costs nothing; a failure is immutable and cheap to copy.
//
//   if (Status status = host.restart("cpu"); !status.ok()) {
//     std::cerr << status.message() << '\n';
//     return ExitCodeFor(status.code());
//   }
//
// Thread-safe as an int is: const calls from any thread.
class [[nodiscard]] Status {
 public:
  Status() = default;
  // kOk as a code makes an OK status and drops the message.
  Status(Code code, std::string message,
         std::optional<ExitReport> exit_report = std::nullopt) {
    if (code == Code::kOk) return;
    failure_ = std::make_shared<const Failure>(
        Failure{code, std::move(message), std::move(exit_report)});
  }

  bool ok() const { return failure_ == nullptr; }
  Code code() const { return ok() ? Code::kOk : failure_->code; }
  // What failed, on what, and what to do next. Empty when OK. Lives as long as
  // any copy of this status.
  const std::string& message() const;
  // Null unless a worker's end is the reason. Lives as message() does.
  const ExitReport* exit_report() const {
    return ok() || !failure_->exit_report ? nullptr : &*failure_->exit_report;
  }

  // The same failure with "`context`: " before its message; OK stays OK.
  Status WithContext(std::string_view context) const;

  // "kBadInput: clip.mp4 ends early", or "ok". For logs and tests.
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

// What Result::value() throws, for callers who prefer exceptions and for
// bindings. what() is the status' message.
class StatusError : public std::runtime_error {
 public:
  explicit StatusError(Status status)
      : std::runtime_error(status.message()), status_(std::move(status)) {}
  const Status& status() const noexcept { return status_; }

 private:
  Status status_;
};

// A T, or the Status that says why there is none; spelled as
// std::expected<T, Status> is. `*` and `->` require a value, error() requires
// that there is none.
//
//   Result<Frame> frame = decoder.frame_at(7);
//   if (!frame) return frame.error();
//   Show(*frame);
//
// Threads: as T.
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
  // An OK status says nothing about the missing value: it becomes kInternal.
  Result(Status error) : error_(std::move(error)) {  // NOLINT
    if (error_.ok()) error_ = Status(Code::kInternal, "OK without a value");
  }

  bool has_value() const { return value_.has_value(); }
  explicit operator bool() const { return has_value(); }

  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

  T& value() & { return Checked(), *value_; }
  const T& value() const& { return Checked(), *value_; }
  T&& value() && { return Checked(), *std::move(value_); }

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
