// SPDX-License-Identifier: Apache-2.0
#include "core/application/supervisor_link/supervisor_link.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "core/base/application_limits.h"
#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"

namespace bulkhead::supervisor_link {
namespace {

// The time for which an answer is waited for before bulkheadd is asked whether
// it still serves.
constexpr std::chrono::milliseconds kUnwatched{1'000};

// So many bulkheadds in a row that died without an answer died of something
// that the next one would die of too.
constexpr int kFutileStarts = 2;

bool IsReadable(int fd) {
  pollfd readable = {.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&readable, 1, 0) > 0;
}

}  // namespace

SupervisorLink::SupervisorLink(SupervisorSettings settings,
                               std::shared_ptr<SessionCounting> counting,
                               InterruptibleTurn turn)
    : settings_(std::move(settings)),
      counting_(std::move(counting)),
      turn_(std::move(turn)) {}

Result<std::shared_ptr<SupervisorLink>> SupervisorLink::Start(
    SupervisorSettings settings) {
  auto counting = SessionCounting::Create();
  if (!counting) return NamingLimits(counting.error());
  auto turn = InterruptibleTurn::Create();
  if (!turn) return NamingLimits(turn.error());
  std::shared_ptr<SupervisorLink> link(new SupervisorLink(
      std::move(settings), *std::move(counting), *std::move(turn)));
  const auto held = link->turn_.Take(-1);
  if (Status started = link->StartInTurn(-1); !started.ok()) {
    if (started.code() != Code::kBackendLost) return NamingLimits(started);
    std::lock_guard lock(link->mutex_);
    // No caller tries again.
    link->futile_starts_ = kFutileStarts;
    return link->ExplainLossLocked(std::move(started));
  }
  return link;
}

SupervisorLink::~SupervisorLink() {
  if (fork_mark_.forked()) return;
  // Closing the sockets ends bulkheadd.
  streams_.clear();
  idle_.clear();
  process_.control.reset();
  ReapIfChild(process_, settings_.deadlines.close);
}

Status SupervisorLink::StartInTurn(int interrupt_fd) {
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

Status SupervisorLink::ConfigureInTurn(int interrupt_fd) {
  const auto deadline =
      ipc::Deadline::After(settings_.deadlines.supervisor_start)
          .OrReadable(interrupt_fd);
  const ipc::UniqueFd self(
      static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
  if (!self) {
    return Status(Code::kUnsupported,
                  "this kernel has no pidfd_open; Linux 5.3 is the minimum");
  }
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
  if (settings_.on_event) RETURN_IF_ERROR(FollowInTurn(interrupt_fd));
  std::lock_guard lock(mutex_);
  // The idle connections lead to the bulkheadd that died.
  idle_.clear();
  ends_ = std::move(ends);
  alive_ = true;
  ++generation_;
  return Status();
}

pid_t SupervisorLink::pid() const {
  if (fork_mark_.forked()) return 0;
  std::lock_guard lock(mutex_);
  return process_.pid;
}

std::optional<SupervisorLink::Connection> SupervisorLink::TakeIdle() {
  std::lock_guard lock(mutex_);
  if (!alive_ || idle_.empty()) return std::nullopt;
  Connection connection = std::move(idle_.back());
  idle_.pop_back();
  return connection;
}

Result<SupervisorLink::Connection> SupervisorLink::Acquire(
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
    // One may have become idle meanwhile.
    if (auto idle = TakeIdle()) return *std::move(idle);
    auto socket = ConnectInTurn(std::min(timeout, whole), interrupt_fd);
    lock.lock();
    if (socket) return Connection{*std::move(socket), generation_, watch_};
    if (socket.error().code() == Code::kDeadlineExceeded && timeout >= whole &&
        !IsReadable(interrupt_fd)) {
      (void)watch_->End(Code::kBackendLost);
    } else if (socket.error().code() != Code::kBackendLost) {
      return socket.error();
    }
    alive_ = false;
  }
  return Status(Code::kBackendLost, "the supervisor bulkheadd dies at once");
}

Result<ipc::UniqueFd> SupervisorLink::ConnectInTurn(
    std::chrono::milliseconds timeout, int interrupt_fd) {
  // Answers that nobody waited for to the end are as good as the next one, and
  // must not fill the socket.
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

Status SupervisorLink::FollowInTurn(int interrupt_fd) {
  ASSIGN_OR_RETURN(
      auto socket,
      ConnectInTurn(settings_.deadlines.supervisor_start, interrupt_fd));
  EventStream stream(std::move(socket), ::getpid());
  RETURN_IF_ERROR(stream.Ask(0, /*wait=*/true));
  std::lock_guard lock(mutex_);
  streams_.push_back(std::move(stream));
  return Status();
}

void SupervisorLink::DeliverEvents() {
  if (!settings_.on_event || delivering_.exchange(true)) return;
  for (;;) {
    EventStream* stream = nullptr;
    {
      std::lock_guard lock(mutex_);
      if (!streams_.empty()) stream = &streams_.front();
    }
    if (!stream) break;
    // Runs without the mutex, because the observer may call the library.
    const auto events = stream->TryTake();
    if (events && events->empty()) break;
    if (events) {
      for (const Event& event : *events) settings_.on_event(event);
    } else {
      std::lock_guard lock(mutex_);
      streams_.pop_front();
    }
  }
  delivering_ = false;
}

void SupervisorLink::Return(Connection connection) {
  std::lock_guard lock(mutex_);
  if (alive_ && connection.generation == generation_) {
    futile_starts_ = 0;
    if (idle_.empty()) return idle_.push_back(std::move(connection));
    // bulkheadd need not think that its last answer was not read.
    (void)SendRequest(
        connection.socket.get(),
        [](Request::Builder request) { request.setCloseSession(0); }, {},
        ipc::Deadline::After(std::chrono::milliseconds(0)));
  }
}

Status SupervisorLink::Lost(uint64_t generation, Status loss) {
  std::lock_guard lock(mutex_);
  if (generation != generation_ || !alive_) return loss;
  alive_ = false;
  return ExplainLossLocked(std::move(loss));
}

Status SupervisorLink::ExplainLossLocked(Status loss) {
  const std::string low = LowLimits();
  if (++futile_starts_ < kFutileStarts || low.empty()) return loss;
  return Status(
      Code::kResourceExhausted,
      loss.message() + " before it could answer; " + RaiseTheLimits(low));
}

Status SupervisorLink::WatchedExchange(const Connection& connection,
                                       const FillRequest& fill,
                                       std::span<const int> fds,
                                       ipc::Deadline deadline,
                                       const TakeReply& take, bool& answered) {
  const int socket = connection.socket.get();
  // The socket has room: it carries one request at a time.
  RETURN_IF_ERROR(SendRequest(socket, fill, fds, deadline));
  for (;;) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline.remaining());
    auto received =
        ipc::ReceiveMessage(socket, ipc::kMaxDescriptors,
                            ipc::Deadline::After(std::min(kUnwatched, left))
                                .OrReadable(deadline.interrupt_fd()));
    if (received && *received) {
      answered = true;
      return ReadReply(**received, take);
    }
    if (received) {
      return Status(Code::kBackendLost, "the supervisor bulkheadd died");
    }
    if (received.error().code != ipc::Code::kDeadlineExceeded ||
        deadline.passed() || IsReadable(deadline.interrupt_fd())) {
      return FromIpc(std::move(received).error());
    }
    RETURN_IF_ERROR(connection.watch->Check(deadline.interrupt_fd()));
  }
}

bool SupervisorLink::Serves(uint64_t generation) const {
  std::lock_guard lock(mutex_);
  return alive_ && generation_ == generation;
}

EndBoard::Place SupervisorLink::TakeEnd(uint64_t generation) const {
  std::lock_guard lock(mutex_);
  return generation_ == generation ? ends_->Take() : EndBoard::Place();
}

Status SupervisorLink::Ask(const FillRequest& fill,
                           std::chrono::milliseconds timeout,
                           const TakeReply& take, CancelSignal* cancel) {
  uint64_t generation = 0;
  Status status = Call(fill, {}, timeout, take, &generation, cancel);
  // A bulkheadd that serves on reported that a backend was lost.
  if (status.code() != Code::kBackendLost || Serves(generation)) return status;
  // Any bulkheadd will do, so the one that takes its place is asked.
  return Call(fill, {}, timeout, take, &generation, cancel);
}

Status SupervisorLink::Call(const FillRequest& fill, std::span<const int> fds,
                            std::chrono::milliseconds timeout,
                            const TakeReply& take, uint64_t* generation,
                            CancelSignal* cancel) {
  const CancelSignal::Watch watch(cancel);
  RETURN_IF_ERROR(watch.status());
  const int interrupt_fd = watch.fd();
  Result<Connection> acquired = Acquire(timeout, interrupt_fd);
  if (!acquired) {
    return acquired.error().code() == Code::kDeadlineExceeded && cancel &&
                   cancel->Take()
               ? Cancelled()
               : std::move(acquired).error();
  }
  Connection connection = *std::move(acquired);
  if (generation) *generation = connection.generation;
  bool answered = false;
  Status status = WatchedExchange(
      connection, fill, fds,
      ipc::Deadline::After(timeout).OrReadable(interrupt_fd), take, answered);
  if (status.code() == Code::kBackendLost && !answered) {
    status = Lost(connection.generation, std::move(status));
  } else if (status.code() != Code::kDeadlineExceeded) {
    // A connection on which an answer is overdue is dropped: the late answer
    // would be taken for the answer to the next question.
    Return(std::move(connection));
  }
  DeliverEvents();
  const bool gave_up = status.code() == Code::kDeadlineExceeded && !answered;
  return gave_up && cancel && cancel->Take() ? Cancelled() : status;
}

}  // namespace bulkhead::supervisor_link
