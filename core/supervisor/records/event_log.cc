// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/records/event_log.h"

#include <algorithm>
#include <utility>

#include "core/control/event_messages.h"
#include "core/supervisor/records/journal.h"

namespace bulkhead::records {

void EventLog::Add(Event event) {
  event.number = next_++;
  event.time = std::chrono::system_clock::now();
  if (application_ != 0) WriteToJournal(event, application_);
  events_.push_back(std::move(event));
  if (events_.size() > kMaxEvents) events_.pop_front();
  added_.fulfiller->fulfill();
  added_ = kj::newPromiseAndFulfiller<void>();
  when_added_ = added_.promise.fork();
}

kj::Promise<void> EventLog::WhenAfter(uint64_t number) {
  if (latest() > number) return kj::READY_NOW;
  return when_added_.addBranch().then(
      [this, number] { return WhenAfter(number); });
}

void EventLog::Describe(uint64_t after,
                        ipc::schema::Events::Builder out) const {
  const uint64_t oldest = next_ - events_.size();
  if (after >= latest()) return;
  const uint64_t first = std::max(after + 1, oldest);
  out.setLost(first - (after + 1));
  auto list = out.initEvents(
      static_cast<unsigned>(std::min<uint64_t>(next_ - first, kMaxPerAnswer)));
  for (unsigned i = 0; i < list.size(); ++i) {
    Write(events_[first - oldest + i], list[i]);
  }
}

}  // namespace bulkhead::records
