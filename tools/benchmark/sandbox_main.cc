// SPDX-License-Identifier: Apache-2.0
#include <capnp/message.h>
#include <capnp/serialize.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <kj/async-unix.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "core/base/status_macros.h"
#include "core/discovery/discover.h"
#include "core/discovery/package_files.h"
#include "core/supervisor/backend/ending_reapers.h"
#include "core/supervisor/backend/incarnation.h"
#include "core/supervisor/sandbox/expected_calls.h"
#include "core/supervisor/sandbox/launcher.h"
#include "core/supervisor/sandbox/lockdown.h"
#include "core/supervisor/sandbox/memory_limit.h"
#include "core/supervisor/sandbox/probe.h"
#include "core/supervisor/sockets/event_socket.h"
#include "ipc/message_socket.h"
#include "ipc/schema/lockdown.capnp.h"
#include "tools/benchmark/command_line.h"
#include "tools/cli/libexec.h"
#include "tools/cli/terminal.h"

namespace bulkhead::benchmark {
namespace {

using backend::Incarnation;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr char kPurpose[] =
    R"(Measures what the sandbox costs: the start of the cpu backend, and the start
of a session's worker in it until the worker may receive media. Alternates
between the complete sandbox and filters that allow everything, without
namespaces, Landlock and the check of threads, a mode that Bulkhead itself does
not have.)";

constexpr milliseconds kPatience(10'000);
constexpr int kSessionsARound = 100;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start)
      .count();
}

// The programs and the backend `cpu`, opened as bulkheadd opens them.
struct Programs {
  ipc::UniqueFd reaper;
  ipc::UniqueFd worker;
  ipc::UniqueFd plugin;
  ipc::UniqueFd application;
  sandbox::Plugin description;

  static Result<Programs> Find(const std::string& libexec);
};

Result<Programs> Programs::Find(const std::string& libexec) {
  const discovery::Discovery found = discovery::Discover(
      discovery::ScanPluginPath({{libexec + "/backends", "built-in", true}}),
      {});
  ASSIGN_OR_RETURN(
      const discovery::BackendCandidate* const cpu,
      discovery::FindBackend(found, {.backend = "cpu", .name = "cpu"}));
  ASSIGN_OR_RETURN(discovery::OpenedBackend opened,
                   discovery::OpenBackend(*cpu));
  const auto program = [&](const char* name) {
    return ipc::UniqueFd(
        open((libexec + "/" + name).c_str(), O_PATH | O_CLOEXEC));
  };
  Programs programs{
      .reaper = program("bulkhead-reaper"),
      .worker = program("bulkhead-worker"),
      .plugin = std::move(opened.plugin),
      .application =
          ipc::UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, getpid(), 0))),
      .description = {.object_path = cpu->directory + "/" + cpu->plugin_path,
                      .entry_symbol = cpu->entry_point.attr}};
  struct stat object = {};
  if (fstat(programs.plugin.get(), &object) != 0) {
    return Status(Code::kNotFound, "cannot examine cpu's shared object");
  }
  discovery::PackageFiles files(opened.directory.get(),
                                discovery::DistributionOf(*cpu),
                                cpu->plugin_path, object);
  // Adds the files of the backend's package, which its sandbox shows.
  while (!files.Step()) {
  }
  ASSIGN_OR_RETURN(const std::vector<discovery::PackageFile> own, files.Take());
  for (const discovery::PackageFile& shown : own) {
    const std::string file = cpu->directory + "/" + shown.path;
    const ipc::UniqueFd object(open(file.c_str(), O_PATH | O_CLOEXEC));
    programs.description.files.push_back(
        {file, sandbox::IdentityOf(object.get())});
  }
  if (programs.reaper && programs.worker && programs.application) {
    return programs;
  }
  return Status(Code::kNotFound,
                "no bulkhead-reaper or no bulkhead-worker in " + libexec +
                    "; name it with --libexec");
}

// Returns a lockdown that restricts nothing. Each filter has one instruction,
// the minimum that the kernel accepts.
Result<ipc::UniqueFd> OpenLockdown(const sandbox::Plugin& plugin) {
  const sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const capnp::Data::Reader filter(reinterpret_cast<const kj::byte*>(&allow),
                                   sizeof(allow));
  capnp::MallocMessageBuilder message;
  auto lockdown = message.initRoot<ipc::schema::Lockdown>();
  lockdown.setReaperFilter(filter);
  lockdown.setZygoteFilter(filter);
  lockdown.setSessionFilter(filter);
  lockdown.setPluginPath(plugin.object_path);
  lockdown.setEntrySymbol(plugin.entry_symbol);
  const kj::Array<capnp::word> flat = capnp::messageToFlatArray(message);
  ipc::UniqueFd memory(memfd_create("bench-lockdown", MFD_CLOEXEC));
  if (write(memory.get(), flat.begin(), flat.asBytes().size()) ==
      static_cast<ssize_t>(flat.asBytes().size())) {
    return memory;
  }
  return Status(Code::kInternal, "cannot write to a memfd");
}

// The cpu backend, started and ready to open sessions.
class Started {
 public:
  // Starts the backend in the sandbox that `report` describes, or without a
  // sandbox if `report` is null.
  static Result<Started> Start(kj::UnixEventPort& port, kj::WaitScope& scope,
                               const Programs& programs,
                               const sandbox::SandboxReport* report) {
    const sandbox::Forbidden forbidden =
        report ? report->forbidden : sandbox::Forbidden::kKill;
    const Clock::time_point start = Clock::now();
    ASSIGN_OR_RETURN(const sandbox::Policy policy,
                     sandbox::MakePolicy(programs.description, {}));
    ASSIGN_OR_RETURN(const ipc::UniqueFd lockdown,
                     report ? sandbox::CompileLockdown(
                                  policy, programs.description, forbidden)
                            : OpenLockdown(programs.description));
    ASSIGN_OR_RETURN(
        sandbox::LaunchedReaper launched,
        sandbox::Launch(
            {.tier = report ? report->tier : sandbox::Tier::kReduced,
             .policy = policy,
             .reaper_executable = programs.reaper.get(),
             .worker_executable = programs.worker.get(),
             .plugin = programs.plugin.get(),
             .lockdown = lockdown.get(),
             .application = programs.application.get(),
             .outside_id = report && report->own_uid
                               ? std::optional(sandbox::OutsideId(getpid(), 0))
                               : std::nullopt,
             .deadline = ipc::Deadline::After(kPatience)}));
    Started started(port, scope);
    started.checks_threads_ = report != nullptr;
    started.ending_ = std::make_unique<backend::EndingReapers>(port);
    sandbox::ExpectedCalls expected(
        sandbox::SessionLockdownOf(policy, forbidden),
        report && report->reads_memory, *started.held_parts_);
    started.incarnation_ = std::make_unique<Incarnation>(
        port, std::move(launched), forbidden, std::move(expected),
        sandbox::LoadedMemory{.most_bytes = policy.limits.load_bytes},
        *started.ending_, *started.met_media_);
    const Status ready =
        started.incarnation_->AwaitReady(kPatience).wait(scope);
    started.milliseconds_ = MillisecondsSince(start);
    if (!ready.ok()) return ready;
    return started;
  }

  double milliseconds() const { return milliseconds_; }

  // Starts a worker, and returns the milliseconds until it may receive media.
  Result<double> StartSession() {
    auto sockets = ipc::MakeSocketPair();
    if (!sockets) return Status(Code::kInternal, "no socket pair");
    sockets::EventSocket socket(port_, std::move(sockets->first));
    const Clock::time_point start = Clock::now();
    ASSIGN_OR_RETURN(const Incarnation::Worker worker,
                     incarnation_
                         ->CloneWorker(Incarnation::WorkerKind::kSession,
                                       std::move(sockets->second), kPatience)
                         .wait(scope_));
    if (const auto hello = socket.Receive(0).wait(scope_); !hello || !*hello) {
      return Status(Code::kInternal, "a worker ended without a word");
    }
    const Status confirmed =
        checks_threads_ ? incarnation_->ConfirmWorker(worker) : Status();
    const double taken = MillisecondsSince(start);
    if (!confirmed.ok()) return confirmed;
    incarnation_->KillWorker(worker.pid);
    incarnation_->AwaitEnd(worker.pid, kPatience).wait(scope_);
    incarnation_->ForgetWorker(worker.pid);
    return taken;
  }

 private:
  Started(kj::UnixEventPort& port, kj::WaitScope& scope)
      : port_(port), scope_(scope) {}

  kj::UnixEventPort& port_;
  kj::WaitScope& scope_;
  // Declared before `incarnation_`, which refers to these objects: its
  // destructor hands its reaper over to `ending_`.
  std::unique_ptr<backend::EndingReapers> ending_;
  std::unique_ptr<bool> met_media_ = std::make_unique<bool>(false);
  std::unique_ptr<sandbox::HeldParts> held_parts_ =
      std::make_unique<sandbox::HeldParts>();
  std::unique_ptr<Incarnation> incarnation_;
  bool checks_threads_ = false;
  double milliseconds_ = 0;
};

struct Costs {
  Series start_with{"start of the backend, sandboxed", "ms", {}};
  Series start_without{"start of the backend, without", "ms", {}};
  // The value of a round is the median over several workers.
  Series session_with{"start of a session, sandboxed", "ms", {}};
  Series session_without{"start of a session, without", "ms", {}};

  std::vector<Series> Report() const {
    return {start_with,
            start_without,
            Difference("added to a start", start_with, start_without),
            session_with,
            session_without,
            Difference("added to a session, aim: at most 1", session_with,
                       session_without)};
  }
};

Result<Costs> Measure(const Programs& programs,
                      const sandbox::SandboxReport& report, int rounds) {
  kj::UnixEventPort port;
  kj::EventLoop loop(port);
  kj::WaitScope scope(loop);
  Costs costs;
  for (int round = 0; round < rounds; ++round) {
    ASSIGN_OR_RETURN(Started without,
                     Started::Start(port, scope, programs, nullptr));
    ASSIGN_OR_RETURN(Started with,
                     Started::Start(port, scope, programs, &report));
    costs.start_without.values.push_back(without.milliseconds());
    costs.start_with.values.push_back(with.milliseconds());
    Series sessions_without;
    Series sessions_with;
    for (int i = 0; i < kSessionsARound; ++i) {
      ASSIGN_OR_RETURN(const double one, without.StartSession());
      ASSIGN_OR_RETURN(const double other, with.StartSession());
      sessions_without.values.push_back(one);
      sessions_with.values.push_back(other);
    }
    costs.session_without.values.push_back(sessions_without.Median());
    costs.session_with.values.push_back(sessions_with.Median());
  }
  return costs;
}

int Run(int argc, char** argv) {
  RunOptions options;
  std::string libexec;
  cli::Command program("bench --sandbox", kPurpose);
  AddRunOptions(program, options);
  AddLibexecOption(program, libexec);
  if (const auto status = ParseOrExit(program, argc, argv)) return *status;
  // Probes before the event loop exists: the probe forks, and its child must
  // not inherit the descriptors and signal handlers of a loop.
  const sandbox::SandboxReport report =
      sandbox::ProbeSandbox(ipc::Deadline::After(kPatience));
  if (report.tier == sandbox::Tier::kNone) {
    return cli::Fail(Status(Code::kSandboxUnavailable,
                            "no sandbox here; see `bulkhead doctor`"));
  }
  const Result<Programs> programs = Programs::Find(cli::FindLibexec(libexec));
  if (!programs) return cli::Fail(programs.error());
  cli::Say(fmt::format("measuring, {} rounds of {} sessions", options.rounds,
                       kSessionsARound));
  const Result<Costs> costs = Measure(*programs, report, options.rounds);
  if (!costs) return cli::Fail(costs.error());
  std::cout << MachineLine(
                   fmt::format("tier {}, {}", sandbox::TierName(report.tier),
                               report.own_uid ? "a uid of its own"
                                              : "the uid of the caller"))
            << fmt::format("median of {} rounds (lowest to highest)\n",
                           options.rounds);
  for (const Series& series : costs->Report()) {
    std::cout << LineOf(series) << '\n';
  }
  return WriteFacts({{"machine", MachineFacts()},
                     {"rounds", options.rounds},
                     {"sessions_a_round", kSessionsARound},
                     {"tier", sandbox::TierName(report.tier)},
                     {"series", FactsOf(costs->Report())}},
                    options);
}

}  // namespace
}  // namespace bulkhead::benchmark

int main(int argc, char** argv) { return bulkhead::benchmark::Run(argc, argv); }
