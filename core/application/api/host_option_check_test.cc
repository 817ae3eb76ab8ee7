// SPDX-License-Identifier: Apache-2.0
#include "core/application/api/host_option_check.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <string>
#include <utility>

namespace bulkhead {
namespace {

TEST(HostOptionCheck, TheDefaultsAreValid) {
  EXPECT_TRUE(CheckLimits(Limits()).ok());
  EXPECT_TRUE(CheckDeadlines(Deadlines()).ok());
}

template <typename Number>
void ExpectZeroIsNamed(Number Limits::*limit, const std::string& name) {
  Limits limits;
  limits.*limit = 0;
  const Status status = CheckLimits(limits);
  EXPECT_EQ(status.code(), Code::kInvalidArgument) << name;
  EXPECT_EQ(status.message(),
            "option limits." + name + " is 0; it must be at least 1");
}

TEST(HostOptionCheck, ALimitOfZeroIsNamed) {
  ExpectZeroIsNamed(&Limits::frame_pixels, "frame_pixels");
  ExpectZeroIsNamed(&Limits::session_bytes, "session_bytes");
  ExpectZeroIsNamed(&Limits::worker_bytes, "worker_bytes");
  ExpectZeroIsNamed(&Limits::streams, "streams");
  ExpectZeroIsNamed(&Limits::packet_bytes, "packet_bytes");
  ExpectZeroIsNamed(&Limits::index_frames, "index_frames");
  ExpectZeroIsNamed(&Limits::attempts_per_position, "attempts_per_position");
  ExpectZeroIsNamed(&Limits::failures_per_backend, "failures_per_backend");
}

TEST(HostOptionCheck, OneFrameSlotIsTooFew) {
  Limits limits;
  limits.frame_slots = 2;
  EXPECT_TRUE(CheckLimits(limits).ok());
  for (const uint32_t slots : {0u, 1u}) {
    limits.frame_slots = slots;
    const Status status = CheckLimits(limits);
    EXPECT_EQ(status.code(), Code::kInvalidArgument);
    EXPECT_EQ(status.message(), "option limits.frame_slots is " +
                                    std::to_string(slots) +
                                    "; it must be at least 2");
  }
}

TEST(HostOptionCheck, MoreFramesThanRequestsHaveRoomForAreTheCallers) {
  Limits limits;
  limits.frame_slots = 1024;
  EXPECT_TRUE(CheckLimits(limits).ok());
  limits.frame_slots = 1025;
  const Status status = CheckLimits(limits);
  EXPECT_EQ(status.code(), Code::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "option limits.frame_slots (--limit frame-slots=N) is 1025; it may "
            "be at most 1024");
}

TEST(HostOptionCheck, MemoryForNoWorkerIsNamed) {
  Limits limits;
  limits.worker_bytes = uint64_t{8} << 20;
  EXPECT_TRUE(CheckLimits(limits).ok());
  --limits.worker_bytes;
  const Status status = CheckLimits(limits);
  EXPECT_EQ(status.code(), Code::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "a worker needs 8388608 bytes at least, and may have 8388607; "
            "raise the limit worker_bytes (--limit worker-bytes=N)");
}

TEST(HostOptionCheck, RestartsMayBeForbidden) {
  Limits limits;
  limits.restarts_per_position = 0;
  limits.kills_per_position = 0;
  EXPECT_TRUE(CheckLimits(limits).ok());
}

TEST(HostOptionCheck, ADeadlineInThePastIsNamed) {
  for (const auto& [name, deadline] :
       {std::pair{"supervisor_start", &Deadlines::supervisor_start},
        {"backend_start", &Deadlines::backend_start},
        {"worker_start", &Deadlines::worker_start},
        {"open", &Deadlines::open},
        {"scan", &Deadlines::scan},
        {"seek", &Deadlines::seek},
        {"frame", &Deadlines::frame},
        {"close", &Deadlines::close}}) {
    Deadlines deadlines;
    deadlines.*deadline = std::chrono::milliseconds(0);
    EXPECT_EQ(CheckDeadlines(deadlines).ok(), std::string(name) == "close");
    deadlines.*deadline = std::chrono::milliseconds(-1);
    const Status status = CheckDeadlines(deadlines);
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << name;
    EXPECT_EQ(status.message(), "option deadlines." + std::string(name) +
                                    " is -1 ms; it must be at least " +
                                    (std::string(name) == "close" ? "0" : "1"));
  }
}

TEST(HostOptionCheck, AShadowNamesADeviceAndAShare) {
  EXPECT_TRUE(CheckShadow({}).ok());
  EXPECT_TRUE(CheckShadow({.against = "acme:1", .share = 1}).ok());
  EXPECT_TRUE(CheckShadow({.against = "cpu", .share = 0}).ok());
  EXPECT_EQ(CheckShadow({.against = "no device!"}).code(),
            Code::kInvalidArgument);
  for (const double share : {-0.1, 1.1, std::nan("")}) {
    const Status status = CheckShadow({.against = "cpu", .share = share});
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << share;
    EXPECT_NE(status.message().find("option shadow.share"), std::string::npos);
  }
}

}  // namespace
}  // namespace bulkhead
