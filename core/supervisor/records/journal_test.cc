// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/records/journal.h"

#include <gtest/gtest.h>

namespace bulkhead::records {
namespace {

TEST(JournalEntry, HasAFieldForEachFact) {
  Event event{.kind = Event::Kind::kWorkerEnded,
              .backend = "acme",
              .session = 7,
              .device = "acme:1",
              .text = "clip.mp4: killed by signal 11"};
  event.exit = ExitReport{.kind = ExitReport::Kind::kSignaled, .crash = 12};
  EXPECT_EQ(JournalEntry(event, 4711),
            "MESSAGE=acme worker-ended acme:1: clip.mp4: killed by signal 11\n"
            "PRIORITY=4\n"
            "SYSLOG_IDENTIFIER=bulkheadd\n"
            "BULKHEAD_EVENT=worker-ended\n"
            "BULKHEAD_BACKEND=acme\n"
            "BULKHEAD_DEVICE=acme:1\n"
            "BULKHEAD_SESSION=7\n"
            "BULKHEAD_CRASH=12\n"
            "BULKHEAD_HOST_PID=4711\n");
}

TEST(JournalEntry, AQuarantineIsAnError) {
  const Event event{.kind = Event::Kind::kBackendState,
                    .backend = "acme",
                    .state = "quarantined",
                    .text = "it ended five times"};
  EXPECT_NE(JournalEntry(event, 1).find("\nPRIORITY=3\n"), std::string::npos);
}

TEST(JournalEntry, WhatAStrangerWroteAddsNoField) {
  const Event event{.kind = Event::Kind::kWorkerEnded,
                    .backend = "acme",
                    .text = "clip\nPRIORITY=0\n.mp4"};
  const std::string entry = JournalEntry(event, 1);
  EXPECT_EQ(entry.find("\nPRIORITY=0"), std::string::npos) << entry;
  EXPECT_NE(entry.find("clip?PRIORITY=0?.mp4\n"), std::string::npos) << entry;
}

TEST(JournalEntry, LeavesOutSessionsThatOpenAndClose) {
  for (const auto kind :
       {Event::Kind::kSessionOpened, Event::Kind::kSessionClosed}) {
    EXPECT_EQ(JournalEntry({.kind = kind, .backend = "acme"}, 1), "");
  }
}

}  // namespace
}  // namespace bulkhead::records
