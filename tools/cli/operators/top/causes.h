// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/event.h>
#include <bulkhead/operators.h>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace bulkhead::cli::top {

// Keeps the cause of the last failure of each backend and each session, taken
// from events: the end of a worker or zygote, a bad state of the backend, a
// trial that it did not pass, a failover, or a difference that a shadow found.
// FindRunningHosts() does not report causes, only numbers of restarts.
//
// A session that gets another worker also gets another number in the events.
// So after a worker has ended, the next session that is opened on the same
// device for the same input counts as the same session, and inherits its cause.
// An operator's command deletes the cause of the backend. Events name the
// application, not its bulkheadd. So two Hosts of one process share their
// causes. Not thread-safe.
class Causes {
 public:
  void Add(const std::vector<Event>& events);

  // If there are thousands of causes, drops those of applications that are not
  // in `running`. With fewer, drops nothing, so that an application that does
  // not answer for a while keeps its causes.
  void DropOthers(const RunningHosts& running);

  // Return the cause in one sentence, or "" if there is none.
  std::string OfBackend(int host_pid, const std::string& backend) const;
  std::string OfSession(int host_pid, const std::string& backend,
                        uint64_t session) const;

 private:
  // The pid of the application, the backend, and the number of the session; 0
  // stands for the whole backend.
  using Id = std::tuple<int, std::string, uint64_t>;

  // A session whose worker has ended, until it is reopened with another worker
  // or closed.
  struct Ended {
    Id session;
    std::string device;
    std::string input;
    std::string cause;
  };

  void Open(const Event& opened);
  void Close(const Event& closed);
  void EndWorker(const Event& ended);

  std::map<Id, std::string> causes_;
  std::map<Id, std::string> inputs_;  // The inputs of the open sessions.
  std::vector<Ended> ended_;
};

}  // namespace bulkhead::cli::top
