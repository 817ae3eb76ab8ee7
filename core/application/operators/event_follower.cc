// SPDX-License-Identifier: Apache-2.0
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <set>
#include <utility>

#include "core/application/operators/operator_peer.h"
#include "core/base/status_macros.h"
#include "core/control/event_stream.h"
#include "core/include/bulkhead/operators.h"
#include "ipc/deadline.h"

namespace bulkhead {

using std::chrono::milliseconds;

namespace {

// The time that all bulkheadds together have to answer RecentEvents().
constexpr milliseconds kPatience{2'000};
// The interval between two searches for new applications.
constexpr milliseconds kLookAgain{1'000};

void SortByTime(std::vector<Event>& events) {
  std::stable_sort(
      events.begin(), events.end(),
      [](const Event& a, const Event& b) { return a.time < b.time; });
}

void Append(std::vector<Event>&& from, std::vector<Event>& to) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

}  // namespace

// A bulkheadd whose events are followed.
struct EventFollower::Followed {
  std::string address;
  EventStream stream;
};

EventFollower::EventFollower(std::optional<int> host_pid)
    : host_pid_(host_pid) {}
EventFollower::EventFollower(EventFollower&&) noexcept = default;
EventFollower& EventFollower::operator=(EventFollower&&) noexcept = default;
EventFollower::~EventFollower() = default;

Result<EventFollower> EventFollower::Create(std::optional<int> host_pid) {
  EventFollower follower(host_pid);
  RETURN_IF_ERROR(follower.FindMore());
  if (follower.followed_.empty()) {
    // Searches again, to report the reasons why no peer was reached.
    ASSIGN_OR_RETURN(const auto found, operators::FindPeers(host_pid));
    return found.NotFound(host_pid);
  }
  return follower;
}

Status EventFollower::FindMore() {
  std::set<std::string> known;
  for (const Followed& followed : followed_) known.insert(followed.address);
  ASSIGN_OR_RETURN(auto found, operators::FindPeers(host_pid_, known));
  for (auto& peer : found.peers) {
    EventStream stream(std::move(peer.socket), peer.host_pid);
    if (!stream.Ask(0, /*wait=*/true).ok()) continue;
    followed_.push_back({peer.address, std::move(stream)});
  }
  return Status();
}

Result<std::vector<Event>> EventFollower::Next(milliseconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    std::vector<Event> events;
    for (auto followed = followed_.begin(); followed != followed_.end();) {
      auto taken = followed->stream.TryTake();
      if (taken) {
        Append(*std::move(taken), events);
        ++followed;
      } else {
        followed = followed_.erase(followed);
      }
    }
    SortByTime(events);
    if (!events.empty()) return events;
    RETURN_IF_ERROR(FindMore());
    if (followed_.empty()) {
      return Status(Code::kBackendLost, "the last bulkheadd has ended");
    }
    const auto left =
        std::chrono::ceil<milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return events;
    std::vector<pollfd> waiting;
    for (const Followed& followed : followed_) {
      waiting.push_back({followed.stream.fd(), POLLIN, 0});
    }
    if (::poll(waiting.data(), waiting.size(),
               static_cast<int>(std::min(left, kLookAgain).count())) < 0) {
      return events;  // a signal came: returns early, without events
    }
  }
}

Result<std::vector<Event>> RecentEvents(std::optional<int> host_pid) {
  ASSIGN_OR_RETURN(auto found, operators::FindPeers(host_pid));
  if (found.peers.empty()) return found.NotFound(host_pid);
  std::vector<EventStream> streams;
  for (auto& peer : found.peers) {
    EventStream stream(std::move(peer.socket), peer.host_pid);
    if (stream.Ask(0, /*wait=*/false).ok()) {
      streams.push_back(std::move(stream));
    }
  }
  // Each bulkheadd sends its events in parts. It is asked for the events after
  // the last part, until a part is empty. A late bulkheadd is left out.
  std::vector<Event> events;
  const auto deadline = ipc::Deadline::After(kPatience);
  while (!streams.empty()) {
    std::vector<pollfd> waiting;
    for (const EventStream& stream : streams) {
      waiting.push_back({stream.fd(), POLLIN, 0});
    }
    const timespec left = deadline.remaining_timespec();
    const int ready = ::ppoll(waiting.data(), waiting.size(), &left, nullptr);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) break;
    std::vector<EventStream> unfinished;
    for (size_t i = 0; i < streams.size(); ++i) {
      if (waiting[i].revents != 0) {
        auto taken = streams[i].Take(deadline);
        if (!taken || taken->empty()) continue;
        const uint64_t last = taken->back().number;
        Append(*std::move(taken), events);
        if (!streams[i].Ask(last, /*wait=*/false).ok()) continue;
      }
      unfinished.push_back(std::move(streams[i]));
    }
    streams = std::move(unfinished);
  }
  SortByTime(events);
  return events;
}

}  // namespace bulkhead
