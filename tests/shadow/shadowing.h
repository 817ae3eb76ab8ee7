// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>

#include <string>
#include <vector>

#include "bulkhead/event.h"
#include "bulkhead/host.h"
#include "bulkhead/operators.h"

namespace bulkhead::tests {

// Follows the events of the Hosts of this process.
class Events {
 public:
  // There must be a Host.
  Events() : follower_(EventFollower::Create(::getpid()).value()) {}

  // Waits until `count` events of the kind have come since the object was made,
  // and returns them. Fails the test after a minute.
  std::vector<Event> Await(Event::Kind kind, size_t count);

 private:
  EventFollower follower_;
  std::vector<Event> seen_;
};

// Returns the hashes of all frames of the stream; fails the test if it cannot
// be decoded.
std::vector<std::string> DecodeAll(Host& host, const std::string& clip,
                                   VideoOptions options);

// The same, but takes a frame of `backend` only when the frames before it have
// been compared, up to 64 of them: a stream that is faster than its shadow does
// not have all of its frames compared.
std::vector<std::string> DecodeInStep(Host& host, const std::string& backend,
                                      const std::string& clip,
                                      VideoOptions options);

// Returns the report about the backend.
BackendInfo InfoOf(Host& host, const std::string& backend);

}  // namespace bulkhead::tests
