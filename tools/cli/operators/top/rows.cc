// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/top/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace bulkhead::cli::top {
namespace {

using Kind = RowKey::Kind;

constexpr double kMebibyte = 1024.0 * 1024.0;
// A session is slow if its rate is below this part of the median of its device.
// A median of fewer than kEnoughForMedian sessions means nothing.
constexpr double kSlowPart = 0.5;
constexpr size_t kEnoughForMedian = 3;

// The wait of a call for a frame that counts as trouble.
constexpr std::chrono::milliseconds kLongWait{2'000};

// The rates with which a session is compared.
struct Scale {
  double highest = 0;
  std::map<std::string, double> median_of_device;
};

// Returns the highest rate of all sessions, and the median rate of each device,
// over the sessions that deliver frames.
Scale ScaleOf(const RunningHosts& running) {
  std::map<std::string, std::vector<double>> rates;
  Scale scale;
  for (const RunningHost& host : running.hosts) {
    for (const RunningBackend& backend : host.backends) {
      for (const RunningSession& session : backend.sessions) {
        const double rate = session.frames_per_second.value_or(0);
        if (rate > 0) rates[session.device].push_back(rate);
        scale.highest = std::max(scale.highest, rate);
      }
    }
  }
  for (auto& [device, all] : rates) {
    if (all.size() < kEnoughForMedian) continue;
    const auto middle = all.begin() + static_cast<ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    scale.median_of_device[device] = *middle;
  }
  return scale;
}

Trouble TroubleOf(const RunningBackend& backend, const std::string& cause) {
  if (backend.state == "quarantined") return Trouble::kQuarantined;
  if (backend.state == "backing-off") return Trouble::kBackingOff;
  // A backend that starts with a reason has failed before, and is likely to
  // fail again.
  if (backend.state == "starting" && !backend.reason.empty()) {
    return Trouble::kBackingOff;
  }
  // A backend that has run and is only "discovered" again has no process now.
  if (backend.state == "discovered" && backend.incarnation > 0 &&
      !cause.empty()) {
    return Trouble::kLost;
  }
  if (backend.state == "disabled") return Trouble::kNoted;
  if (backend.state == "ready" && !backend.reason.empty()) {
    return Trouble::kNoted;
  }
  return backend.restarts > 0 ? Trouble::kRestarted : Trouble::kNone;
}

Trouble TroubleOf(const RunningSession& session, const Scale& scale) {
  const auto& rate = session.frames_per_second;
  const bool brings_nothing = rate && *rate <= 0;
  if (session.worker_pid <= 0 ||
      (brings_nothing && session.waiting >= kLongWait)) {
    return Trouble::kWaiting;
  }
  if (session.restarts > 0) return Trouble::kRestarted;
  if (brings_nothing) return Trouble::kNone;
  const auto median = scale.median_of_device.find(session.device);
  return rate && median != scale.median_of_device.end() &&
                 *rate < kSlowPart * median->second
             ? Trouble::kSlow
             : Trouble::kNone;
}

std::string RateText(const std::optional<double>& rate) {
  return rate ? fmt::format("{:.1f} frames/s", *rate) : "? frames/s";
}

// Adds the rate of one session to the sum of all sessions of a row.
void AddRate(const RunningSession& session, std::optional<double>& sum) {
  if (!session.frames_per_second) return;
  sum = sum.value_or(0) + *session.frames_per_second;
}

Row RowOf(const RunningHost& host, const RunningBackend& backend,
          const RunningSession& session, const Scale& scale,
          const Causes& causes) {
  Row row{.key = {Kind::kSession, host.pid, host.supervisor_pid, backend.name,
                  session.session},
          .trouble = TroubleOf(session, scale)};
  const bool idle = session.frames_per_second == 0 && !session.waiting;
  row.state = row.trouble != Trouble::kNone ? TroubleName(row.trouble)
              : idle                        ? "idle"
                                            : "open";
  row.what = fmt::format("{} #{}", session.device, session.session);
  row.frames_per_second = session.frames_per_second;
  if (session.frames_per_second && scale.highest > 0) {
    row.bar = std::clamp(*session.frames_per_second / scale.highest, 0.0, 1.0);
  }
  row.restarts = session.restarts;
  const std::string cause =
      causes.OfSession(host.pid, backend.name, session.session);
  row.cause = cause.empty() ? session.input : cause;
  if (row.trouble == Trouble::kWaiting && session.waiting) {
    row.waiting = std::chrono::floor<std::chrono::seconds>(*session.waiting);
    row.cause = fmt::format("for {} s: {}", row.waiting.count(), row.cause);
  }
  row.detail = fmt::format(
      "session {} of {} on {}: {}{}; {}, {} frames, {}, {} workers lost",
      session.session, backend.name, session.device, session.input,
      cause.empty() ? "" : "; last cause: " + cause,
      session.worker_pid > 0 ? fmt::format("worker {}", session.worker_pid)
                             : "no worker",
      session.frames, RateText(row.frames_per_second), session.restarts);
  return row;
}

Row RowOf(const RunningHost& host, const RunningBackend& backend,
          const Causes& causes) {
  Row row{.key = {Kind::kBackend, host.pid, host.supervisor_pid, backend.name}};
  row.cause = backend.reason.empty() ? causes.OfBackend(host.pid, backend.name)
                                     : backend.reason;
  row.trouble = TroubleOf(backend, row.cause);
  const bool has_word =
      backend.state == "backing-off" || row.trouble == Trouble::kLost;
  row.state = has_word ? TroubleName(row.trouble) : backend.state;
  row.what = backend.name;
  for (const RunningSession& session : backend.sessions) {
    AddRate(session, row.frames_per_second);
  }
  row.restarts = backend.restarts;
  row.detail = fmt::format(
      "{} of process {}: {}{}; started {} times, {} sessions, {} workers, {} "
      "lost so far, {:.1f} MiB",
      backend.name, host.pid, backend.state,
      row.cause.empty() ? "" : "; last cause: " + row.cause,
      backend.incarnation, backend.sessions.size(), backend.worker_pids.size(),
      backend.restarts, static_cast<double>(backend.memory_bytes) / kMebibyte);
  if (backend.failovers > 0 || backend.failed_failovers > 0) {
    row.detail +=
        fmt::format(", {} streams went to another device, {} failed there too",
                    backend.failovers, backend.failed_failovers);
  }
  return row;
}

// Returns the name of the program, without directories and arguments.
std::string ProgramOf(const std::string& command) {
  const std::string path = command.substr(0, command.find(' '));
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.empty() ? "(not visible)" : name;
}

Row RowOf(const RunningHost& host) {
  Row row{.key = {Kind::kApplication, host.pid, host.supervisor_pid},
          .state = "running"};
  row.what = ProgramOf(host.command);
  for (const RunningBackend& backend : host.backends) {
    for (const RunningSession& session : backend.sessions) {
      AddRate(session, row.frames_per_second);
    }
  }
  row.cause = host.command;
  row.detail = fmt::format(
      "process {}: {}; bulkheadd {}, up {:.0f} s, sandbox {}, {:.1f} MiB",
      host.pid, host.command, host.supervisor_pid,
      static_cast<double>(host.uptime.count()) / 1000.0,
      host.tier == SandboxTier::kNone ? "not needed yet"
                                      : SandboxTierName(host.tier),
      static_cast<double>(host.memory_bytes) / kMebibyte);
  return row;
}

Row RowOf(const RunningHost& host, const WrittenOffWorker& worker) {
  Row row{.key = {Kind::kWrittenOff, host.pid, host.supervisor_pid,
                  worker.backend, static_cast<uint64_t>(worker.pid)},
          .trouble = Trouble::kWrittenOff,
          .state = TroubleName(Trouble::kWrittenOff)};
  row.what = fmt::format("{} worker {}", worker.backend, worker.pid);
  row.cause = fmt::format("killed {:.0f} s ago and held by the kernel",
                          static_cast<double>(worker.since.count()) / 1000.0);
  row.detail = row.what + ": " + row.cause;
  return row;
}

Row RowOf(const SilentHost& host) {
  return {.key = {.kind = Kind::kSilent, .pid = host.pid, .name = host.reason},
          .trouble = Trouble::kSilent,
          .state = TroubleName(Trouble::kSilent),
          .what = ProgramOf(host.command),
          .cause = host.reason,
          .detail = host.reason};
}

// Returns the sort key of a row among rows with the same trouble. The smallest
// key is the worst row's.
double Mildness(const Row& row) {
  if (row.trouble == Trouble::kRestarted) return -double(row.restarts);
  if (row.trouble == Trouble::kWaiting) return -double(row.waiting.count());
  return row.trouble == Trouble::kSlow ? row.frames_per_second.value_or(0) : 0;
}

}  // namespace

Table TableOf(const RunningHosts& running, const Causes& causes) {
  const Scale scale = ScaleOf(running);
  Table table;
  std::vector<Row>& rows = table.rows;
  Totals& totals = table.totals;
  for (const RunningHost& host : running.hosts) {
    rows.push_back(RowOf(host));
    totals.frames_per_second += rows.back().frames_per_second.value_or(0);
    totals.backends += host.backends.size();
    for (const RunningBackend& backend : host.backends) {
      rows.push_back(RowOf(host, backend, causes));
      totals.sessions += backend.sessions.size();
      for (const RunningSession& session : backend.sessions) {
        rows.push_back(RowOf(host, backend, session, scale, causes));
      }
    }
    for (const WrittenOffWorker& worker : host.written_off) {
      rows.push_back(RowOf(host, worker));
    }
  }
  for (const SilentHost& host : running.silent) rows.push_back(RowOf(host));
  totals.applications = running.hosts.size() + running.silent.size();
  for (const Row& row : rows) {
    if (row.trouble != Trouble::kNone) ++totals.troubles[row.trouble];
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::make_tuple(a.trouble, Mildness(a)) <
           std::make_tuple(b.trouble, Mildness(b));
  });
  return table;
}

const char* TroubleName(Trouble trouble) {
  constexpr std::array kNames = {
      "quarantined", "backing off", "lost",      "written off", "silent",
      "waiting",     "noted",       "restarted", "slow",        ""};
  static_assert(kNames.size() ==
                size_t{static_cast<uint8_t>(Trouble::kNone)} + 1);
  return kNames[static_cast<size_t>(trouble)];
}

std::string Describe(const Totals& totals) {
  return fmt::format(
      "{} applications, {} backends, {} sessions, {:.1f} frames/s",
      totals.applications, totals.backends, totals.sessions,
      totals.frames_per_second);
}

std::string DescribeTroubles(const Totals& totals) {
  std::string text;
  for (const auto& [trouble, count] : totals.troubles) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count,
                        TroubleName(trouble));
  }
  return text.empty() ? "nothing is wrong" : text;
}

}  // namespace bulkhead::cli::top
