// SPDX-License-Identifier: Apache-2.0
#include "core/grants/grants.h"

#include <gtest/gtest.h>

#include <string>

namespace bulkhead::grants {
namespace {

const std::string kHash = "sha256=" + std::string(43, 'A');

Grants Parse(const std::string& text) { return ParseGrants(text, "g.toml"); }

TEST(GrantsTest, ReadsAllOfAGrant) {
  const Grants read = Parse("[[grant]]\nbackend = \"acme\"\nhash = \"" + kHash +
                            "\"\ndevices = [\"/dev/dri/renderD128\"]\n"
                            "read = [\"/usr/share/acme\"]\n"
                            "ioctls = [\"drm\"]\nmemory_bytes = 1024\n"
                            "threads = 7\n\n# Mine.\n"
                            "[[grant]]\nbackend = \"b\"\nany_hash = true\n");
  EXPECT_TRUE(read.diagnostics.empty());
  ASSERT_EQ(read.grants.size(), 2u);
  const Grant expected = {.backend = "acme",
                          .hash = kHash,
                          .permissions = {.devices = {"/dev/dri/renderD128"},
                                          .read = {"/usr/share/acme"},
                                          .ioctls = {"drm"},
                                          .memory_bytes = 1024,
                                          .threads = 7},
                          .file = "g.toml",
                          .line = 1};
  EXPECT_EQ(read.grants[0], expected);
  EXPECT_EQ(read.grants[1].hash, "");
  EXPECT_EQ(read.grants[1].line, 11u);
}

TEST(GrantsTest, WithoutAHashNothingIsGrantedUnlessItSaysSo) {
  for (const std::string& line :
       {std::string(), std::string("any_hash = false"),
        std::string("any_hash = \"true\""), std::string("any_hash = 1"),
        std::string("hash = \"\""), std::string("hash = 1"),
        std::string("hash = \"md5=abc\""), std::string("hash = \"sha256=abc\""),
        "any_hash = true\nhash = \"" + kHash + "\""}) {
    const Grants read = Parse("[[grant]]\nbackend = \"acme\"\n" + line +
                              "\nread = [\"/a\"]\n[[grant]]\nbackend = "
                              "\"other\"\nany_hash = true\n");
    ASSERT_EQ(read.grants.size(), 1u) << line;
    EXPECT_EQ(read.grants[0].backend, "other");
    ASSERT_EQ(read.diagnostics.size(), 1u);
    EXPECT_EQ(read.diagnostics[0].severity, Diagnostic::Severity::kError);
    EXPECT_GT(read.diagnostics[0].line, 0u);
  }
}

TEST(GrantsTest, AReservedNameIsGrantedByTrueAlone) {
  const std::string grant =
      "[[grant]]\nbackend = \"cpu\"\nhash = \"" + kHash + "\"\n";
  const auto reserved_name = [&](const std::string& line) {
    return Parse(grant + line).grants.at(0).reserved_name;
  };
  EXPECT_TRUE(reserved_name("reserved_name = true"));
  EXPECT_FALSE(reserved_name(""));
  EXPECT_FALSE(reserved_name("reserved_name = false"));
  EXPECT_FALSE(reserved_name("reserved_name = 1"));
  EXPECT_EQ(Parse(grant + "reserved_name = 1").diagnostics.size(), 1u);
}

TEST(GrantsTest, AFileOfErrorsFillsNoReport) {
  std::string text;
  for (int i = 0; i < 300; ++i) text += "[[grant]]\nbackend = 1\n";
  const Grants read = Parse(text);
  EXPECT_TRUE(read.grants.empty());
  EXPECT_EQ(read.diagnostics.size(), 100u);
}

TEST(GrantsTest, BadEntriesCostOnlyThemselves) {
  const Grants read = Parse(
      "[[grant]]\nbackend = \"acme\"\nany_hash = true\n"
      "read = [\"/a\", \"/a/../b\", \"/proc\"]\nwrite = [\"/tmp\"]\n"
      "devices = [\"/etc/passwd\"]\n");
  ASSERT_EQ(read.grants.size(), 1u);
  EXPECT_EQ(read.grants[0].permissions, (Permissions{.read = {"/a"}}));
  EXPECT_EQ(read.diagnostics.size(), 4u);
}

TEST(GrantsTest, WhatIsNoGrantFileGrantsNothing) {
  for (const std::string& text :
       {std::string("grant = 1"), std::string("[grant]\nbackend = \"a\""),
        std::string("[[grant]]\nbackend = \"a"), std::string("grant = [1]"),
        std::string("[[grant]]\nbackend = \"../a\"\nany_hash = true"),
        std::string("[[grant]]\nany_hash = true"), std::string("[[grants]]"),
        std::string(100000, '['), std::string(5000, '.'),
        std::string("a\0b", 3)}) {
    const Grants read = Parse(text);
    EXPECT_TRUE(read.grants.empty()) << text.substr(0, 40);
    EXPECT_FALSE(read.diagnostics.empty()) << text.substr(0, 40);
  }
  EXPECT_EQ(Parse(""), Grants());
}

}  // namespace
}  // namespace bulkhead::grants
