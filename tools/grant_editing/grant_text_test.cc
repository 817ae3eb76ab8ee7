// SPDX-License-Identifier: Apache-2.0
#include "tools/grant_editing/grant_text.h"

#include <gtest/gtest.h>

#include <string>

#include "core/grants/grants.h"

namespace bulkhead::grant_editing {
namespace {

using grants::ParseGrants;
using grants::Permissions;

const std::string kHash = "sha256=" + std::string(43, 'A');
const Permissions kReadA = {.read = {"/a"}};

std::string Grants(const std::string& text, const Permissions& permissions,
                   const std::string& hash = kHash) {
  const auto edited = WithGrant(text, "acme", hash, permissions);
  EXPECT_TRUE(edited) << edited.error();
  return edited.value_or("");
}

std::string Revoked(const std::string& text,
                    const std::optional<Permissions>& permissions) {
  const auto edited = WithoutGrant(text, "acme", permissions);
  EXPECT_TRUE(edited) << edited.error();
  return edited.value_or("");
}

TEST(GrantTextTest, AnEmptyFileGetsAWholeGrant) {
  const std::string text = Grants("", {.devices = {"/dev/dri/*"},
                                       .read = {"/a \"b\""},
                                       .ioctls = {"drm"},
                                       .memory_bytes = 8,
                                       .threads = 9});
  EXPECT_EQ(text, "[[grant]]\nbackend = \"acme\"\nhash = \"" + kHash +
                      "\"\ndevices = [\"/dev/dri/*\"]\n"
                      "read = [\"/a \\\"b\\\"\"]\nioctls = [\"drm\"]\n"
                      "memory_bytes = 8\nthreads = 9\n");
  EXPECT_EQ(Grants("", kReadA, ""),
            "[[grant]]\nbackend = \"acme\"\nany_hash = true\n"
            "read = [\"/a\"]\n");
}

TEST(GrantTextTest, AReservedNameOutlivesThePermissionsBesideIt) {
  const std::string name = "[[grant]]\nbackend = \"acme\"\nhash = \"" + kHash +
                           "\"\nreserved_name = true\n";
  EXPECT_EQ(Revoked(name + "read = [\"/a\"]\n", kReadA), name);
  EXPECT_EQ(Grants(name, kReadA), name + "read = [\"/a\"]\n");
  EXPECT_EQ(Revoked(name, std::nullopt), "");
}

TEST(GrantTextTest, EverythingElseStays) {
  const std::string before =
      "# Ours.\n[[grant]] # first\nbackend = \"other\"\nany_hash = true\n"
      "\n  [[grant]]\n  hash = \"" +
      kHash +
      "\"  # of 1.0\n  read = [ # where models are\n    \"/x\",\n  ] # ö, why\n"
      "  backend = 'acme'\n\n# The end.\nunknown = 1\n";
  EXPECT_EQ(Grants(before, {.read = {"/a"}, .threads = 3}),
            "# Ours.\n[[grant]] # first\nbackend = \"other\"\nany_hash = true\n"
            "\n  [[grant]]\n  hash = \"" +
                kHash +
                "\"  # of 1.0\nread = [\"/x\", \"/a\"] # ö, why\n"
                "  backend = 'acme'\n\n# The end.\nunknown = 1\nthreads = 3\n");
  EXPECT_EQ(Grants(before, {.read = {"/x"}}), before);
}

TEST(GrantTextTest, AnotherHashIsAnotherGrant) {
  const std::string before = Grants("", kReadA, "");
  EXPECT_EQ(Grants(before, kReadA), before + "\n" + Grants("", kReadA));
}

TEST(GrantTextTest, WhatIsRevokedIsGoneAndNothingElse) {
  const std::string other =
      "[[grant]]\nbackend = \"other\"\nany_hash = true\nread = [\"/a\"]\n";
  const std::string two = Grants(Grants(other, kReadA), kReadA, "");
  EXPECT_EQ(ParseGrants(Revoked(two, std::nullopt), "").grants.size(), 1u);
  EXPECT_EQ(ParseGrants(Revoked(two, kReadA), "").grants.size(), 1u);
  const std::string more = Grants(other, {.read = {"/a", "/b"}, .threads = 4});
  EXPECT_EQ(Revoked(more, Permissions{.read = {"/b"}, .threads = 1}),
            Grants(other, kReadA));
  const auto nothing = WithoutGrant(other, "acme", std::nullopt);
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().code(), Code::kNotFound);
  EXPECT_FALSE(WithoutGrant(more, "acme", Permissions{.read = {"/c"}}));
}

TEST(GrantTextTest, WhatIsNotUnderstoodIsLeftToItsOwner) {
  for (const std::string& before :
       {"grant = [{backend = \"acme\", hash = \"" + kHash + "\"}]\n",
        std::string("[[grant]\n"), std::string("grant = 1\n")}) {
    const auto edited = WithGrant(before, "acme", kHash, kReadA);
    ASSERT_FALSE(edited) << *edited;
    EXPECT_EQ(edited.error().code(), Code::kInvalidArgument);
  }
}

}  // namespace
}  // namespace bulkhead::grant_editing
