// SPDX-License-Identifier: Apache-2.0
#include <poll.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

#include "core/application/operators/operator_peer.h"
#include "core/base/clean_text.h"
#include "core/base/status_macros.h"
#include "core/control/control_exchange.h"
#include "core/include/bulkhead/operators.h"

namespace bulkhead {
namespace {

namespace schema = ipc::schema;
using Clock = std::chrono::steady_clock;
using operators::FoundPeers;
using operators::OperatorPeer;
using std::chrono::milliseconds;

constexpr milliseconds kPatience{2'000};
// Long enough for two starts of a backend, as a reload with its check needs.
constexpr milliseconds kCommandPatience{60'000};
constexpr size_t kMaxCommandBytes = 4'096;

std::string CommandOf(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline");
  std::string text(kMaxCommandBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  while (!text.empty() && text.back() == '\0') text.pop_back();
  for (char& c : text) {
    if (c == '\0') c = ' ';
  }
  return CleanText(text, kMaxCommandBytes);
}

RunningBackend ToBackend(schema::RunningBackend::Reader backend) {
  RunningBackend out;
  out.name = backend.getName().cStr();
  out.state = backend.getState().cStr();
  out.reason = backend.getReason().cStr();
  out.incarnation = backend.getIncarnation();
  out.restarts = backend.getRestarts();
  for (const int pid : backend.getWorkerPids()) out.worker_pids.push_back(pid);
  out.memory_bytes = backend.getMemoryBytes();
  for (const auto session : backend.getSessions()) {
    out.sessions.push_back({.session = session.getSession(),
                            .device = session.getDevice().cStr(),
                            .input = session.getInput().cStr(),
                            .worker_pid = session.getWorkerPid(),
                            .frames = session.getFrames(),
                            .frames_per_second = std::nullopt,
                            .restarts = session.getRestarts()});
  }
  return out;
}

Result<RunningHost> Describe(const OperatorPeer& peer) {
  RunningHost host;
  RETURN_IF_ERROR(Exchange(
      peer.socket.get(),
      [](schema::HostRequest::Builder request) { request.setDescribeHost(); },
      {}, ipc::Deadline::After(kPatience),
      [&](schema::HostReply::Reader reply, ipc::ReceivedMessage&) {
        if (!reply.isHost()) return UnexpectedReply();
        const auto described = reply.getHost();
        host.uptime = milliseconds(described.getUptimeMs());
        host.tier = static_cast<SandboxTier>(described.getTier());
        host.memory_bytes = described.getMemoryBytes();
        for (const auto backend : described.getBackends()) {
          host.backends.push_back(ToBackend(backend));
        }
        for (const auto worker : described.getWrittenOff()) {
          host.written_off.push_back(
              {.backend = worker.getBackend().cStr(),
               .pid = worker.getPid(),
               .since = milliseconds(worker.getSinceMs())});
        }
        return Status();
      }));
  host.pid = peer.host_pid;
  host.supervisor_pid = peer.supervisor_pid;
  host.command = CommandOf(peer.host_pid);
  return host;
}

struct Sample {
  Clock::time_point taken;
  std::map<uint64_t, uint64_t> frames;  // keyed by session number
};

Sample SampleOf(const RunningHost& host) {
  Sample sample{Clock::now(), {}};
  for (const RunningBackend& backend : host.backends) {
    for (const RunningSession& session : backend.sessions) {
      sample.frames[session.session] = session.frames;
    }
  }
  return sample;
}

void AddRates(const Sample& before, RunningHost& host) {
  const std::chrono::duration<double> time = Clock::now() - before.taken;
  for (RunningBackend& backend : host.backends) {
    for (RunningSession& session : backend.sessions) {
      const auto known = before.frames.find(session.session);
      if (known == before.frames.end()) continue;
      session.frames_per_second =
          static_cast<double>(session.frames - known->second) / time.count();
    }
  }
}

}  // namespace

Result<RunningHosts> FindRunningHosts(milliseconds window) {
  ASSIGN_OR_RETURN(FoundPeers found, operators::FindPeers(std::nullopt));
  RunningHosts running;
  running.silent = std::move(found.silent);
  std::vector<Sample> samples;
  std::vector<OperatorPeer> peers;
  const auto say_silent = [&](const OperatorPeer& peer, const Status& status) {
    running.silent.push_back("the bulkheadd of process " +
                             std::to_string(peer.host_pid) +
                             " does not answer: " + status.message());
  };
  for (OperatorPeer& peer : found.peers) {
    auto host = Describe(peer);
    if (!host) {
      say_silent(peer, host.error());
      continue;
    }
    samples.push_back(SampleOf(*host));
    running.hosts.push_back(*std::move(host));
    peers.push_back(std::move(peer));
  }
  if (window.count() <= 0 || peers.empty()) return running;
  ::poll(nullptr, 0, static_cast<int>(window.count()));
  for (size_t i = 0; i < peers.size(); ++i) {
    auto host = Describe(peers[i]);
    // A bulkheadd that ended within the window is reported with the state that
    // the first round of questions found.
    if (!host) continue;
    AddRates(samples[i], *host);
    running.hosts[i] = *std::move(host);
  }
  return running;
}

Status CommandBackend(int host_pid, const std::string& backend,
                      BackendCommand command) {
  ASSIGN_OR_RETURN(const FoundPeers found, operators::FindPeers(host_pid));
  if (found.peers.empty()) return found.NotFound(host_pid);
  Status failure;
  for (const OperatorPeer& peer : found.peers) {
    const Status status = Exchange(
        peer.socket.get(),
        [&](schema::HostRequest::Builder request) {
          auto out = request.initCommand();
          out.setBackend(backend);
          out.setAction(static_cast<schema::BackendCommand::Action>(command));
        },
        {}, ipc::Deadline::After(kCommandPatience), TakeConfigured);
    if (!status.ok()) failure = status;
  }
  return failure;
}

}  // namespace bulkhead
