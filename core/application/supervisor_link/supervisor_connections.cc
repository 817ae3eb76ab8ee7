// SPDX-License-Identifier: Apache-2.0
#include "core/application/supervisor_link/supervisor_connections.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

#include "core/base/application_limits.h"
#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"
#include "core/control/control_exchange.h"
#include "ipc/deadline.h"
#include "ipc/message_socket.h"

namespace bulkhead::supervisor_link {
namespace {

using Request = ipc::schema::HostRequest;

// After this number of bulkheadds in a row that died without an answer, low
// limits of this process are named as the cause.
constexpr int kFutileStarts = 2;

}  // namespace

SupervisorConnections::SupervisorConnections(
    const SupervisorSettings& settings,
    std::shared_ptr<SessionCounting> counting, InterruptibleTurn turn)
    : settings_(settings),
      counting_(std::move(counting)),
      turn_(std::move(turn)),
      events_(settings.on_event) {}

SupervisorConnections::~SupervisorConnections() {
  if (fork_mark_.forked()) return;
  // Closing the sockets ends bulkheadd.
  events_.Close();
  idle_.clear();
  process_.control.reset();
  ReapIfChild(process_, settings_.deadlines.close);
}

Status SupervisorConnections::Start() {
  const auto held = turn_.Take(-1);
  Status started = StartInTurn(-1);
  if (started.ok()) return started;
  if (started.code() != Code::kBackendLost) return NamingLimits(started);
  std::lock_guard lock(mutex_);
  // Start() is not repeated, so low limits are named after the first death.
  futile_starts_ = kFutileStarts;
  return ExplainLossLocked(std::move(started));
}

Status SupervisorConnections::StartInTurn(int interrupt_fd) {
  const auto limit = settings_.deadlines.supervisor_start;
  ReapIfChild(process_, settings_.deadlines.close);
  ASSIGN_OR_RETURN(SupervisorProcess process,
                   StartSupervisor(settings_.programs.supervisor_path(),
                                   settings_.programs.supervisor()));
  {
    std::lock_guard lock(mutex_);
    process_ = std::move(process);
  }
  ASSIGN_OR_RETURN(watch_, SupervisorWatch::Of(process_.pid, limit));
  const Status configured = ConfigureInTurn(interrupt_fd);
  if (configured.code() == Code::kDeadlineExceeded) {
    return watch_->End(configured.code());
  }
  if (configured.code() != Code::kBackendLost) return configured;
  return Status(
      configured.code(),
      "the supervisor " + settings_.programs.supervisor_path() + " (process " +
          std::to_string(process_.pid) +
          ") ended as soon as it was started; is it the one of this "
          "release of Bulkhead? If not, name the directory that holds "
          "it with libexec_dir (--libexec DIR) or BULKHEAD_LIBEXEC_DIR");
}

Status SupervisorConnections::ConfigureInTurn(int interrupt_fd) {
  const auto deadline =
      ipc::Deadline::After(settings_.deadlines.supervisor_start)
          .OrReadable(interrupt_fd);
  const ipc::UniqueFd self(
      static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  if (!self) {
    return Status(Code::kUnsupported,
                  "this kernel has no pidfd_open; Linux 5.13 is the minimum");
  }
  // The first message carries the pidfd of the application and the programs.
  const InstalledPrograms& programs = settings_.programs;
  std::vector<int> descriptors = {self.get()};
  if (programs.reaper() >= 0 && programs.worker() >= 0) {
    descriptors.insert(descriptors.end(),
                       {programs.reaper(), programs.worker()});
  }
  RETURN_IF_ERROR(Exchange(
      process_.control.get(),
      [this](Request::Builder request) {
        std::lock_guard lock(mutex_);
        Write(settings_, loads_, request.initConfigure());
      },
      descriptors, deadline, TakeConfigured));
  // The second message carries the shared memory of counters and ends.
  ASSIGN_OR_RETURN(auto ends, EndBoard::Create());
  const int counters[] = {counting_->fd(), ends->fd()};
  RETURN_IF_ERROR(Exchange(
      process_.control.get(),
      [](Request::Builder request) { request.setCountSessions(); }, counters,
      deadline, TakeConfigured));
  ends->CloseDescriptor();
  ASSIGN_OR_RETURN(
      auto watched,
      ConnectInTurn(settings_.deadlines.supervisor_start, interrupt_fd));
  watch_->Ask(std::move(watched));
  if (events_.wanted()) {
    ASSIGN_OR_RETURN(
        auto followed,
        ConnectInTurn(settings_.deadlines.supervisor_start, interrupt_fd));
    RETURN_IF_ERROR(events_.Follow(std::move(followed)));
  }
  std::lock_guard lock(mutex_);
  // The idle connections are those to the previous bulkheadd, which has died.
  idle_.clear();
  ends_ = std::move(ends);
  alive_ = true;
  ++generation_;
  return Status();
}

std::optional<SupervisorConnections::Connection>
SupervisorConnections::TakeIdle() {
  std::lock_guard lock(mutex_);
  if (!alive_ || idle_.empty()) return std::nullopt;
  Connection connection = std::move(idle_.back());
  idle_.pop_back();
  return connection;
}

Result<SupervisorConnections::Connection> SupervisorConnections::Acquire(
    std::chrono::milliseconds timeout, int interrupt_fd) {
  const auto whole = settings_.deadlines.supervisor_start;
  if (fork_mark_.forked()) return ForkedError();
  if (auto idle = TakeIdle()) return *std::move(idle);
  const auto held = turn_.Take(interrupt_fd);
  if (!held) {
    return Status(Code::kDeadlineExceeded, "the wait was interrupted");
  }
  // Tries twice, because the first attempt to connect may be the one that
  // notices the death of bulkheadd.
  for (int attempt = 0; attempt < 2; ++attempt) {
    std::unique_lock lock(mutex_);
    const bool alive = alive_;
    lock.unlock();
    if (!alive) {
      if (Status started = StartInTurn(interrupt_fd); !started.ok()) {
        lock.lock();
        return started.code() == Code::kBackendLost
                   ? ExplainLossLocked(std::move(started))
                   : started;
      }
    }
    // Another thread may have handed a connection back meanwhile.
    if (auto idle = TakeIdle()) return *std::move(idle);
    auto socket = ConnectInTurn(std::min(timeout, whole), interrupt_fd);
    lock.lock();
    if (socket) return Connection{*std::move(socket), generation_, watch_};
    // bulkheadd hangs if it did not answer within the whole supervisor_start. A
    // caller with a shorter timeout cannot know that.
    if (socket.error().code() == Code::kDeadlineExceeded && timeout >= whole &&
        !IsInterrupted(interrupt_fd)) {
      (void)watch_->End(Code::kBackendLost);
    } else if (socket.error().code() != Code::kBackendLost) {
      return socket.error();
    }
    alive_ = false;
  }
  return Status(Code::kBackendLost, "the supervisor bulkheadd dies at once");
}

Result<ipc::UniqueFd> SupervisorConnections::ConnectInTurn(
    std::chrono::milliseconds timeout, int interrupt_fd) {
  // Removes late answers, which would fill the socket: an earlier caller may
  // have given up before bulkheadd answered. All answers on this socket are
  // equal, so taking a late answer for a new one does no harm.
  for (;;) {
    const auto late = ipc::TryReceiveMessage(process_.control.get(), 0);
    if (!late || !std::holds_alternative<ipc::ReceivedMessage>(*late)) break;
  }
  ASSIGN_OR_RETURN(auto sockets, FromIpc(ipc::MakeSocketPair()));
  const int descriptors[] = {sockets.second.get()};
  RETURN_IF_ERROR(Exchange(
      process_.control.get(),
      [](Request::Builder request) { request.setConnect(); }, descriptors,
      ipc::Deadline::After(timeout).OrReadable(interrupt_fd), TakeConfigured));
  return std::move(sockets.first);
}

void SupervisorConnections::Return(Connection connection) {
  std::lock_guard lock(mutex_);
  if (alive_ && connection.generation == generation_) {
    futile_starts_ = 0;
    if (idle_.empty()) return idle_.push_back(std::move(connection));
    // One idle connection is enough, so this one is closed. Before that, a
    // request that does nothing (closing session 0) shows bulkheadd that its
    // last answer was read.
    (void)SendRequest(
        connection.socket.get(),
        [](Request::Builder request) { request.setCloseSession(0); }, {},
        ipc::Deadline::After(std::chrono::milliseconds(0)));
  }
}

Status SupervisorConnections::Lost(uint64_t generation, Status loss) {
  std::lock_guard lock(mutex_);
  if (generation != generation_ || !alive_) return loss;
  alive_ = false;
  return ExplainLossLocked(std::move(loss));
}

Status SupervisorConnections::ExplainLossLocked(Status loss) {
  const std::string low = LowLimits();
  if (++futile_starts_ < kFutileStarts || low.empty()) return loss;
  return Status(
      Code::kResourceExhausted,
      loss.message() + " before it could answer; " + RaiseTheLimits(low));
}

bool SupervisorConnections::alive() const {
  std::lock_guard lock(mutex_);
  return alive_;
}

bool SupervisorConnections::Serves(uint64_t generation) const {
  // In a fork() the mutex may stay locked for ever, so the mark is checked
  // first.
  if (fork_mark_.forked()) return false;
  std::lock_guard lock(mutex_);
  return alive_ && generation_ == generation;
}

EndBoard::Place SupervisorConnections::TakeEnd(uint64_t generation) const {
  std::lock_guard lock(mutex_);
  return generation_ == generation ? ends_->Take() : EndBoard::Place();
}

void SupervisorConnections::RememberLoad(const ExplicitLoad& load) {
  std::lock_guard lock(mutex_);
  if (std::find(loads_.begin(), loads_.end(), load) == loads_.end()) {
    loads_.push_back(load);
  }
}

pid_t SupervisorConnections::pid() const {
  if (fork_mark_.forked()) return 0;
  std::lock_guard lock(mutex_);
  return process_.pid;
}

}  // namespace bulkhead::supervisor_link
