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

// Remembers for each backend and each session the last bad thing that an event
// said of it: how its worker or its zygote ended, why the backend is in its
// state, or where its pictures differ. A reading of `ps` only counts restarts.
//
// A session that gets another worker gets another number, and takes its cause
// along: the next session that is opened on that device for that input is taken
// to be it. A command makes an end of its backend's cause. An event names the
// application, not its bulkheadd; the causes of two Hosts of one process are
// therefore not kept apart. Not thread-safe.
class Causes {
 public:
  void Add(const std::vector<Event>& events);

  // Drops the causes of applications that are not in the reading, once there
  // are so many causes that it matters. An application that is silent for a
  // while keeps its causes until then.
  void DropOthers(const RunningHosts& running);

  // Returns the cause in one sentence, or an empty string.
  std::string OfBackend(int host_pid, const std::string& backend) const;
  std::string OfSession(int host_pid, const std::string& backend,
                        uint64_t session) const;

 private:
  // The application, the backend, and the session or 0 for the whole backend.
  using Id = std::tuple<int, std::string, uint64_t>;

  // A worker that ended and whose session has neither another worker nor an
  // end.
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
  std::map<Id, std::string> inputs_;  // Of each session that is open.
  std::vector<Ended> ended_;
};

}  // namespace bulkhead::cli::top
