// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace bulkhead::ipc {

// The closed set of reasons why a call into Bulkhead fails. Each code is
// defined by what the caller should do next. The values travel between
// processes (ErrorCode in schema/types.capnp lists them in the same order) and
// bulkhead::Code mirrors them. New codes are therefore only appended.
enum class Code : uint16_t {
  kInvalidArgument = 0,      // fix the call
  kNotFound = 1,             // name something that exists
  kOutOfRange = 2,           // ask for a position that exists
  kBadInput = 3,             // the file is damaged: fix or skip it
  kPoisonedInput = 4,        // the file kills workers: skip it
  kUnsupported = 5,          // choose another backend or file
  kBackendUnavailable = 6,   // the backend cannot be started: see its cause
  kBackendLost = 7,          // the worker died: retry
  kBackendMisbehaved = 8,    // the worker broke the protocol: do not retry
  kDeadlineExceeded = 9,     // the worker was too slow and was killed
  kResourceExhausted = 10,   // raise a limit or ask for less
  kSandboxUnavailable = 11,  // the machine cannot isolate as much as demanded
  kInternal = 12,            // our bug: report it
  kCancelled = 13,           // the caller's own wish: call again
};

// Describes one failure. `message` is for people: it says what failed, for
// which file, backend or position, and what to do next.
struct Error {
  Code code;
  std::string message;
};

template <typename T>
using Expected = tl::expected<T, Error>;

inline tl::unexpected<Error> Fail(Code code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

// Returns Fail(code, message) with ": " and the text of the errno value `error`
// appended to the message.
tl::unexpected<Error> FailErrno(Code code, std::string message, int error);

}  // namespace bulkhead::ipc
