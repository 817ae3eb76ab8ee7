// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/manifest.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/base/text.h"

namespace bulkhead::discovery {
namespace {

ParsedManifest Parse(std::string_view text) {
  return ParseManifest(text, "bulkhead.toml", "acme");
}

TEST(ManifestTest, ReadsEveryKey) {
  const ParsedManifest parsed = Parse(
      "schema_version = 1\nabi = [2, 3]\ncodecs = [\"av1\", \"vp9\"]\ndevices "
      "= [\"npu\", \"dsp\"]\n"
      "streams = [\"audio\", \"video\"]\n"
      "start = \"exec\"\nworker_scope = \"backend\"\n"
      "[permissions]\nread = [\"/usr/share/acme\"]\n");
  ASSERT_TRUE(parsed.manifest) << parsed.refusal;
  EXPECT_EQ(parsed.manifest->abi, (AbiVersions{2, 3}));
  EXPECT_EQ(parsed.manifest->codecs, (std::vector<std::string>{"av1", "vp9"}));
  EXPECT_EQ(parsed.manifest->devices, (std::vector<std::string>{"npu", "dsp"}));
  EXPECT_EQ(parsed.manifest->streams,
            (std::set{StreamKind::kVideo, StreamKind::kAudio}));
  EXPECT_EQ(parsed.manifest->start, Manifest::Start::kExec);
  EXPECT_EQ(parsed.manifest->worker_scope, Manifest::WorkerScope::kBackend);
  EXPECT_EQ(parsed.manifest->permissions.read,
            std::vector<std::string>{"/usr/share/acme"});
  EXPECT_TRUE(parsed.diagnostics.empty());
}

TEST(ManifestTest, EveryKeyHasADefault) {
  const ParsedManifest parsed = Parse("");
  ASSERT_TRUE(parsed.manifest);
  EXPECT_EQ(parsed.manifest->devices, std::vector<std::string>{"acme"});
  EXPECT_EQ(parsed.manifest->streams, std::set{StreamKind::kVideo});
  EXPECT_EQ(parsed.manifest->abi, std::nullopt);
  EXPECT_TRUE(parsed.manifest->codecs.empty());
  EXPECT_EQ(parsed.manifest->start, Manifest::Start::kClone);
  EXPECT_EQ(parsed.manifest->worker_scope, Manifest::WorkerScope::kSession);
}

TEST(ManifestTest, AFileOfErrorsFillsNoReport) {
  std::string text;
  for (int i = 0; i < 300; ++i) {
    text += "unknown_" + std::to_string(i) + " = 1\n";
  }
  EXPECT_EQ(Parse(text).diagnostics.size(), 100u);
}

constexpr const char* kMd5 = "\"d704bda19e4703a5a5dbab2af672b2a8\"";

// Returns a health_check with the given values.
std::string HealthCheck(const std::string& clip, const std::string& md5) {
  return "[[health_check]]\nclip = " + clip + "\nmd5 = " + md5 + "\n";
}

TEST(ManifestTest, ReadsClipsForHealthChecks) {
  const std::string one = std::string("[") + kMd5 + "]";
  const ParsedManifest parsed =
      Parse(HealthCheck("\"clip.ivf\"", one) +
            HealthCheck("\"./clips//b.mp4\"", one) + "speed = 9\n");
  ASSERT_TRUE(parsed.manifest) << parsed.refusal;
  ASSERT_EQ(parsed.manifest->health_check.size(), 2u);
  EXPECT_EQ(parsed.manifest->health_check[0].path, "clip.ivf");
  EXPECT_EQ(parsed.manifest->health_check[1].path, "clips/b.mp4");
  EXPECT_EQ(parsed.manifest->health_check[1].picture_md5s,
            std::vector<std::string>{"d704bda19e4703a5a5dbab2af672b2a8"});
  ASSERT_EQ(parsed.diagnostics.size(), 1u);
  EXPECT_NE(parsed.diagnostics[0].message.find("unknown key \"speed\""),
            std::string::npos);
}

TEST(ManifestTest, ClipsThatAreNoneKeepTheBackendFromBeingUsed) {
  const std::string one = std::string("[") + kMd5 + "]";
  std::string many = "[";
  for (size_t i = 0; i <= kMaxHealthCheckPictures; ++i) {
    many += std::string(kMd5) + ",";
  }
  std::string clips;
  for (size_t i = 0; i <= kMaxHealthCheckClips; ++i) {
    clips += HealthCheck("\"clip.ivf\"", one);
  }
  const std::pair<std::string, std::string> rows[] = {
      {HealthCheck("\"../clip.ivf\"", one), "without \"..\""},
      {HealthCheck("\"a/../../clip.ivf\"", one), "without \"..\""},
      {HealthCheck("\"/etc/passwd\"", one), "relative to bulkhead.toml"},
      {HealthCheck("\"\"", one), "the path of a file"},
      {HealthCheck("\"" + std::string(300, 'a') + "\"", one), "the path"},
      {HealthCheck("7", one), "the path of a file"},
      {"[[health_check]]\nmd5 = " + one + "\n", "the path of a file"},
      {"[[health_check]]\nclip = \"clip.ivf\"\n", "md5 should be"},
      {HealthCheck("\"clip.ivf\"", "[]"), "md5 should be"},
      {HealthCheck("\"clip.ivf\"", kMd5), "md5 should be"},
      {HealthCheck("\"clip.ivf\"", "[7]"), "md5 should be"},
      {HealthCheck("\"clip.ivf\"", "[\"D704\"]"), "md5 should be"},
      {HealthCheck("\"clip.ivf\"", many + "]"), "1 to 32 strings"},
      {clips, "1 to 4 tables"},
      {"health_check = \"clip.ivf\"\n", "tables"},
      {"[health_check]\nclip = \"clip.ivf\"\n", "[[health_check]]"},
      {"streams = [\"audio\"]\n" + HealthCheck("\"a.ivf\"", one),
       "for backends that decode video"}};
  for (const auto& [text, words] : rows) {
    const ParsedManifest parsed = Parse(text);
    EXPECT_FALSE(parsed.manifest) << text;
    EXPECT_NE(parsed.refusal.find(words), std::string::npos)
        << text << ": " << parsed.refusal;
  }
}

TEST(ManifestTest, BadPermissionsAreLeftOutWithLineAndColumn) {
  const ParsedManifest parsed = Parse(
      "[permissions]\n"
      "devices = [\"/dev/dri/renderD*\", \"/dev/../etc/passwd\"]\n"
      "read = [\"/usr/share/acme\",\n  \"relative\", 7, \"/proc\"]\n"
      "write = [\"/tmp\"]\n"
      "ioctls = [\"drm\", \"tty\"]\n"
      "memory_bytes = \"8G\"\nthreads = -1\n");
  ASSERT_TRUE(parsed.manifest) << parsed.refusal;
  const grants::Permissions expected = {.devices = {"/dev/dri/renderD*"},
                                        .read = {"/usr/share/acme"},
                                        .ioctls = {"drm"}};
  EXPECT_EQ(parsed.manifest->permissions, expected);
  std::vector<std::pair<uint32_t, std::string>> expected_places = {
      {2, "column 33"}, {4, "column 3"},  {4, "column 15"}, {4, "column 18"},
      {5, "column 1"},  {6, "column 18"}, {7, "column 16"}, {8, "column 11"}};
  ASSERT_EQ(parsed.diagnostics.size(), expected_places.size());
  for (const auto& place : expected_places) {
    EXPECT_TRUE(
        std::any_of(parsed.diagnostics.begin(), parsed.diagnostics.end(),
                    [&](const Diagnostic& diagnostic) {
                      return diagnostic.line == place.first &&
                             diagnostic.message.starts_with(place.second);
                    }))
        << place.first << ", " << place.second;
  }
}

TEST(ManifestTest, StreamsOfUnknownKindsAreLeftOut) {
  const ParsedManifest parsed = Parse("streams = [\"audio\", \"smell\", 7]\n");
  ASSERT_TRUE(parsed.manifest) << parsed.refusal;
  EXPECT_EQ(parsed.manifest->streams, std::set{StreamKind::kAudio});
  ASSERT_EQ(parsed.diagnostics.size(), 2u);
  EXPECT_EQ(parsed.diagnostics[0].severity, Diagnostic::Severity::kWarning);
  EXPECT_EQ(parsed.diagnostics[0].line, 1u);
}

TEST(ManifestTest, StreamsThatAreNoListRefuseTheBackend) {
  for (const char* text : {"streams = \"audio\"\n", "streams = []\n"}) {
    const ParsedManifest parsed = Parse(text);
    EXPECT_FALSE(parsed.manifest) << text;
    EXPECT_NE(parsed.refusal.find("streams"), std::string::npos);
  }
}

TEST(ManifestTest, UnknownKeysOnlyWarn) {
  const ParsedManifest parsed = Parse("abi = 1\ncolour = \"red\"\n");
  ASSERT_TRUE(parsed.manifest);
  ASSERT_EQ(parsed.diagnostics.size(), 1u);
  EXPECT_EQ(parsed.diagnostics[0].severity, Diagnostic::Severity::kWarning);
  EXPECT_EQ(parsed.diagnostics[0].line, 2);
}

TEST(ManifestTest, ANewerSchemaIsRefusedForThatReasonAlone) {
  const ParsedManifest parsed =
      Parse("schema_version = 2\ndevices = {a = 1}\nnew = 1\n");
  EXPECT_FALSE(parsed.manifest);
  EXPECT_NE(parsed.refusal.find("schema_version is 2"), std::string::npos);
  EXPECT_EQ(parsed.diagnostics.size(), 1u);
}

TEST(ManifestTest, WhatIsKnownMayBeSaidInTwoWays) {
  const ParsedManifest parsed = Parse(
      "start = \"clone\"\nworker_scope = \"session\"\n"
      "devices = [\"a\", \"a\"]\npermissions.read = [\"/x\"]\n");
  ASSERT_TRUE(parsed.manifest) << parsed.refusal;
  EXPECT_EQ(parsed.manifest->start, Manifest::Start::kClone);
  EXPECT_EQ(parsed.manifest->worker_scope, Manifest::WorkerScope::kSession);
  EXPECT_EQ(parsed.manifest->devices, std::vector<std::string>{"a"});
  EXPECT_EQ(parsed.manifest->permissions.read, std::vector<std::string>{"/x"});
  // About the device that is listed twice.
  ASSERT_EQ(parsed.diagnostics.size(), 1u);
  EXPECT_EQ(parsed.diagnostics[0].severity, Diagnostic::Severity::kWarning);
  EXPECT_EQ(parsed.diagnostics[0].line, 3u);
}

TEST(ManifestTest, EveryWrongValueIsReported) {
  const ParsedManifest parsed =
      Parse("abi = \"1\"\nstart = 1\ndevices = [1, 2]\n");
  EXPECT_FALSE(parsed.manifest);
  EXPECT_EQ(parsed.diagnostics.size(), 4u);
  EXPECT_NE(parsed.refusal.find("line 1, column 7"), std::string::npos);
}

// As large as a file may be: the parser recurses, on the supervisor's stack.
TEST(ManifestTest, HostileFilesEndWithAnAnswer) {
  const size_t kBytes = size_t{1} << 20;
  const auto repeated = [&](const std::string& text) {
    std::string all;
    while (all.size() < kBytes) all += text;
    return all;
  };
  const std::string dots = repeated("a.");
  for (const std::string& text :
       {dots + "a = 1", "[" + dots + "a]", "[permissions]\n" + dots + "a = 1",
        "a = {" + dots + "a = 1}", "a = " + repeated("{a="),
        "a = " + repeated("[\n"), "devices = [" + repeated("\"a\",") + "]",
        repeated("[a.b]\n"), std::string(kBytes, '\0'),
        std::string(kBytes, '"')}) {
    const ParsedManifest parsed = Parse(text);
    EXPECT_FALSE(parsed.manifest) << Quoted(text.substr(0, 30));
    EXPECT_FALSE(parsed.refusal.empty());
    EXPECT_LE(parsed.diagnostics.size(), 100u);
  }
  // As deep as allowed.
  std::string deep = "[permissions]\n";
  for (int i = 0; i < 1000; ++i) deep += "a.";
  EXPECT_TRUE(Parse(deep + "a = 1").manifest);
}

TEST(ManifestTest, WrongTypesAreRefusedWithLineAndColumn) {
  const struct {
    std::string text;
    const char* place;
  } kCases[] = {
      {"abi = \"1\"", "line 1, column 7"},
      {"\nschema_version = 1.0", "line 2, column 18"},
      {"schema_version = 0", "line 1"},
      {"devices = \"npu\"", "line 1"},
      {"devices = []", "line 1"},
      {"devices = [\"a\",\n 1]", "line 2, column 2"},
      {"devices = [\"a/b\"]", "line 1"},
      {"start = true", "line 1"},
      {"start = \"fork\"", "line 1"},
      {"worker_scope = \"host\"", "line 1"},
      {"permissions = 1", "line 1"},
      {"[[permissions]]\nread = []", "line 1"},
      {"permissions = [\"read\"]", "line 1, column 15"},
      {"devices = [\"\"]", "line 1, column 12"},
      {"devices = [\"a\", \"b c\"]", "line 1, column 17"},
      {"devices = [\"\u00e9\"]", "line 1"},
      {"devices = [[\"a\"]]", "line 1, column 12"},
      {"worker_scope = 1", "line 1, column 16"},
      {"schema_version = \"1\"", "line 1, column 18"},
      {"abi = 99999999999999999999", "line 1"},
      {"[permissions]\n[permissions]", "line 2"},
      {"abi = 1\nabi = 2", "line 2"},
      {"= nonsense", "line 1"},
      {"a = \"\xff\"", "line 1"},
      {std::string("a\0b = 1", 7), "line 1"},
      {"a = " + std::string(100000, '['), "line 1"},
  };
  for (const auto& test : kCases) {
    const ParsedManifest parsed = Parse(test.text);
    EXPECT_FALSE(parsed.manifest) << Quoted(test.text);
    EXPECT_NE(parsed.refusal.find(test.place), std::string::npos)
        << Quoted(test.text) << parsed.refusal;
    EXPECT_TRUE(IsValidUtf8(parsed.refusal));
  }
}

}  // namespace
}  // namespace bulkhead::discovery
