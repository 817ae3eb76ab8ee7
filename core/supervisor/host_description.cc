// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/host_description.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <limits>
#include <set>
#include <string>

#include "core/control/count_messages.h"
#include "core/supervisor/backend/states.h"

namespace bulkhead::supervisor {
namespace {

namespace schema = ipc::schema;

// Returns the milliseconds since a call of the application began, at least 1.
// `since` is a time of the steady clock; 0 means that no call is under way.
uint32_t WaitingMs(uint64_t since) {
  if (since == 0) return 0;
  const std::chrono::nanoseconds now =
      std::chrono::steady_clock::now().time_since_epoch();
  const auto began = std::chrono::nanoseconds(static_cast<int64_t>(since));
  const int64_t waited =
      std::chrono::duration_cast<std::chrono::milliseconds>(now - began)
          .count();
  return static_cast<uint32_t>(
      std::clamp<int64_t>(waited, 1, std::numeric_limits<uint32_t>::max()));
}

void Count(const SessionCounter* counter, schema::RunningSession::Builder out) {
  if (!counter) return;
  out.setWaitingMs(
      WaitingMs(counter->waiting_since.load(std::memory_order_relaxed)));
  out.setFrames(counter->frames.load(std::memory_order_relaxed));
  out.setRestarts(
      static_cast<uint32_t>(counter->restarts.load(std::memory_order_relaxed)));
}

// Returns the resident memory of an incarnation's zygote and reaper in bytes,
// or 0 for null.
uint64_t MemoryOfLife(const backend::Incarnation* life) {
  if (!life) return 0;
  uint64_t memory = 0;
  if (life->zygote_alive()) memory += MemoryOf(life->zygote_pid());
  if (life->reaper_alive()) memory += MemoryOf(life->reaper_pid());
  return memory;
}

void Describe(const backend::Backend& backend, const std::string& notice,
              const records::HostCounters& counters,
              schema::RunningBackend::Builder out) {
  out.setName(backend.candidate().name());
  out.setState(backend::NameOf(backend.lifecycle().state()));
  const std::string& reason = backend.lifecycle().reason();
  out.setReason(reason.empty() ? notice : reason);
  out.setIncarnation(backend.lifecycle().incarnations().lives());
  out.setRestarts(backend.worker_ends());
  out.setFailovers(backend.failovers());
  out.setFailedFailovers(backend.failed_failovers());
  const auto opened = backend.sessions();
  auto sessions = out.initSessions(static_cast<unsigned>(opened.size()));
  std::set<pid_t> workers;
  for (unsigned i = 0; i < sessions.size(); ++i) {
    sessions[i].setSession(opened[i].id);
    sessions[i].setDevice(opened[i].device);
    sessions[i].setInput(opened[i].origin.path);
    sessions[i].setWorkerPid(opened[i].worker_pid);
    Count(counters.Find(opened[i].origin.counter), sessions[i]);
    if (opened[i].worker_pid > 0) workers.insert(opened[i].worker_pid);
  }
  auto pids = out.initWorkerPids(static_cast<unsigned>(workers.size()));
  unsigned next = 0;
  uint64_t memory = MemoryOfLife(backend.lifecycle().latest());
  for (const pid_t pid : workers) {
    pids.set(next++, pid);
    memory += MemoryOf(pid);
  }
  for (const auto& session : opened)
    memory += MemoryOfLife(session.own_processes);
  out.setMemoryBytes(memory);
}

}  // namespace

uint64_t MemoryOf(pid_t pid) {
  if (pid <= 0) return 0;
  std::ifstream file("/proc/" + std::to_string(pid) + "/statm");
  uint64_t pages = 0;
  uint64_t resident = 0;
  if (!(file >> pages >> resident)) return 0;
  return resident * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

void DescribeRunning(const catalog::Catalog& catalog,
                     const records::HostCounters& counters,
                     schema::HostDescription::Builder out) {
  const auto backends = catalog.backends();
  auto list = out.initBackends(static_cast<unsigned>(backends.size()));
  for (unsigned i = 0; i < list.size(); ++i) {
    Describe(*backends[i], catalog.NoticeOf(*backends[i]), counters, list[i]);
  }
}

void DescribeCounts(const catalog::Catalog& catalog,
                    const records::KeptCounts& kept,
                    schema::HostDescription::Builder out) {
  auto all = kept.all();
  for (const auto& backend : catalog.backends()) {
    backend->AddOpen(all[backend->candidate().name()]);
  }
  auto list = out.initCounts(static_cast<unsigned>(all.size()));
  unsigned next = 0;
  for (const auto& [name, counts] : all) Write(counts, list[next++]);
}

}  // namespace bulkhead::supervisor
