// SPDX-License-Identifier: Apache-2.0
#include "tools/benchmark/ring/round_trip.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <initializer_list>

namespace bulkhead::benchmark {
namespace {

using Clock = std::chrono::steady_clock;

// The number of trips at the beginning that do not count, since they touch new
// pages and open connections.
constexpr int kWarmUpTrips = 10;

// Restricts the calling thread to the CPUs `allowed`.
void MoveTo(std::initializer_list<int> allowed) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (const int cpu : allowed) CPU_SET(cpu, &cpus);
  sched_setaffinity(0, sizeof(cpus), &cpus);
}

// Remembers the CPU affinity of the calling thread. The destructor restores it.
class KeptAffinity {
 public:
  KeptAffinity() { sched_getaffinity(0, sizeof(cpus_), &cpus_); }
  ~KeptAffinity() { sched_setaffinity(0, sizeof(cpus_), &cpus_); }
  KeptAffinity(const KeptAffinity&) = delete;
  KeptAffinity& operator=(const KeptAffinity&) = delete;

 private:
  cpu_set_t cpus_;
};

// A forked child that serves a mechanism. The destructor kills and reaps it.
class ServingChild {
 public:
  ServingChild(Mechanism& mechanism, const Placement& placement)
      : pid_(fork()) {
    if (pid_ != 0) return;
    // The child never leaves this constructor: it serves until it is killed.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    MoveTo({placement.parent_cpu, placement.child_cpu});
    mechanism.PrepareToServe();
    MoveTo({placement.child_cpu});
    mechanism.Serve();
  }
  ~ServingChild() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  ServingChild(const ServingChild&) = delete;
  ServingChild& operator=(const ServingChild&) = delete;

  pid_t pid() const { return pid_; }

 private:
  const pid_t pid_;
};

double CpuMicroseconds(clockid_t clock) {
  timespec used = {};
  clock_gettime(clock, &used);
  return static_cast<double>(used.tv_sec) * 1e6 +
         static_cast<double>(used.tv_nsec) / 1e3;
}

void SleepFor(std::chrono::milliseconds gap) {
  const timespec time = {
      .tv_sec = static_cast<time_t>(gap.count() / 1000),
      .tv_nsec = static_cast<long>(gap.count() % 1000 * 1'000'000)};
  clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
}

}  // namespace

double Percentile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(share * static_cast<double>(values.size()));
  return values[static_cast<size_t>(std::max(rank, 1.0)) - 1];
}

std::vector<int> AllowedCpus() {
  cpu_set_t cpus;
  std::vector<int> allowed;
  if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0) return allowed;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &cpus)) allowed.push_back(cpu);
  }
  return allowed;
}

Result<Trips> MeasureTrips(Mechanism& mechanism, const Placement& placement,
                           const TripPlan& plan) {
  const KeptAffinity kept;
  const ServingChild child(mechanism, placement);
  clockid_t child_clock;
  if (child.pid() < 0 || clock_getcpuclockid(child.pid(), &child_clock) != 0) {
    return Status(Code::kInternal, "cannot start a process to answer");
  }
  MoveTo({placement.parent_cpu, placement.child_cpu});
  mechanism.PrepareToCall(child.pid());
  MoveTo({placement.parent_cpu});
  const auto cpu_used = [&] {
    return CpuMicroseconds(CLOCK_PROCESS_CPUTIME_ID) +
           CpuMicroseconds(child_clock);
  };
  std::vector<double> took;
  took.reserve(static_cast<size_t>(plan.most_trips));
  double cpu_before = 0;
  Clock::time_point end = Clock::now() + plan.time;
  for (int i = -kWarmUpTrips; i < plan.most_trips; ++i) {
    // The figures begin after the warm-up trips.
    if (i == 0) {
      cpu_before = cpu_used();
      end = Clock::now() + plan.time;
    }
    if (plan.gap.count() > 0 && i >= 0) SleepFor(plan.gap);
    const Clock::time_point start = Clock::now();
    const bool answered = mechanism.RoundTrip();
    const Clock::time_point now = Clock::now();
    if (!answered) return Status(Code::kInternal, "a wrong answer or none");
    if (i < 0) continue;
    took.push_back(
        std::chrono::duration<double, std::micro>(now - start).count());
    if (now >= end) break;
  }
  const double cpu = cpu_used() - cpu_before;
  return Trips{.median_us = Percentile(took, 0.5),
               .p99_us = Percentile(took, 0.99),
               .cpu_us = cpu / static_cast<double>(took.size())};
}

}  // namespace bulkhead::benchmark
