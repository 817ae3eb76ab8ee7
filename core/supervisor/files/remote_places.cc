// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/files/remote_places.h"

#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

#include "core/base/pidfd.h"
#include "core/supervisor/sandbox/mount_table.h"

namespace bulkhead::files {
namespace {

constexpr auto kPatience = 2 * kj::SECONDS;
constexpr int kMostRounds = 30;  // of kPatience
// The time for which a path that did not answer is not asked again.
constexpr auto kSilence = 5 * kj::SECONDS;

// Returns how often the process has gone to sleep, for instance to wait for an
// answer; 0 if it has ended. A number that grows means that answers come.
uint64_t Switches(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  uint64_t switches = 0;
  std::istringstream(LineOf(status, "voluntary_ctxt_switches:")) >> switches;
  return switches;
}

void Reap(const ipc::UniqueFd& child) {
  ::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(child.get()),
           nullptr, WEXITED | __WALL);
}

void Kill(const ipc::UniqueFd& child) {
  ::syscall(SYS_pidfd_send_signal, child.get(), SIGKILL, nullptr, 0);
}

[[noreturn]] void ReadAndEnd(const std::function<void()>& read) {
  // A stuck child may outlive all other processes. It must not keep their
  // sockets and pipes open.
  ::syscall(SYS_close_range, 0U, ~0U, 0U);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  read();
  _exit(0);
}

}  // namespace

RemotePlaces::RemotePlaces(kj::UnixEventPort& port)
    : RemotePlaces(port, [table = std::make_shared<sandbox::MountTable>()](
                             const std::string& path) {
        return table->IsRemote(path);
      }) {}

RemotePlaces::RemotePlaces(kj::UnixEventPort& port,
                           std::function<bool(const std::string&)> is_remote)
    : port_(port), is_remote_(std::move(is_remote)), stuck_(*this) {}

RemotePlaces::~RemotePlaces() noexcept(false) {
  for (const auto& [path, place] : places_) {
    if (place.child) Kill(place.child);
  }
}

kj::Promise<bool> RemotePlaces::Ask(const std::string& path,
                                    const std::function<void()>& read) {
  if (!is_remote_(path)) return true;
  Place& place = places_[path];
  KJ_IF_MAYBE (question, place.under_way) {
    return question->addBranch();
  }
  if (place.child || port_.getTimer().now() < place.ask_again) return false;
  place.pid = ::fork();
  if (place.pid == 0) ReadAndEnd(read);
  // Where no child can be started, the path counts as one that answers: to
  // refuse the search would be as bad as to wait.
  place.answered = true;
  if (place.pid < 0) return true;
  place.child =
      ipc::UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, place.pid, 0)));
  if (!place.child) {
    ::kill(place.pid, SIGKILL);
    ::waitpid(place.pid, nullptr, 0);
    return true;
  }
  place.end.emplace(port_, place.child.get(),
                    kj::UnixEventPort::FdObserver::OBSERVE_READ);
  auto question = AwaitAnswer(place).fork();
  auto branch = question.addBranch();
  place.under_way = kj::mv(question);
  return branch;
}

bool RemotePlaces::Answered(const std::string& path) const {
  if (!is_remote_(path)) return true;
  const auto place = places_.find(path);
  return place != places_.end() && place->second.answered;
}

kj::Promise<bool> RemotePlaces::AwaitAnswer(Place& place) {
  place.answered = false;
  return place.end->whenBecomesReadable()
      .then([] { return true; })
      .exclusiveJoin(AwaitSilence(place, Switches(place.pid), kMostRounds))
      .then([this, &place](bool ended) {
        place.answered = ended;
        if (ended) {
          Reap(place.child);
          place.end.reset();
          place.child.reset();
        } else {
          LeaveBehind(place);
        }
        // Cleared later: here it would destroy the promise that is running.
        stuck_.add(kj::evalLater([&place] { place.under_way = nullptr; }));
        return ended;
      })
      .eagerlyEvaluate(nullptr);
}

kj::Promise<bool> RemotePlaces::AwaitSilence(const Place& place,
                                             uint64_t switches,
                                             int rounds_left) {
  return port_.getTimer().afterDelay(kPatience).then(
      [this, &place, switches, rounds_left]() -> kj::Promise<bool> {
        const uint64_t now = Switches(place.pid);
        if (now == switches || rounds_left == 0) return false;
        return AwaitSilence(place, now, rounds_left - 1);
      });
}

void RemotePlaces::LeaveBehind(Place& place) {
  place.ask_again = port_.getTimer().now() + kSilence;
  Kill(place.child);
  stuck_.add(place.end->whenBecomesReadable().then([&place] {
    Reap(place.child);
    place.end.reset();
    place.child.reset();
  }));
}

void RemotePlaces::taskFailed(kj::Exception&&) {
  // Only kj throws here, for lack of memory. The path is not asked again.
}

}  // namespace bulkhead::files
