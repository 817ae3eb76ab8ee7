// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "bulkhead/status.h"

namespace bulkhead {

// Something that happened to a backend or a session, as bulkheadd saw it.
struct Event {
  enum class Kind : uint8_t {
    kBackendState,   // of `backend`; `state` is the new one, `text` its reason
    kZygoteEnded,    // `text`: how; the backend starts another when needed
    kWorkerEnded,    // of `session`; `text` and `exit`: how
    kSessionOpened,  // also when it goes on in another worker
    kSessionClosed,
    kCommand,  // of an operator; `text`: which, and what came of it
  };

  uint64_t number = 0;  // from 1, without gaps for one bulkheadd
  std::chrono::system_clock::time_point time;
  Kind kind = Kind::kBackendState;
  int host_pid = 0;
  std::string backend;
  uint64_t session = 0;  // 0: it concerns none
  std::string device;
  std::string state;  // as BackendInfo has it
  std::string text;   // for people; may be empty
  std::optional<ExitReport> exit;
  // Events just before this one that were dropped, because nobody took them in
  // time.
  uint64_t lost = 0;
};

// "backend-state", "zygote-ended", …
const char* EventKindName(Event::Kind kind);

// Called with each event, one at a time, in order.
using EventObserver = std::function<void(const Event&)>;

}  // namespace bulkhead
