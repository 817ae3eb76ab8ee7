// SPDX-License-Identifier: Apache-2.0
#include "core/crashes/crash_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace bulkhead::crashes {
namespace {

Crash Example() {
  Crash crash;
  crash.number = 7;
  crash.time = "2026-07-01T12:00:00.123Z";
  crash.application = {.pid = 42, .program = "player"};
  crash.backend = {.name = "acme",
                   .distribution = "acme-codec",
                   .version = "1.0",
                   .directory = "/plugins/\xff",
                   .file = "/plugins/libacme.so",
                   .hash = "sha256=abc",
                   .bytes = 5,
                   .modified_ns = 6};
  crash.device = "acme:0";
  crash.tier = SandboxTier::kFull;
  crash.incarnation = 3;
  crash.process = "worker";
  crash.blamed = "input";
  crash.end.kind = ExitReport::Kind::kSignaled;
  crash.end.value = 11;
  crash.end.position = "/clips/a.mp4, at frame 5";
  crash.end.claimed_address = UINT64_MAX;
  crash.end.claimed_backtrace = {"libacme.so+0x1 (decode+0x2)"};
  crash.cause = "it was ended by signal 11";
  crash.input = Crash::Input{.path = "/clips/\xe9.mp4",
                             .bytes = 100,
                             .modified_ns = 200,
                             .device = 1,
                             .inode = UINT64_MAX};
  crash.request = {
      .kind = Crash::Request::Kind::kFrameAt,
      .frame = 5,
      .audio = true,
      .stream_index = 2,
      .on_corrupt = OnCorrupt::kShow,
      .threads = 4,
      .output_dtype = OutputDtype::kAuto,
      .transforms = {Resize{.height = 1,
                            .width = 2,
                            .filter = Resize::Filter::kLanczos},
                     CenterCrop{.height = 3, .width = 4},
                     Crop{.top = 5, .left = 6, .height = 7, .width = 8},
                     RandomCrop{.height = 9, .width = 10, .seed = UINT64_MAX}},
      .sample_rate = 16'000,
      .num_channels = 6,
      .backend_options = {{"k", "line\nline"}, {"\x80", ""}},
      .deadline_ms = 10'000};
  crash.last_message = "seek to timestamp 5";
  crash.attempt = 2;
  crash.had_media = true;
  crash.log = {"one", "two"};
  crash.media_log = {"three"};
  crash.outcome = "recovered";
  crash.unrecorded = 9;
  return crash;
}

TEST(CrashJson, WhatWasWrittenIsReadBackWhateverBytesAPathHas) {
  const Crash crash = Example();
  const Crash read = ParseCrash(ToText(crash, 65'536)).value();
  EXPECT_EQ(ToJson(read), ToJson(crash));
  EXPECT_EQ(read.input->path, "/clips/\xe9.mp4");
  EXPECT_EQ(read.backend.directory, "/plugins/\xff");
  EXPECT_EQ(read.request.backend_options, crash.request.backend_options);
  EXPECT_EQ(read.end.claimed_address, UINT64_MAX);
}

TEST(CrashJson, WhatTheProcessSaidIsMarkedAsItsClaim) {
  const auto json = ToJson(Example());
  EXPECT_EQ(json["end"]["claimed"]["backtrace"][0],
            "libacme.so+0x1 (decode+0x2)");
  EXPECT_TRUE(json["end"]["syscall"].is_null());
}

TEST(CrashJson, OfACauseThatTheProcessReportedItsWordsAreLeftOut) {
  Crash crash = Example();
  crash.cause = "it reports that its backend breaks the ABI: a part of a film";
  EXPECT_EQ(ToJsonWithoutMediaText(crash)["cause"], crash.cause);
  crash.claims_cause = true;
  EXPECT_EQ(ToJson(crash)["cause"], crash.cause);
  EXPECT_EQ(ToJsonWithoutMediaText(crash)["cause"],
            "it reports that its backend breaks the ABI");
  EXPECT_EQ(ParseCrash(ToText(crash, 65'536)).value().claims_cause, true);
}

TEST(CrashJson, WhatMayContainMediaCanBeLeftOut) {
  Crash crash = Example();
  const auto whole = ToJson(crash);
  EXPECT_EQ(whole["log"].size(), 2u);
  EXPECT_EQ(whole["media_log"][0], "three");
  const auto without = ToJsonWithoutMediaText(crash);
  EXPECT_EQ(without["log"], whole["log"]);
  EXPECT_TRUE(without["had_media"]);
  EXPECT_TRUE(without["media_log"].is_null());
  EXPECT_TRUE(without["end"]["claimed"].is_null());
  crash.had_media = false;
  EXPECT_FALSE(ToJsonWithoutMediaText(crash)["end"]["claimed"].is_null());
}

// The records of earlier versions have one log, and no mark in it.
TEST(CrashJson, AnUnmarkedLogCountsAsWrittenWithMedia) {
  auto json = ToJson(Example());
  json.erase("had_media");
  json.erase("media_log");
  const Crash read = ParseCrash(json.dump()).value();
  EXPECT_TRUE(read.had_media);
  EXPECT_TRUE(read.log.empty());
  EXPECT_EQ(read.media_log, Example().log);
}

TEST(CrashJson, ATextKeepsItsBoundAndSaysWhatIsMissing) {
  Crash crash = Example();
  crash.request.backend_options = {{"key", std::string(9'000, '\x01')}};
  const std::string text = ToText(crash, 8'192);
  EXPECT_LE(text.size(), 8'192u);
  const Crash read = ParseCrash(text).value();
  EXPECT_FALSE(read.request.complete);
  EXPECT_TRUE(read.request.backend_options.empty());
  EXPECT_EQ(read.log, crash.log);
}

TEST(CrashJson, OfAFileWithManyLinesOrALongOneABeginningIsRead) {
  nlohmann::ordered_json json = ToJson(Example());
  json["media_log"] = std::vector<std::string>(1'000, "line");
  json["last_message"] = std::string(10'000, 'x');
  const Crash read = ParseCrash(json.dump()).value();
  EXPECT_EQ(read.media_log.size(), 128u);
  EXPECT_EQ(read.last_message.size(), 4'096u);
}

TEST(CrashJson, NothingOfAHostileFileIsTakenAtItsWord) {
  for (const char* text :
       {"", "{", "[]", "null", "7", "{\"schema\": 1}", "{\"schema\": 2}",
        "{\"schema\": 1, \"end\": {}, \"backend\": {}, \"request\": 7}"}) {
    EXPECT_EQ(ParseCrash(text).error().code(), Code::kBadInput) << text;
  }
  EXPECT_FALSE(ParseCrash(std::string(60'000, '[')));
  const Crash read = ParseCrash(R"({"schema": 1, "number": -1, "device": ["x"],
        "cause": "\u001b[2Jred", "end": {"kind": 9, "value": 1e99,
        "claimed": {"backtrace": [1, "\n"]}}, "backend": {"name": {}},
        "request": {"kind": "delete", "backend_options": [3]},
        "input": {"path": {"hex": "2fzz4"}}, "log": {"a": 1}})")
                         .value();
  EXPECT_EQ(read.cause, "?[2Jred");
  EXPECT_EQ(read.end.kind, ExitReport::Kind::kUnknown);
  EXPECT_EQ(read.end.value, 0);
  EXPECT_EQ(read.request.kind, Crash::Request::Kind::kStart);
  EXPECT_EQ(read.device, "");
  EXPECT_TRUE(read.log.empty());
}

}  // namespace
}  // namespace bulkhead::crashes
