// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/catalog/path_changes.h"

#include <utility>

#include "core/supervisor/files/file_settling.h"

namespace bulkhead::catalog {
namespace {

// The most waits of kSettlingTime while changes go on: half a minute.
constexpr unsigned kRounds = 60;
// The shortest time between two reads of the watch, so that a directory that
// changes all the time does not keep the event loop busy.
constexpr kj::Duration kBetweenLooks = 10 * kj::MILLISECONDS;

}  // namespace

PathChanges::PathChanges(kj::UnixEventPort& port, kj::TaskSet& tasks,
                         Listener listener)
    : timer_(port.getTimer()),
      tasks_(tasks),
      listener_(std::move(listener)),
      watch_(port) {}

kj::Promise<void> PathChanges::Run() {
  return watch_.WhenChanged()
      .then([this] {
        Note();
        return timer_.afterDelay(kBetweenLooks);
      })
      .then([this] { return Run(); });
}

void PathChanges::Note() {
  ++count_;
  listener_.changed();
  if (settling_) return;
  settling_ = true;
  tasks_.add(Settle(kRounds));
}

kj::Promise<void> PathChanges::Settle(unsigned rounds_left) {
  const auto delay = files::kSettlingTime.count() * kj::MILLISECONDS;
  return timer_.afterDelay(delay).then(
      [this, rounds_left, before = count_]() -> kj::Promise<void> {
        if (before != count_ && rounds_left > 0) return Settle(rounds_left - 1);
        return listener_.ask().then([this] {
          // No Note() may come between these lines: it would begin no round,
          // and the change would not be read.
          listener_.look();
          settling_ = false;
          listener_.looked();
        });
      });
}

}  // namespace bulkhead::catalog
