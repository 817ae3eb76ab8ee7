// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/granting.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace bulkhead::backend {
namespace {

using Texts = std::vector<std::string>;

const std::string kHash = "sha256=" + std::string(43, 'A');
const std::string kOther = "sha256=" + std::string(42, 'B') + "A";

discovery::BackendCandidate Acme(const std::string& recorded = kHash) {
  discovery::BackendCandidate acme;
  acme.entry_point.name = "acme";
  acme.directory = "/plugins";
  acme.dist_info = "/plugins/acme-1.0.dist-info";
  acme.plugin_path = "acme/libacme.so";
  acme.plugin_hash = recorded;
  acme.manifest.permissions = {.read = {"/a"}, .ioctls = {"drm"}};
  return acme;
}

grants::Grants Granted(const std::string& backend, const std::string& hash) {
  return {.grants = {{.backend = backend,
                      .hash = hash,
                      .permissions = {.read = {"/a"}},
                      .file = "g.toml",
                      .line = 3}}};
}

bool Says(const Granting& granting, const std::string& text) {
  for (const Diagnostic& diagnostic : granting.diagnostics) {
    if (diagnostic.message.find(text) != std::string::npos) return true;
  }
  return false;
}

TEST(GrantingTest, NothingIsGrantedByDefaultAndTheNoteSaysHow) {
  const Granting granting = GrantTo(Acme(), {}, {});
  EXPECT_TRUE(granting.effective.empty());
  ASSERT_EQ(granting.diagnostics.size(), 1u);
  EXPECT_EQ(granting.diagnostics[0].severity, Diagnostic::Severity::kNote);
  EXPECT_TRUE(Says(granting, "bulkhead grant acme read=/a ioctl=drm"));
}

TEST(GrantingTest, AGrantIsForTheBackendAndTheFileItNames) {
  EXPECT_EQ(GrantedTexts(GrantTo(Acme(), Granted("acme", kHash), {})),
            Texts{"read=/a"});
  EXPECT_EQ(GrantedTexts(GrantTo(Acme(), Granted("acme", ""), {})),
            Texts{"read=/a"});
  EXPECT_EQ(GrantedTexts(GrantTo(Acme(), Granted("other", kHash), {})),
            Texts());
  const Granting another = GrantTo(Acme(), Granted("acme", kOther), {});
  EXPECT_EQ(GrantedTexts(another), Texts());
  EXPECT_TRUE(Says(another, "for another file"));
  EXPECT_TRUE(another.unverified.empty());
}

TEST(GrantingTest, WithoutARecordTheFileDecides) {
  const grants::Grants grants = Granted("acme", kHash);
  const Granting before = GrantTo(Acme(""), grants, {});
  EXPECT_TRUE(before.effective.empty());
  EXPECT_EQ(before.unverified, Texts{kHash});
  ASSERT_EQ(GrantedTexts(before).size(), 1u);
  EXPECT_NE(GrantedTexts(before)[0], "read=/a");
  EXPECT_EQ(GrantedTexts(GrantTo(Acme(""), grants, {{kHash, true}})),
            Texts{"read=/a"});
  EXPECT_EQ(GrantedTexts(GrantTo(Acme(""), grants, {{kHash, false}})), Texts());
  // RECORD has another algorithm, which says nothing about this one.
  EXPECT_EQ(GrantTo(Acme("sha512=x"), grants, {}).unverified, Texts{kHash});
}

TEST(GrantingTest, SeveralGrantsAddUpToWhatIsAsked) {
  grants::Grants grants = Granted("acme", kHash);
  grants.grants.push_back(
      {.backend = "acme",
       .permissions = {.read = {"/b"}, .ioctls = {"drm", "v4l2"}}});
  const Granting granting = GrantTo(Acme(), grants, {});
  EXPECT_EQ(GrantedTexts(granting), (Texts{"read=/a", "ioctl=drm"}));
  EXPECT_TRUE(Says(granting, "grants more"));
  EXPECT_FALSE(Says(granting, "nobody granted"));
}

TEST(GrantingTest, WhatIsNotThereIsAProblemAndNothingElse) {
  std::vector<std::string> problems;
  const sandbox::Grants found = Resolve({.devices = {{"/dev/*", "/dev/zero"}},
                                         .read = {"/nowhere/at/all", "/usr"},
                                         .ioctls = {"nvidia"},
                                         .memory_bytes = 7},
                                        problems);
  EXPECT_EQ(problems.size(), 1u);
  ASSERT_EQ(found.paths.size(), 2u);
  EXPECT_EQ(found.paths[0].path, "/usr");
  EXPECT_EQ(found.paths[1].path, "/dev/zero");
  EXPECT_EQ(found.ioctl_types, (std::vector<uint8_t>{'F', 0}));
  EXPECT_EQ(found.address_space_bytes, 7u);
}

}  // namespace
}  // namespace bulkhead::backend
