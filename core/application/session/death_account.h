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

// What a session waits for. It has no more states than these three positions:
//
//   no worker has the stream open            opening, whatever was asked for
//   the caller waits for the index           scanning
//   anything else                            at the frame, or in audio at the
//                                            sample, that the caller waits for
struct Awaited {
  using Step = Crash::Request::Kind;

  Step asked = Step::kOpen;  // of the session, by the caller
  bool opened = false;       // a live worker has the stream open
  uint64_t wanted = 0;       // the frame or sample that the caller waits for
  // The death to be counted next happened to a worker that was at the frame
  // after the wanted one.
  bool ahead = false;

  // Returns the frame or sample for which a death that happens now is counted.
  uint64_t frame() const { return wanted + (ahead ? 1 : 0); }
  // Returns the position for which it is counted.
  InputPosition position() const;
};

// Says how many workers of a session have died where it is in its input, and
// whether another worker is worth trying. Holds everything that WorkerRecovery
// decides about a death; starts, sends and asks nothing, so that each decision
// can be tested by itself. A session whose workers all live has no use for it.
//
// A death is decided as follows; the first line that applies counts.
//
//   the worker broke the protocol            give up: kBackendMisbehaved
//   as many blamed deaths as attempts        give up, with the code of
//                                            whatever is to blame
//   a blamed death, and the call is overdue  give up: kDeadlineExceeded
//   more kills than allowed                  give up: kResourceExhausted if by
//                                            SIGKILL, kDeadlineExceeded if the
//                                            worker was stopped, else
//                                            kBackendLost
//   more innocent deaths than restarts       give up: kBackendLost
//   otherwise                                try again with another worker
//
// A worker may die over the frame after the one that the caller waits for,
// which it was still converting (VideoLink::was_ahead). The death is then
// counted for the frame after and never ends the attempts: the next worker,
// which converts each frame before it decodes on, gets the wanted one.
//
// A kill is an innocent death by a signal that Bulkhead did not send and no
// fault raises (IsRequestToEnd), or of a worker that was late since another
// process had stopped it. Most are SIGKILLs for memory: a kernel without
// free memory kills so, and its kill looks like an operator's. Each further
// worker would take the same memory and make the kernel kill again, perhaps
// another program.
//
// Not thread-safe.
class DeathAccount {
 public:
  explicit DeathAccount(const Limits& limits)
      : attempts_(limits.attempts_per_position),
        restarts_(limits.restarts_per_position),
        kills_allowed_(limits.kills_per_position) {}

  // Records that the caller waits for the frame or sample.
  void Want(uint64_t frame);

  // Returns the number, from 1 on, of the attempt that is being made.
  uint32_t attempt() const { return blamed_ + innocent_ + 1; }

  // The error that ends the attempts. `reason` is appended to the message about
  // the death ("given up after 3 attempts, ..."); empty if that message needs
  // no addition.
  struct GivenUp {
    Code code;
    std::string reason;
  };
  // Counts a death at `at`, and clears `at.ahead`. `death` is the code of the
  // error that the session got, `verdict` the answer of bulkheadd. `overdue`
  // says whether the call of the application has used up its time. Returns
  // nullopt if another worker is to repeat the step.
  std::optional<GivenUp> Count(Awaited& at, Code death,
                               const supervisor_link::ExitVerdict& verdict,
                               bool overdue = false);

  // Returns true if something was blamed for deaths since the last progress. A
  // frame that is delivered in spite of these deaths acquits the input.
  bool blamed() const { return blamed_ > 0; }
  // Records that a frame was delivered. Earlier deaths no longer count.
  void Progressed();

 private:
  const uint32_t attempts_;
  const uint32_t restarts_;
  const uint32_t kills_allowed_;
  // The frame after a wanted one that was blamed for a death. The death counts
  // again once the frame is wanted itself.
  std::optional<uint64_t> blamed_ahead_;
  uint32_t blamed_ = 0;
  uint32_t innocent_ = 0;
  uint32_t kills_ = 0;  // of the innocent deaths, the kills
};

}  // namespace bulkhead::session
