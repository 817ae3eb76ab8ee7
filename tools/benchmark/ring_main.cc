// SPDX-License-Identifier: Apache-2.0
#include <bulkhead/host.h>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <string>
#include <vector>

#include "tools/benchmark/command_line.h"
#include "tools/benchmark/frame_calls.h"
#include "tools/benchmark/ring/mechanism.h"
#include "tools/benchmark/ring/round_trip.h"
#include "tools/benchmark/series.h"
#include "tools/benchmark/table.h"
#include "tools/cli/libexec.h"
#include "tools/cli/terminal.h"

namespace bulkhead::benchmark {
namespace {

using std::chrono::milliseconds;

constexpr char kPurpose[] =
    R"(Measures one round trip between two processes: by the rings and waiters of a
session with a Cap'n Proto message of 200 bytes, by the same message over Cap'n
Proto's RPC and a socket pair, and by one word with a futex, with eventfds and by
spinning. On one processor and on two; at once, and after gaps of 1 and 20 ms.
Then counts the system calls of a session while the next frame is ready.)";

constexpr char kRing[] = "the ring of a session";
constexpr char kFutex[] = "futex";

// One condition under which all mechanisms are measured.
struct Case {
  bool two_cpus;
  TripPlan plan;
};

// The time of each case is limited, since on one processor a spinning peer
// answers only once per time slice.
constexpr Case kCases[] = {
    {true, {milliseconds(0), 20'000, milliseconds(300)}},
    {true, {milliseconds(1), 150, milliseconds(400)}},
    {true, {milliseconds(20), 25, milliseconds(700)}},
    {false, {milliseconds(0), 20'000, milliseconds(300)}},
    {false, {milliseconds(1), 150, milliseconds(400)}},
    {false, {milliseconds(20), 25, milliseconds(700)}},
};

std::vector<NamedMechanism> Mechanisms() {
  return {{kRing, MakeRing},
          {"Cap'n Proto RPC", MakeRpc},
          {kFutex, MakeFutex},
          {"eventfd pair", MakeEventFds},
          {"spin", MakeSpin}};
}

nlohmann::ordered_json KeysOf(const Case& one, const std::string& mechanism) {
  return {{"processors", one.two_cpus ? 2 : 1},
          {"gap_ms", one.plan.gap.count()},
          {"mechanism", mechanism}};
}

std::vector<Series> EmptySeries() {
  return {{"p50", "us", {}},
          {"p99", "us", {}},
          {"processor time", "us", {}},
          {"p50 / futex", "x", {}}};
}

// Measures all mechanisms once. The ratios to the futex come last, when the
// time of the futex is known.
Status MeasureRound(const Case& one, const std::vector<int>& cpus, bool quick,
                    Table& table) {
  TripPlan plan = one.plan;
  if (quick) plan.most_trips = 5;
  double futex_us = 0;
  for (const NamedMechanism& mechanism : Mechanisms()) {
    const auto made = mechanism.make();
    const Result<Trips> trips =
        MeasureTrips(*made, {cpus[0], cpus[one.two_cpus ? 1 : 0]}, plan);
    if (!trips) return trips.error().WithContext(mechanism.name);
    Row& row = RowOf(table, KeysOf(one, mechanism.name));
    if (row.series.empty()) row.series = EmptySeries();
    row.series[0].values.push_back(trips->median_us);
    row.series[1].values.push_back(trips->p99_us);
    row.series[2].values.push_back(trips->cpu_us);
    if (mechanism.name == kFutex) futex_us = trips->median_us;
  }
  for (const NamedMechanism& mechanism : Mechanisms()) {
    Row& row = RowOf(table, KeysOf(one, mechanism.name));
    SeriesOf(row, "p50 / futex")
        .values.push_back(row.series[0].values.back() / futex_us);
  }
  return Status();
}

Result<Table> MeasureTable(const RunOptions& options) {
  Table table{.title = "Round trip between two processes",
              .rows = {},
              .notes = {"aims: the ring at most 1.0 us on 2 processors without "
                        "a gap, else at most 1.1 times the futex",
                        "spin on one processor waits for the end of a time "
                        "slice: two of them each trip"}};
  const std::vector<int> cpus = AllowedCpus();
  for (int round = 0; round < RoundsOf(options); ++round) {
    for (const Case& one : kCases) {
      if (one.two_cpus && cpus.size() < 2) {
        for (const NamedMechanism& mechanism : Mechanisms()) {
          RowOf(table, KeysOf(one, mechanism.name)).not_reached =
              "this process may use one processor";
        }
        continue;
      }
      const Status status = MeasureRound(one, cpus, options.quick, table);
      if (!status.ok()) return status;
    }
  }
  return table;
}

// Returns the table of system calls. If the kernel does not allow tracing, its
// rows are marked as not reached.
Result<Table> CountTable(const HostOptions& options) {
  Table table{.title = "System calls while the next frame is ready",
              .rows = {},
              .notes = {}};
  const auto calls = CountFrameCalls(options);
  if (!calls && calls.error().code() != Code::kUnsupported) {
    return calls.error();
  }
  const std::array<std::pair<const char*, const SideCalls*>, 2> sides = {
      {{"application", calls ? &calls->application : nullptr},
       {"worker", calls ? &calls->worker : nullptr}}};
  for (const auto& [side, counted] : sides) {
    Row& row = RowOf(table, {{"side", side}});
    if (counted == nullptr) {
      row.not_reached = calls.error().message();
      continue;
    }
    row.series = {{"calls", "per frame", {counted->PerFrame()}}};
    table.notes.push_back(fmt::format("{}, {} frames: {} a frame", side,
                                      counted->frames, counted->Text()));
  }
  return table;
}

int Run(int argc, char** argv) {
  RunOptions options;
  std::string libexec;
  cli::Command program("bench --ring", kPurpose);
  AddRunOptions(program, options);
  AddFigureOptions(program, options);
  AddLibexecOption(program, libexec);
  if (const auto status = ParseOrExit(program, argc, argv)) return *status;
  HostOptions host_options;
  host_options.libexec_dir = cli::FindLibexec(libexec);
  cli::Say(fmt::format("measuring, {} rounds", RoundsOf(options)));
  const Result<Table> trips = MeasureTable(options);
  if (!trips) return cli::Fail(trips.error());
  const Result<Table> calls = CountTable(host_options);
  if (!calls) return cli::Fail(calls.error());
  return Publish("ring", std::array{*trips, *calls}, options);
}

}  // namespace
}  // namespace bulkhead::benchmark

int main(int argc, char** argv) { return bulkhead::benchmark::Run(argc, argv); }
