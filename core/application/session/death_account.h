// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/application/supervisor_link/exit_verdict.h"
#include "core/control/input_position.h"
#include "core/include/bulkhead/crashes.h"
#include "core/include/bulkhead/host_options.h"
#include "core/include/bulkhead/status.h"

namespace bulkhead::session {

// Where in its input a session is, how many of its workers have died there, and
// whether another worker is worth trying. Holds everything that WorkerRecovery
// decides about a death; starts, sends and asks nothing, so that each decision
// can be tested by itself.
//
// A session has no more states than these three positions:
//
//   no worker has the stream open            opening, whatever was asked for
//   the caller waits for the index           scanning
//   anything else                            at the frame that the caller
//                                            waits for; a sample, of audio
//
// A death is decided as follows; the first line that applies counts.
//
//   the worker broke the protocol            give up: kBackendMisbehaved
//   as many blamed deaths as attempts        give up, with the code of
//                                            whatever is to blame
//   more innocent deaths than restarts       give up: kBackendLost
//   otherwise                                try again with another worker
//
// Not thread-safe.
class DeathAccount {
 public:
  using Step = Crash::Request::Kind;

  explicit DeathAccount(const Limits& limits)
      : attempts_(limits.attempts_per_position),
        restarts_(limits.restarts_per_position) {}

  // What the caller asked the session for.
  void Ask(Step step) { asked_ = step; }
  Step asked() const { return asked_; }
  // The number of the frame or sample that the caller waits for.
  void Want(uint64_t frame) { wanted_ = frame; }
  uint64_t wanted() const { return wanted_; }
  // A worker that lives has the stream open; no worker has.
  void Opened() { opened_ = true; }
  void Closed() { opened_ = false; }
  // What a death that happens now is counted for.
  InputPosition position() const;

  // The number of the attempt that is being made at the position, from 1 on.
  uint32_t attempt() const { return blamed_ + innocent_ + 1; }

  // The error that ends the attempts. `reason` continues the message that says
  // what died ("given up after 3 attempts, ..."); empty if that says it all.
  struct GivenUp {
    Code code;
    std::string reason;
  };
  // Counts a death of which the session saw `death` and bulkheadd said
  // `verdict`. Returns nullopt if another worker is to do the step again.
  std::optional<GivenUp> Count(Code death, const ExitVerdict& verdict);

  // True if something was blamed for deaths since the last progress: then a
  // frame that is delivered all the same acquits the input.
  bool blamed() const { return blamed_ > 0; }
  // A frame was delivered: what died before it counts no longer.
  void Progressed();

 private:
  const uint32_t attempts_;
  const uint32_t restarts_;
  Step asked_ = Step::kOpen;
  bool opened_ = false;
  uint64_t wanted_ = 0;
  uint32_t blamed_ = 0;
  uint32_t innocent_ = 0;
};

}  // namespace bulkhead::session
