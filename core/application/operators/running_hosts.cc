// SPDX-License-Identifier: Apache-2.0
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <utility>

#include "core/application/operators/operator_peer.h"
#include "core/base/clean_text.h"
#include "core/base/status_macros.h"
#include "core/control/control_exchange.h"
#include "core/control/count_messages.h"
#include "core/control/shadow_messages.h"
#include "core/include/bulkhead/operators.h"
#include "ipc/deadline.h"

namespace bulkhead {
namespace {

namespace schema = ipc::schema;
using Clock = std::chrono::steady_clock;
using operators::FoundPeers;
using operators::OperatorPeer;
using std::chrono::milliseconds;

// The time that all bulkheadds together have to describe themselves.
constexpr milliseconds kPatience{2'000};
// The time that a command may take: long enough for two starts of a backend,
// which a reload with its check needs.
constexpr milliseconds kCommandPatience{60'000};
constexpr size_t kMaxCommandBytes = 4'096;

// Returns the command line of a process; empty if it is not visible from here.
std::string CommandOf(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline");
  std::string text(kMaxCommandBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::ranges::replace(text, '\0', ' ');
  return CleanText(text, kMaxCommandBytes);
}

std::optional<milliseconds> Waiting(uint32_t ms) {
  if (ms == 0) return std::nullopt;
  return milliseconds(ms);
}

RunningBackend ToBackend(schema::RunningBackend::Reader backend) {
  RunningBackend out;
  out.name = backend.getName().cStr();
  out.state = backend.getState().cStr();
  out.reason = backend.getReason().cStr();
  out.incarnation = backend.getIncarnation();
  out.restarts = backend.getRestarts();
  out.failovers = backend.getFailovers();
  out.failed_failovers = backend.getFailedFailovers();
  for (const int pid : backend.getWorkerPids()) out.worker_pids.push_back(pid);
  out.memory_bytes = backend.getMemoryBytes();
  out.shadow = ToShadowReport(backend.getShadow());
  for (const auto session : backend.getSessions()) {
    out.sessions.push_back({.session = session.getSession(),
                            .device = session.getDevice().cStr(),
                            .input = session.getInput().cStr(),
                            .worker_pid = session.getWorkerPid(),
                            .frames = session.getFrames(),
                            .frames_per_second = std::nullopt,
                            .restarts = session.getRestarts(),
                            .waiting = Waiting(session.getWaitingMs())});
  }
  return out;
}

Status AskToDescribe(const OperatorPeer& peer, ipc::Deadline deadline) {
  return SendRequest(
      peer.socket.get(),
      [](schema::HostRequest::Builder request) { request.setDescribeHost(); },
      {}, deadline);
}

Result<RunningHost> AwaitDescription(const OperatorPeer& peer,
                                     ipc::Deadline deadline) {
  RunningHost host;
  RETURN_IF_ERROR(
      AwaitReply(peer.socket.get(), deadline,
                 [&](schema::HostReply::Reader reply, ipc::ReceivedMessage&) {
                   if (!reply.isHost()) return UnexpectedReply();
                   const auto described = reply.getHost();
                   host.uptime = milliseconds(described.getUptimeMs());
                   host.tier = static_cast<SandboxTier>(described.getTier());
                   host.memory_bytes = described.getMemoryBytes();
                   for (const auto backend : described.getBackends()) {
                     host.backends.push_back(ToBackend(backend));
                   }
                   for (const auto counted : described.getCounts()) {
                     const auto counts = ToBackendCounts(counted);
                     if (!counts) return UnexpectedReply();
                     host.counts.push_back(*counts);
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

// Returns an answer or an error for each peer. Asks all peers before it waits
// for the first answer, so that they work at the same time.
std::vector<Result<RunningHost>> Describe(
    const std::vector<OperatorPeer>& peers) {
  const auto deadline = ipc::Deadline::After(kPatience);
  std::vector<Status> asked;
  for (const OperatorPeer& peer : peers) {
    asked.push_back(AskToDescribe(peer, deadline));
  }
  std::vector<Result<RunningHost>> hosts;
  for (size_t i = 0; i < peers.size(); ++i) {
    hosts.push_back(asked[i].ok() ? AwaitDescription(peers[i], deadline)
                                  : asked[i]);
  }
  return hosts;
}

// The numbers of frames that the sessions of one host had delivered at a time.
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

// Sets the frame rate of each session in `before`, by the frames that it has
// delivered since `before` was taken.
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
  const auto note = [&running](int pid, std::string reason) {
    running.silent.push_back(
        {.pid = pid, .command = CommandOf(pid), .reason = std::move(reason)});
  };
  for (auto& peer : found.silent) note(peer.host_pid, std::move(peer.reason));
  std::vector<Sample> samples;
  std::vector<OperatorPeer> peers;
  auto answers = Describe(found.peers);
  for (size_t i = 0; i < answers.size(); ++i) {
    OperatorPeer& peer = found.peers[i];
    if (!answers[i]) {
      note(peer.host_pid,
           "the bulkheadd of process " + std::to_string(peer.host_pid) +
               " does not answer: " + answers[i].error().message());
      continue;
    }
    samples.push_back(SampleOf(*answers[i]));
    running.hosts.push_back(*std::move(answers[i]));
    peers.push_back(std::move(peer));
  }
  if (window.count() <= 0 || peers.empty()) return running;
  // To measure frame rates, asks all peers again after the window.
  ::poll(nullptr, 0, static_cast<int>(window.count()));
  auto later = Describe(peers);
  for (size_t i = 0; i < peers.size(); ++i) {
    // A bulkheadd that has ended within the window keeps its first answer.
    if (!later[i]) continue;
    AddRates(samples[i], *later[i]);
    running.hosts[i] = *std::move(later[i]);
  }
  return running;
}

std::vector<Status> CommandBackends(const std::vector<int>& host_pids,
                                    const std::string& backend,
                                    BackendCommand command) {
  std::vector<Status> statuses(host_pids.size());
  std::vector<OperatorPeer> peers;
  std::vector<size_t> host_of_peer;  // positions in `host_pids`
  for (size_t i = 0; i < host_pids.size(); ++i) {
    auto found = operators::FindPeers(host_pids[i]);
    if (!found || found->peers.empty()) {
      statuses[i] = found ? found->NotFound(host_pids[i]) : found.error();
      continue;
    }
    for (OperatorPeer& peer : found->peers) {
      peers.push_back(std::move(peer));
      host_of_peer.push_back(i);
    }
  }
  // A command has a long deadline. So each bulkheadd is asked to describe
  // itself first, with a short deadline, which finds one that hangs.
  const auto described = Describe(peers);
  const auto deadline = ipc::Deadline::After(kCommandPatience);
  std::vector<bool> asked(peers.size());
  for (size_t i = 0; i < peers.size(); ++i) {
    const Status sent =
        described[i]
            ? SendRequest(
                  peers[i].socket.get(),
                  [&](schema::HostRequest::Builder request) {
                    auto out = request.initCommand();
                    out.setBackend(backend);
                    out.setAction(
                        static_cast<schema::BackendCommand::Action>(command));
                  },
                  {}, deadline)
            : described[i].error();
    asked[i] = sent.ok();
    if (!sent.ok()) statuses[host_of_peer[i]] = sent;
  }
  for (size_t i = 0; i < peers.size(); ++i) {
    if (!asked[i]) continue;
    const Status status =
        AwaitReply(peers[i].socket.get(), deadline, TakeConfigured);
    if (!status.ok()) statuses[host_of_peer[i]] = status;
  }
  return statuses;
}

Status CommandBackend(int host_pid, const std::string& backend,
                      BackendCommand command) {
  return CommandBackends({host_pid}, backend, command).front();
}

}  // namespace bulkhead
