// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <kj/async-unix.h>
#include <kj/async.h>
#include <kj/timer.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/discovery/discover.h"
#include "core/grants/grant_reader.h"
#include "core/include/bulkhead/diagnostic.h"
#include "core/include/bulkhead/status.h"
#include "core/sandbox/bpf.h"
#include "core/sandbox/cgroup.h"
#include "core/sandbox/policy.h"
#include "core/supervisor/granting.h"
#include "core/supervisor/incarnation.h"
#include "core/supervisor/workers.h"

namespace bulkhead::supervisor {

// What every backend of this bulkheadd is started with.
struct StartContext {
  kj::UnixEventPort& port;
  int application_pidfd;
  std::string reaper_path;
  std::string worker_path;
  std::chrono::milliseconds start_deadline;
  std::chrono::milliseconds worker_deadline;
  sandbox::Tier tier;
  bool own_uid;  // backends can run under ids of their own
  sandbox::Forbidden forbidden;
  sandbox::CgroupParent cgroup;  // of the cgroups that they get
  grants::GrantReader& grants;
};

// One discovered backend and its lives. Starts nothing until a device is asked
// for; then starts a zygote once however many ask at the same time, has a probe
// worker count the devices, and has Workers place the sessions. A zygote that
// died is replaced when the next session needs it.
//
// State, and what moves it (a start that fails again waits longer each time):
//
//   discovered --session asked--> starting --ready, probed--> ready
//   starting --failed--> backing-off --session asked, time is up--> starting
//   ready --zygote died--> discovered
//   disabled: discovery said so, for good
//
// A worker's death is a matter of its session and does not change the state.
//
// Owned by Supervisor. Bound to the event loop's thread. Trusts discovery and
// the reaper; what the zygote and the probe say is validated.
class Backend {
 public:
  enum class State { kDiscovered, kStarting, kReady, kBackingOff, kDisabled };

  struct StartedSession {
    uint64_t id;
    uint32_t device_ordinal;
    std::string device;  // canonical: "openreg:1"
    int pidfd;           // borrowed; valid until the session is closed
    bool shared;         // its worker may serve others too
  };

  struct DescribedDevice {
    std::string name;
    std::string description;
  };

  // `number` is unique among the backends.
  Backend(discovery::BackendCandidate candidate, unsigned number,
          const StartContext& context);

  // Has a worker for `device` serve `socket`. `id` names the session from then
  // on. `alone`: in a worker of its own, whatever the manifest asks for.
  kj::Promise<Result<StartedSession>> OpenSession(
      uint64_t id, const discovery::DeviceName& device, bool alone,
      ipc::UniqueFd socket);
  bool HasSession(uint64_t id) const { return workers_.Serves(id); }
  Status ConfirmSession(uint64_t id) { return workers_.Confirm(id); }
  kj::Promise<WorkerEnd> SessionEnd(uint64_t id,
                                    std::chrono::milliseconds timeout);
  void CloseSession(uint64_t id);

  // Starts it unless it runs. Callers at the same time share one start.
  kj::Promise<Status> EnsureReady();
  // And has that device.
  kj::Promise<Status> Prepare(const discovery::DeviceName& device);

  const discovery::BackendCandidate& candidate() const { return candidate_; }
  State state() const;
  const std::string& reason() const { return reason_; }
  // By the names that a caller uses; those of the manifest, without a
  // description, until a probe has counted.
  std::vector<DescribedDevice> devices() const;
  // Starts, runs, or has sessions of an earlier life.
  bool running() const;
  // The permissions that the latest life has, if it runs; otherwise those that
  // the next would have. Adds what is to be said about them.
  std::vector<std::string> DescribeGrants(Diagnostics& diagnostics) const;
  // The latest life; null before the first.
  const Incarnation* incarnation() const { return current_.get(); }
  uint32_t lives() const { return lives_; }
  std::vector<pid_t> session_pids() const { return workers_.pids(); }

 private:
  struct Device {
    std::string name;
    uint32_t index;    // among those of its name
    uint32_t ordinal;  // among all of the backend
    std::string description;
  };

  kj::Promise<Status> Start();
  Granting Granted() const;
  // Reads the object for each hash in `hashes`, from the last to the first.
  kj::Promise<void> VerifyGrants(int object, std::vector<std::string> hashes);
  Result<std::shared_ptr<Incarnation>> Launch(
      const discovery::OpenedBackend& opened);
  kj::Promise<Status> Probe(std::shared_ptr<Incarnation> incarnation);
  Status AdoptDevicesIfValid(ipc::ReceivedMessage& list_untrusted);
  bool SharesWorker() const;
  Result<Device> FindDevice(const discovery::DeviceName& name) const;
  // Decorates a failed start with the name, the file and the way out.
  Status StartFailed(const Status& cause);

  const discovery::BackendCandidate candidate_;
  const unsigned number_;
  const StartContext& context_;
  std::shared_ptr<Incarnation> current_;
  kj::Maybe<kj::ForkedPromise<Status>> starting_;
  bool is_starting_ = false;
  uint32_t lives_ = 0;
  uint32_t failures_ = 0;
  kj::TimePoint retry_at_;
  std::string reason_;
  Status last_failure_;
  std::vector<Device> devices_;
  HashVerdicts hash_verdicts_;  // of the object when it was started last
  grants::Effective started_with_;
  Workers workers_;
};

}  // namespace bulkhead::supervisor
