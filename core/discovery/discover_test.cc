// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/discover.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/testing/temporary_tree.h"

namespace bulkhead::discovery {
namespace {

using Standing = BackendCandidate::Standing;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DiscoverTest : public ::testing::Test {
 protected:
  // Writes a whole backend: metadata and object.
  void Install(const std::string& name, const std::string& manifest = "") {
    tree_.WriteDistribution(
        name + "-1.0.dist-info", name, "1.0",
        "[bulkhead.backends]\n" + name + " = " + name + ".plugin:entry\n");
    tree_.Write(name + "/libplugin.so", "ELF");
    if (!manifest.empty()) {
      tree_.Write(name + "-1.0.dist-info/bulkhead.toml", manifest);
    }
  }

  Discovery Run() {
    return Discover(ScanPluginPath({{tree_.path(), "test"}}), selection_);
  }

  static const BackendCandidate* Find(const Discovery& discovery,
                                      const std::string& name) {
    for (const BackendCandidate& backend : discovery.backends) {
      if (backend.name() == name) return &backend;
    }
    return nullptr;
  }

  TemporaryTree tree_;
  Selection selection_;
};

TEST_F(DiscoverTest, ABackendIsItsEntryPointManifestAndObject) {
  Install("acme", "devices = [\"npu\"]\n");
  tree_.Write("acme-1.0.dist-info/RECORD",
              "acme/"
              "libplugin.so,sha256=cGq-PJAVIHXmVrZhB5cw-s8yPz68zadUfuGTXJCEWgk,"
              "3\n../../bin/x,,\n");
  const Discovery found = Run();
  ASSERT_EQ(found.backends.size(), 1u);
  const BackendCandidate& backend = found.backends[0];
  EXPECT_TRUE(backend.usable()) << backend.reason;
  EXPECT_EQ(backend.entry_point.attr, "entry");
  EXPECT_EQ(backend.directory, tree_.path());
  EXPECT_EQ(backend.plugin_path, "acme/libplugin.so");
  EXPECT_EQ(backend.plugin_hash,
            "sha256=cGq-PJAVIHXmVrZhB5cw-s8yPz68zadUfuGTXJCEWgk");
  EXPECT_EQ(backend.files_beside, 0u);
  EXPECT_THAT(backend.devices, ElementsAre("npu"));
  EXPECT_EQ(found.places[0].outcome, "1 distribution, 1 backend");
  const Result<OpenedBackend> opened = OpenBackend(backend);
  ASSERT_TRUE(opened) << opened.error();
  EXPECT_TRUE(opened->plugin);
}

TEST_F(DiscoverTest, OnlyOurGroupCounts) {
  tree_.WriteDistribution("torch-2.dist-info", "torch", "2",
                          "[console_scripts]\ntorchrun = "
                          "torch.distributed.run:main\n");
  const Discovery found = Run();
  EXPECT_THAT(found.backends, IsEmpty());
  EXPECT_THAT(found.diagnostics, IsEmpty());
  EXPECT_EQ(found.places[0].outcome, "1 distribution, 0 backends");
}

TEST_F(DiscoverTest, BrokenBackendsSayWhyAndSpareTheOthers) {
  Install("good");
  Install("newer", "schema_version = 99\n");
  Install("typo", "devices = 3\n");
  Install("unlisted");
  tree_.Write("unlisted-1.0.dist-info/RECORD", "unlisted/other.so,,\n");
  Install("gone");
  std::filesystem::remove_all(tree_ / "gone");
  Install("outside");
  std::filesystem::remove(tree_ / "outside/libplugin.so");
  std::filesystem::create_symlink("/etc/passwd",
                                  tree_ / "outside/libplugin.so");
  tree_.WriteDistribution("nosymbol-1.dist-info", "nosymbol", "1",
                          "[bulkhead.backends]\nnosymbol = good.plugin\n");
  tree_.WriteDistribution("badname-1.dist-info", "badname", "1",
                          "[bulkhead.backends]\na/b = good.plugin:entry\n");
  const Discovery found = Run();
  const std::pair<const char*, const char*> kReasons[] = {
      {"newer", "schema_version is 99"},
      {"typo", "line 1"},
      {"unlisted", "RECORD does not list"},
      {"gone", "there is neither"},
      {"outside", "leads out"},
      {"nosymbol", "names no symbol"}};
  for (const auto& [name, reason] : kReasons) {
    const BackendCandidate* backend = Find(found, name);
    ASSERT_NE(backend, nullptr) << name;
    EXPECT_EQ(backend->standing, Standing::kBroken) << name;
    EXPECT_THAT(backend->reason, HasSubstr(reason));
  }
  EXPECT_TRUE(Find(found, "good")->usable());
  EXPECT_EQ(found.backends.size(), 7u);
}

TEST_F(DiscoverTest, TheFirstClaimOfADeviceCounts) {
  Install("a", "devices = [\"npu\"]\n");
  Install("b", "devices = [\"npu\", \"dsp\"]\n");
  const Discovery found = Run();
  EXPECT_THAT(Find(found, "a")->devices, ElementsAre("npu"));
  EXPECT_THAT(Find(found, "b")->devices, ElementsAre("dsp"));
  ASSERT_EQ(found.diagnostics.size(), 1u);
  EXPECT_THAT(found.diagnostics[0].message, HasSubstr("b/npu"));
  EXPECT_EQ((*FindBackend(found, {"", "npu", 1}))->name(), "a");
  EXPECT_EQ((*FindBackend(found, {"b", "npu", 1}))->name(), "b");
  EXPECT_EQ((*FindBackend(found, {"", "dsp", {}}))->name(), "b");
}

TEST_F(DiscoverTest, ADisabledBackendClaimsNothing) {
  Install("a", "devices = [\"npu\"]\n");
  Install("b", "devices = [\"npu\"]\n");
  selection_.disabled = {"a"};
  const Discovery found = Run();
  EXPECT_EQ(Find(found, "a")->standing, Standing::kDisabled);
  EXPECT_EQ((*FindBackend(found, {"", "npu", {}}))->name(), "b");
  const Status status = FindBackend(found, {"a", "npu", {}}).error();
  EXPECT_EQ(status.code(), Code::kBackendUnavailable);
  EXPECT_THAT(status.message(), HasSubstr("BULKHEAD_BACKENDS_DISABLE"));
}

TEST_F(DiscoverTest, TheManifestOrTheOperatorChoosesExec) {
  using Start = Manifest::Start;
  Install("modest", "start = \"exec\"\n");
  Install("required", "start = \"clone\"\n");
  Install("usual");
  selection_.exec = {"req*"};
  const Discovery found = Run();
  EXPECT_EQ(Find(found, "modest")->start, Start::kExec);
  EXPECT_THAT(Find(found, "modest")->start_rule, HasSubstr("manifest"));
  EXPECT_EQ(Find(found, "required")->start, Start::kExec);
  EXPECT_EQ(Find(found, "required")->start_rule,
            "required by \"req*\" in BULKHEAD_BACKENDS_EXEC");
  EXPECT_EQ(Find(found, "usual")->start, Start::kClone);
  EXPECT_EQ(Find(found, "usual")->start_rule, "");
  EXPECT_THAT(found.diagnostics, IsEmpty());
}

TEST_F(DiscoverTest, AMisspeltExecIsAWarning) {
  Install("acme");
  selection_.exec = {"acme", "amce"};
  const Discovery found = Run();
  EXPECT_EQ(Find(found, "acme")->start, Manifest::Start::kExec);
  ASSERT_EQ(found.diagnostics.size(), 1u);
  EXPECT_THAT(
      found.diagnostics[0].message,
      AllOf(HasSubstr("\"amce\""), HasSubstr("BULKHEAD_BACKENDS_EXEC")));
}

TEST_F(DiscoverTest, ExecPrevailsOverASharedWorkerAndSaysSo) {
  Install("torn", "start = \"exec\"\nworker_scope = \"backend\"\n");
  Install("forced", "worker_scope = \"backend\"\n");
  Install("shared", "worker_scope = \"backend\"\n");
  selection_.exec = {"forced"};
  const Discovery found = Run();
  EXPECT_EQ(Find(found, "torn")->start, Manifest::Start::kExec);
  EXPECT_EQ(Find(found, "forced")->start, Manifest::Start::kExec);
  EXPECT_TRUE(Find(found, "torn")->usable());
  ASSERT_EQ(found.diagnostics.size(), 2u);
  EXPECT_THAT(found.diagnostics[0].message,
              AllOf(HasSubstr("forced"), HasSubstr("worker_scope"),
                    HasSubstr("BULKHEAD_BACKENDS_EXEC")));
  EXPECT_THAT(found.diagnostics[1].message,
              AllOf(HasSubstr("torn"), HasSubstr("worker_scope")));
}

TEST_F(DiscoverTest, ABrokenBackendKeepsItsDevice) {
  Install("a");
  std::filesystem::remove_all(tree_ / "a");
  Install("b", "devices = [\"a\"]\n");
  const Discovery found = Run();
  const Status status = FindBackend(found, {"", "a", {}}).error();
  EXPECT_EQ(status.code(), Code::kBackendUnavailable);
  EXPECT_THAT(status.message(),
              HasSubstr("Failed to load the backend extension: a (a 1.0, "));
  EXPECT_THAT(status.message(),
              HasSubstr("You can disable extension autoloading with "
                        "BULKHEAD_DEVICE_BACKEND_AUTOLOAD=0."));
}

TEST_F(DiscoverTest, ABackendsNameIsItsOwn) {
  Install("a");
  tree_.WriteDistribution("z-1.dist-info", "z", "1",
                          "[bulkhead.backends]\na = a.plugin:other\n");
  const Discovery found = Run();
  ASSERT_EQ(found.backends.size(), 2u);
  EXPECT_TRUE(found.backends[0].usable());
  EXPECT_EQ(found.backends[1].standing, Standing::kBroken);
  EXPECT_EQ((*FindBackend(found, {"a", "a", {}}))->entry_point.attr, "entry");
}

TEST_F(DiscoverTest, AnUnknownDeviceListsWhatThereIs) {
  Install("good");
  Install("off");
  selection_.disabled = {"off"};
  const Status status = FindBackend(Run(), {"", "nothing", {}}).error();
  EXPECT_EQ(status.code(), Code::kNotFound);
  for (const std::string& part :
       {std::string("\"nothing\""), std::string("known: good"),
        std::string("disabled backends: off (disabled by \"off\" in"),
        "searched: " + tree_.path() + " (2 distributions, 2 backends)"}) {
    EXPECT_THAT(status.message(), HasSubstr(part));
  }
}

TEST_F(DiscoverTest, AnUnknownDeviceListsWhatFailedAndWhy) {
  Install("good");
  Install("broken", "abi = []\n");
  Install("crashed");
  const Status status =
      FindBackend(Run(), {"", "nothing", {}}, [](const BackendCandidate& b) {
        return b.name() == "crashed" ? "it died" : "";
      }).error();
  EXPECT_THAT(status.message(), HasSubstr("known: good; failed backends: "));
  EXPECT_THAT(status.message(), HasSubstr("crashed (it died)"));
  EXPECT_THAT(status.message(), HasSubstr("broken (bulkhead.toml, line 1"));
}

TEST_F(DiscoverTest, AnExplicitLoadCountsWithAutoloadOff) {
  Install("acme");
  Install("other");
  selection_.autoload = false;
  const ExplicitLoad load{.directory = tree_.path(),
                          .dist_info = "acme-1.0.dist-info",
                          .object = "",
                          .entry_point = ""};
  const Scan path = ScanPluginPath({{tree_.path(), "test"}});
  const Discovery on_path = Discover(path, selection_, {load});
  EXPECT_EQ(on_path.backends.size(), 2u);
  EXPECT_TRUE(Find(on_path, "acme")->usable());
  EXPECT_FALSE(Find(on_path, "other")->usable());

  const Discovery elsewhere = Discover({}, selection_, {load, load});
  EXPECT_EQ(elsewhere.backends.size(), 1u);
  EXPECT_TRUE(Find(elsewhere, "acme")->usable());

  selection_.disabled = {"ac*"};
  EXPECT_FALSE(Find(Discover({}, selection_, {load}), "acme")->usable());
}

TEST_F(DiscoverTest, AReplacedObjectIsAnotherCandidate) {
  Install("acme");
  const Discovery before = Run();
  EXPECT_EQ(before.backends, Run().backends);
  std::filesystem::rename(tree_ / "acme/libplugin.so", tree_ / "acme/old");
  tree_.Write("acme/libplugin.so", "ELF");
  EXPECT_NE(before.backends, Run().backends);
}

TEST_F(DiscoverTest, AHashThatCannotBeCheckedBreaksTheBackend) {
  Install("acme");
  tree_.Write("acme-1.0.dist-info/RECORD", "acme/libplugin.so,md5=abc,3\n");
  const Discovery found = Run();
  EXPECT_EQ(found.backends[0].standing, Standing::kBroken);
  EXPECT_THAT(found.backends[0].reason, HasSubstr("\"md5\" does not count"));
}

// Writes a RECORD of the backend's object and `rows` further rows.
std::string RecordOf(const std::string& name, size_t rows) {
  std::string text = name + "/libplugin.so,,\n";
  for (size_t i = 0; i < rows; ++i) {
    text += name + "/" + std::to_string(i) + ",,\n";
  }
  return text;
}

TEST_F(DiscoverTest, RecordIsReadOnceForAllBackendsOfADistribution) {
  Install("acme");
  tree_.Write("acme-1.0.dist-info/RECORD", RecordOf("acme", 999));
  tree_.Write("acme-1.0.dist-info/entry_points.txt",
              "[bulkhead.backends]\na = acme.plugin:a\nb = acme.plugin:b\n"
              "c = acme.plugin:c\nd = acme.plugin:d\n");
  const Discovery found = Run();
  EXPECT_EQ(found.work.backends, 4u);
  EXPECT_EQ(found.work.rows, 1000u);
  EXPECT_EQ(found.work.files, 2u);
  for (const BackendCandidate& backend : found.backends) {
    EXPECT_TRUE(backend.usable()) << backend.reason;
    EXPECT_EQ(backend.files_beside, 999u);
  }
}

TEST_F(DiscoverTest, OfWhatIsExcludedOnlyTheNameIsRead) {
  Install("acme", "devices = [\"npu\"]\n");
  tree_.Write("acme-1.0.dist-info/RECORD", RecordOf("acme", 10));
  const auto expect_unread = [&] {
    const Discovery found = Run();
    EXPECT_EQ(Find(found, "acme")->standing, Standing::kDisabled);
    EXPECT_EQ(found.work.backends + found.work.files + found.work.rows, 0u);
  };
  selection_.enabled = {"cpu"};
  expect_unread();
  selection_.enabled.clear();
  selection_.disabled = {"acme"};
  expect_unread();
  selection_.disabled.clear();
  selection_.autoload = false;
  expect_unread();
}

TEST_F(DiscoverTest, TooMuchInOneDistributionBreaksThatOneAlone) {
  Install("good");
  Install("long");
  tree_.Write("long-1.0.dist-info/RECORD",
              RecordOf("long", kMaxBackendsRecordRows));
  Install("large");
  tree_.Write("large-1.0.dist-info/RECORD", "");
  std::filesystem::resize_file(tree_ / "large-1.0.dist-info/RECORD",
                               kMaxBackendsRecordBytes + 1);
  Install("wordy", std::string(70'000, '#'));
  std::string entry_points = "[bulkhead.backends]\n";
  for (int i = 0; i < 100; ++i) {
    entry_points += "m" + std::to_string(i) + " = good.plugin:entry\n";
  }
  tree_.WriteDistribution("many-1.0.dist-info", "many", "1.0", entry_points);
  const Discovery found = Run();
  EXPECT_TRUE(Find(found, "good")->usable());
  EXPECT_THAT(Find(found, "long")->reason, HasSubstr("RECORD has 65537 rows"));
  EXPECT_THAT(Find(found, "large")->reason,
              HasSubstr("RECORD\" has more than"));
  EXPECT_THAT(Find(found, "wordy")->reason, HasSubstr("has more than 65536"));
  EXPECT_NE(Find(found, "m31"), nullptr);
  EXPECT_EQ(Find(found, "m32"), nullptr);
}

TEST_F(DiscoverTest, TooMuchInAllLeavesTheSmallestAndTheFirst) {
  for (int i = 0; i < 6; ++i) {
    const std::string name = "a" + std::to_string(i);
    Install(name);
    const std::string record = name + "-1.0.dist-info/RECORD";
    tree_.Write(record, RecordOf(name, 0));
    std::filesystem::resize_file(tree_ / record,
                                 kMaxBackendsRecordBytes - 2'000 - i);
  }
  Install("good");
  const Discovery found = Run();
  for (const char* read : {"good", "a5", "a4", "a0", "a1"}) {
    EXPECT_TRUE(Find(found, read)->usable()) << Find(found, read)->reason;
  }
  for (const char* unread : {"a2", "a3"}) {
    EXPECT_THAT(Find(found, unread)->reason,
                HasSubstr("too much is installed"));
  }
}

TEST_F(DiscoverTest, MassesOfSmallPackagesTakeNothingFromWhatWasThere) {
  Install("zfirst");
  tree_.Write("zfirst-1.0.dist-info/RECORD", RecordOf("zfirst", 1'000));
  constexpr size_t kPackages = kMaxBackendsOfAll / kMaxBackendsOfOne + 6;
  for (size_t i = 0; i < kPackages; ++i) {
    std::string entry_points = "[bulkhead.backends]\n";
    for (size_t j = 0; j < kMaxBackendsOfOne; ++j) {
      entry_points += "m" + std::to_string(i * kMaxBackendsOfOne + j) +
                      " = zfirst.plugin:entry\n";
    }
    const std::string name = "mass" + std::to_string(i);
    tree_.WriteDistribution(name + "-1.0.dist-info", name, "1.0", entry_points);
  }
  const Discovery found = Run();
  EXPECT_TRUE(Find(found, "zfirst")->usable()) << Find(found, "zfirst")->reason;
  EXPECT_LE(found.work.backends, kMaxBackendsOfAll);
  EXPECT_GT(found.work.backends, kMaxBackendsOfAll / 2);
}

class ReservedNames : public DiscoverTest {
 protected:
  ReservedNames() {
    for (const std::string name : {"cpu", "openreg"}) {
      own_.WriteDistribution(
          "bulkhead_" + name + "-1.dist-info", "bulkhead-" + name, "1",
          "[bulkhead.backends]\n" + name + " = " + name + ".plugin:entry\n");
      own_.Write(name + "/libplugin.so", "ELF");
    }
  }

  Discovery Run(const std::vector<grants::Grant>& grants = {}) {
    return Discover(ScanPluginPath({{tree_.path(), "test"},
                                    {own_.path(), "built in", true}}),
                    selection_, {}, grants);
  }
  static std::string DirectoryOf(const Discovery& discovery,
                                 const DeviceName& device) {
    const auto found = FindBackend(discovery, device);
    return found ? (*found)->directory : found.error().message();
  }

  TemporaryTree own_;
};

TEST_F(ReservedNames, NoPackageTakesThemByItself) {
  for (const std::string name : {"cpu", "openreg"}) {
    Install(name);
    const Discovery found = Run();
    EXPECT_EQ(DirectoryOf(found, {"", name, {}}), own_.path()) << name;
    EXPECT_EQ(DirectoryOf(found, {name, name, {}}), own_.path()) << name;
    const BackendCandidate& claimant = found.backends.front();
    EXPECT_EQ(claimant.directory, tree_.path());
    EXPECT_EQ(claimant.standing, Standing::kBroken);
    EXPECT_THAT(claimant.reason, HasSubstr("the name " + name));
    EXPECT_THAT(claimant.reason, HasSubstr("reserved_name = true"));
    tree_.Remove(name + "-1.0.dist-info");
  }
}

TEST_F(ReservedNames, NoPackageTakesTheDefaultDevice) {
  Install("acme", "devices = [\"cpu\", \"npu\"]\n");
  const Discovery found = Run();
  EXPECT_EQ(DirectoryOf(found, {"", "cpu", {}}), own_.path());
  EXPECT_EQ(DirectoryOf(found, {"acme", "cpu", {}}), tree_.path());
  EXPECT_EQ(DirectoryOf(found, {"", "npu", {}}), tree_.path());
  ASSERT_EQ(found.diagnostics.size(), 1u);
  EXPECT_THAT(found.diagnostics[0].message, HasSubstr("acme/cpu"));
}

TEST_F(ReservedNames, NoDistributionHidesBulkheadsOwn) {
  tree_.WriteDistribution("bulkhead_cpu-99.dist-info", "bulkhead-cpu", "99");
  EXPECT_EQ(DirectoryOf(Run(), {"", "cpu", {}}), own_.path());
}

TEST_F(ReservedNames, TheOperatorGivesOneToAnObject) {
  const std::string hash = "sha256=cGq-PJAVIHXmVrZhB5cw-s8yPz68zadUfuGTXJCEWgk";
  Install("cpu");
  tree_.Write("cpu-1.0.dist-info/RECORD", "cpu/libplugin.so," + hash + ",3\n");
  grants::Grant grant{.backend = "cpu",
                      .hash = hash,
                      .permissions = {},
                      .reserved_name = true,
                      .file = "/grants.toml",
                      .line = 7};
  const Discovery found = Run({grant});
  EXPECT_EQ(DirectoryOf(found, {"", "cpu", {}}), tree_.path());
  const BackendCandidate& replaced = found.backends.at(1);
  EXPECT_EQ(replaced.directory, own_.path());
  EXPECT_EQ(replaced.standing, Standing::kDisabled);
  EXPECT_THAT(replaced.reason, HasSubstr("/grants.toml:7"));

  grant.hash = "sha256=" + std::string(43, 'A');
  EXPECT_EQ(DirectoryOf(Run({grant}), {"", "cpu", {}}), own_.path());
  grant.hash = hash;
  grant.reserved_name = false;
  EXPECT_EQ(DirectoryOf(Run({grant}), {"", "cpu", {}}), own_.path());
}

TEST_F(DiscoverTest, AutoloadOffKeepsBuiltInBackends) {
  Install("acme");
  const TemporaryTree ours;
  ours.WriteDistribution("cpu-1.dist-info", "cpu", "1",
                         "[bulkhead.backends]\ncpu = cpu.plugin:entry\n");
  ours.Write("cpu/plugin.so", "");
  selection_.autoload = false;
  const Discovery found = Discover(
      ScanPluginPath({{tree_.path(), "test"}, {ours.path(), "built in", true}}),
      selection_);
  EXPECT_EQ(Find(found, "acme")->standing, Standing::kDisabled);
  EXPECT_TRUE(Find(found, "cpu")->usable());
}

}  // namespace
}  // namespace bulkhead::discovery
