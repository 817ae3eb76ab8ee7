// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/records/event_log.h"

#include <capnp/message.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/control/event_messages.h"

namespace bulkhead::records {
namespace {

std::vector<Event> After(const EventLog& log, uint64_t number) {
  capnp::MallocMessageBuilder message;
  auto out = message.initRoot<ipc::schema::Events>();
  log.Describe(number, out);
  return ToEvents(out.asReader(), 7);
}

void AddMany(EventLog& log, size_t count) {
  for (size_t i = 0; i < count; ++i) log.Add({.text = std::to_string(i)});
}

TEST(EventLog, GivesWhatComesAfterTheKnownAndNothingTwice) {
  kj::EventLoop loop;
  const kj::WaitScope scope(loop);
  EventLog log;
  EXPECT_TRUE(After(log, 0).empty());
  AddMany(log, 3);
  const auto events = After(log, 1);
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].number, 2u);
  EXPECT_EQ(events[0].text, "1");
  EXPECT_EQ(events[0].host_pid, 7);
  EXPECT_EQ(events[0].lost, 0u);
  EXPECT_TRUE(After(log, 3).empty());
  EXPECT_TRUE(After(log, UINT64_MAX).empty());
}

TEST(EventLog, ASlowFollowerIsToldHowManyItMissed) {
  kj::EventLoop loop;
  const kj::WaitScope scope(loop);
  EventLog log;
  AddMany(log, EventLog::kMaxEvents + 10);
  const auto events = After(log, 4);
  ASSERT_EQ(events.size(), EventLog::kMaxPerAnswer);
  EXPECT_EQ(events[0].lost, 6u);
  EXPECT_EQ(events[0].number, 11u);
  EXPECT_EQ(events[1].lost, 0u);
}

TEST(EventLog, WaitingEndsWithTheNextEvent) {
  kj::EventLoop loop;
  kj::WaitScope scope(loop);
  EventLog log;
  AddMany(log, 1);
  auto waiting = log.WhenAfter(1);
  EXPECT_FALSE(waiting.poll(scope));
  AddMany(log, 1);
  EXPECT_TRUE(waiting.poll(scope));
  EXPECT_TRUE(log.WhenAfter(0).poll(scope));
}

}  // namespace
}  // namespace bulkhead::records
