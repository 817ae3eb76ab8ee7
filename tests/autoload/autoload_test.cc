// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "bulkhead/host.h"
#include "tests/autoload/plugin_tree.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/deadlines.h"
#include "tests/support/frame_hash.h"
#include "tests/support/rows.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Overrides every setting that the environment of the test run could change.
HostOptions Options(const std::vector<std::string>& plugin_path) {
  HostOptions options;
  options.libexec_dir = LibexecDirectory();
  options.plugin_path = plugin_path;
  options.plugin_add_path.emplace();
  options.autoload = true;
  options.backends.emplace();
  options.backends_disable.emplace();
  return options;
}

class Autoload : public testing::Test {
 protected:
  void SetUp() override { clip_ = ClipOrSkip(Clip::kH264); }

  std::unique_ptr<Host> NewHost() { return NewHost(Options({tree_.path()})); }
  std::unique_ptr<Host> NewHost(const HostOptions& options) {
    return Host::Create(options).value();
  }

  Result<std::vector<std::string>> Decode(Host& host,
                                          const std::string& device) {
    auto video = host.OpenVideo(clip_, {.device = device});
    if (!video) return video.error();
    std::vector<std::string> hashes;
    for (;;) {
      auto frame = video->Next();
      if (!frame) return frame.error();
      if (!*frame) return hashes;
      hashes.push_back(HashOf(**frame));
    }
  }

  void ExpectDecodes(Host& host, const std::string& device) {
    const auto hashes = Decode(host, device);
    ASSERT_TRUE(hashes) << device << ": " << hashes.error();
    if (expected_.empty()) expected_ = Decode(host, "cpu").value();
    EXPECT_EQ(*hashes, expected_) << device;
  }

  static Status FailureOf(Host& host, const std::string& device) {
    return host.Prewarm(device);
  }

  static BackendInfo Info(Host& host, const std::string& name) {
    const BackendReport report = host.Backends().value();
    for (const BackendInfo& backend : report.backends) {
      if (backend.name == name) return backend;
    }
    ADD_FAILURE() << "there is no backend " << name;
    return {};
  }

  static std::vector<std::string> Names(
      const std::vector<DeviceInfo>& devices) {
    std::vector<std::string> names;
    for (const DeviceInfo& device : devices) names.push_back(device.name);
    return names;
  }

  // Waits for the state. Each Backends() call waits for bulkheadd's answer, so
  // this is no busy loop.
  static void AwaitState(Host& host, const std::string& name,
                         const std::string& state) {
    const auto limit = std::chrono::steady_clock::now() + milliseconds(30'000);
    while (Info(host, name).state != state) {
      ASSERT_LT(std::chrono::steady_clock::now(), limit)
          << name << " is not " << state << " but " << Info(host, name).state;
    }
  }

  const std::string& clip() const { return clip_; }
  PluginTree tree_;

 private:
  std::string clip_;
  std::vector<std::string> expected_;
};

TEST_F(Autoload, AFailingBackendSaysWhyAndSparesTheOthers) {
  HostOptions options =
      Options({DistributionDirectory("BULKHEAD_TEST_BAD_BACKENDS")});
  options.deadlines.backend_start = kShort;
  const auto host = NewHost(options);
  const std::pair<std::string, std::string> kCauses[] = {
      {"segfaults",
       "signal 11 (Segmentation fault), by its own account in "
       "libbad_plugin.so+"},
      {"aborts", "signal 6"},
      {"exits_zero", "exited with code 0"},
      {"exits_three", "exited with code 3"},
      {"hangs", "2000 ms"},
      {"spins", "2000 ms"},
      {"throws_exception", "no licence"},
      {"null_table", "null"},
      {"other_abi", "77"},
      {"small_table", "table"},
      {"maps_many_parts", "parts of files, of which 1024 can be held"},
      {"absent_symbol", "symbol_that_nobody_wrote"},
      {"needs_missing_library", "libmissing_on_purpose.so"},
      {"needs_missing_symbol", "function_that_nobody_has"},
      {"recurses", "starts Bulkhead"},
  };
  for (const auto& [device, cause] : kCauses) {
    const Status status = FailureOf(*host, device);
    ExpectOutcome(Fault(device == "other_abi" ? 51 : 42), device,
                  Code::kBackendUnavailable, status);
    EXPECT_THAT(status.message(),
                AllOf(StartsWith("Failed to load the backend extension: " +
                                 device + " (bad-backends 1.0, "),
                      HasSubstr(cause),
                      HasSubstr("You can disable extension autoloading with "
                                "BULKHEAD_DEVICE_BACKEND_AUTOLOAD=0.")))
        << device;
    EXPECT_FALSE(host->OpenVideo(clip(), {.device = device}));
  }
  ExpectDecodes(*host, "cpu");
  ExpectDecodes(*host, "openreg:1");

  // The error for an unknown device lists all backends that failed.
  const Status unknown = FailureOf(*host, "nothing");
  EXPECT_EQ(unknown.code(), Code::kNotFound);
  EXPECT_THAT(unknown.message(),
              AllOf(HasSubstr("known: cpu, openreg; failed backends: "),
                    HasSubstr("segfaults ("), HasSubstr("no licence"),
                    HasSubstr("searched: ")));
}

TEST_F(Autoload, FiftyGoodOnesAreThereBesideEveryBrokenKind) {
  for (int i = 0; i < 50; ++i) {
    tree_.InstallOpenreg("good" + std::to_string(i));
  }
  const auto broken = [&](const std::string& name, const std::string& file,
                          const std::string& contents) {
    tree_.InstallOpenreg(name);
    std::filesystem::remove(tree_.DistInfo(name) + "/" + file);
    tree_.Write(name + "-1.0.dist-info/" + file, contents);
  };
  broken("noequals", "entry_points.txt", "[bulkhead.backends]\nnoequals\n");
  broken("badvalue", "entry_points.txt", "[bulkhead.backends]\nx = a b:c\n");
  broken("notutf8", "entry_points.txt", "[bulkhead.backends]\n\xff = a:b\n");
  broken("newer", "bulkhead.toml", "schema_version = 2\n");
  broken("otherabi", "bulkhead.toml", "abi = 9\n");
  broken("typo", "bulkhead.toml", "devices = 1\n");
  broken("unlisted", "RECORD", "something/else.so,,\n");
  broken("weakhash", "RECORD", "weakhash/libweakhash.so,md5=x,\n");
  tree_.InstallOpenreg("looping");
  std::filesystem::remove(tree_.DistInfo("looping") + "/entry_points.txt");
  std::filesystem::create_symlink(
      "entry_points.txt", tree_.DistInfo("looping") + "/entry_points.txt");
  tree_.InstallOpenreg("fifo");
  std::filesystem::remove(tree_.DistInfo("fifo") + "/entry_points.txt");
  ASSERT_EQ(
      mkfifo((tree_.DistInfo("fifo") + "/entry_points.txt").c_str(), 0644), 0);
  tree_.InstallOpenreg("nofile");
  std::filesystem::remove(tree_.Object("nofile"));
  tree_.Write("~old-1.0.dist-info/METADATA", "Name: old\n");
  std::ofstream(tree_.path() + "/file-1.0.dist-info") << "no directory";

  const auto host = NewHost();
  const BackendReport report = host->Backends().value();
  std::set<std::string> usable;
  for (const BackendInfo& backend : report.backends) {
    if (backend.state == "discovered") usable.insert(backend.name);
  }
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(usable.contains("good" + std::to_string(i))) << i;
  }
  for (const char* name :
       {"noequals", "badvalue", "notutf8", "newer", "otherabi", "typo",
        "unlisted", "weakhash", "looping", "fifo", "nofile", "~old", "file"}) {
    const bool explained = std::any_of(
        report.diagnostics.begin(), report.diagnostics.end(),
        [&](const Diagnostic& diagnostic) {
          return diagnostic.severity != Diagnostic::Severity::kNote &&
                 diagnostic.file.find(std::string("/") + name) !=
                     std::string::npos;
        });
    ExpectOutcome(Fault(39), name, "explained, left out",
                  std::string(explained ? "explained" : "not explained") +
                      (usable.contains(name) ? ", usable" : ", left out"));
  }
  ExpectDecodes(*host, "good0/openreg:1");
  ExpectDecodes(*host, "good49/openreg");
}

TEST_F(Autoload, NothingStartsBeforeItIsAskedFor) {
  tree_.InstallOpenreg("vendor");
  const auto host = NewHost();
  EXPECT_EQ(Info(*host, "vendor").incarnation, 0u);
  EXPECT_THAT(Names(Info(*host, "vendor").devices), ElementsAre("openreg"));
  ASSERT_TRUE(host->Prewarm("vendor/openreg").ok());
  EXPECT_EQ(Info(*host, "vendor").incarnation, 1u);
  EXPECT_THAT(Names(Info(*host, "vendor").devices),
              ElementsAre("openreg:0", "openreg:1"));
  EXPECT_NE(Info(*host, "vendor").devices[0].description, "");
  EXPECT_EQ(Info(*host, "cpu").incarnation, 0u);
}

TEST_F(Autoload, EagerStartsAllWithoutBeingAsked) {
  tree_.InstallOpenreg("vendor");
  HostOptions options = Options(
      {tree_.path(), DistributionDirectory("BULKHEAD_TEST_BAD_BACKENDS")});
  options.eager = true;
  const auto host = NewHost(options);
  AwaitState(*host, "vendor", "ready");
  AwaitState(*host, "cpu", "ready");
  AwaitState(*host, "segfaults", "backing-off");
  ExpectDecodes(*host, "vendor/openreg");
  EXPECT_EQ(Info(*host, "vendor").incarnation, 1u);
}

TEST_F(Autoload, TwentyThreadsThatAskForOneDeviceStartOneZygote) {
  tree_.InstallOpenreg("vendor");
  const auto host = NewHost();
  std::vector<std::thread> threads;
  std::vector<Result<VideoDecoder>> videos;
  for (int i = 0; i < 20; ++i) {
    videos.push_back(Status(Code::kInternal, "not opened"));
  }
  for (int i = 0; i < 20; ++i) {
    threads.emplace_back([&, i] {
      videos[i] = host->OpenVideo(
          clip(), {.device = i % 2 == 0 ? "openreg:0" : "vendor/openreg:1"});
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (auto& video : videos) {
    ASSERT_TRUE(video) << video.error();
    EXPECT_TRUE(video->Next().value());
  }
  const BackendInfo info = Info(*host, "vendor");
  EXPECT_EQ(info.incarnation, 1u);
  EXPECT_EQ(info.session_pids.size(), 20u);
}

TEST_F(Autoload, AHangingEntryPointDelaysOnlyThoseWhoAskForIt) {
  HostOptions options =
      Options({DistributionDirectory("BULKHEAD_TEST_BAD_BACKENDS")});
  options.deadlines.backend_start = milliseconds(20'000);
  const auto host = NewHost(options);
  auto hanging =
      std::async(std::launch::async, [&] { return FailureOf(*host, "hangs"); });
  AwaitState(*host, "hangs", "starting");
  ExpectDecodes(*host, "cpu");
  ExpectDecodes(*host, "openreg");
  EXPECT_FALSE(FailureOf(*host, "segfaults").ok());
  EXPECT_EQ(Info(*host, "hangs").state, "starting");
  EXPECT_EQ(hanging.wait_for(milliseconds(0)), std::future_status::timeout);
  // An operator may kill a zygote that hangs. The backend is not blamed for it.
  ASSERT_EQ(kill(Info(*host, "hangs").zygote_pid, SIGKILL), 0);
  EXPECT_EQ(hanging.get().code(), Code::kBackendLost);
  EXPECT_EQ(Info(*host, "hangs").state, "discovered");
}

TEST_F(Autoload, OfTwoThatClaimADeviceTheFirstHasIt) {
  tree_.InstallOpenreg("alpha");
  tree_.InstallOpenreg("beta");
  const auto host = NewHost();
  ASSERT_TRUE(host->OpenVideo(clip(), {.device = "openreg"}));
  EXPECT_EQ(Info(*host, "alpha").incarnation, 1u);
  EXPECT_EQ(Info(*host, "beta").incarnation, 0u);
  EXPECT_THAT(Names(Info(*host, "beta").devices), ElementsAre("beta/openreg"));
  ExpectDecodes(*host, "beta/openreg:1");
  EXPECT_EQ(Info(*host, "beta").incarnation, 1u);
  bool said = false;
  const BackendReport report = host->Backends().value();
  for (const Diagnostic& diagnostic : report.diagnostics) {
    said |= diagnostic.message.find("beta/openreg") != std::string::npos;
  }
  EXPECT_TRUE(said);
}

TEST_F(Autoload, APackageCalledCpuGetsNoCallThatNamesNoDevice) {
  tree_.InstallOpenreg("cpu");
  tree_.Write("cpu-1.0.dist-info/bulkhead.toml", "devices = [\"cpu\"]\n");
  tree_.InstallOpenreg("acme");
  tree_.Write("acme-1.0.dist-info/bulkhead.toml", "devices = [\"cpu\"]\n");
  // It would hide the distribution that the built-in cpu belongs to.
  tree_.Write("bulkhead_cpu-99.dist-info/METADATA",
              "Metadata-Version: 2.1\nName: bulkhead-cpu\nVersion: 99\n");
  const auto host = NewHost();
  for (const char* device : {"", "cpu", "cpu/cpu"}) {
    const auto video = host->OpenVideo(clip(), {.device = device});
    ASSERT_TRUE(video) << video.error();
    const BackendReport report = host->Backends().value();
    for (const BackendInfo& backend : report.backends) {
      const bool own = backend.file.starts_with(LibexecDirectory() + "/");
      EXPECT_EQ(backend.incarnation, own && backend.name == "cpu" ? 1u : 0u)
          << backend.file;
      if (own || backend.name != "cpu") continue;
      ExpectOutcome(
          Escape(77), std::string("device \"") + device + "\"",
          "not used: reserved",
          backend.reason.find("reserved_name = true") != std::string::npos
              ? "not used: reserved"
              : backend.state + ": " + backend.reason);
    }
  }

  std::ofstream(tree_.path() + "/grants.toml")
      << "[[grant]]\nbackend = \"cpu\"\nany_hash = true\n"
         "reserved_name = true\n";
  HostOptions options = Options({tree_.path()});
  options.grants = tree_.path() + "/grants.toml";
  const auto told = NewHost(options);
  const BackendReport report = told->Backends().value();
  EXPECT_EQ(report.backends.at(1).file, tree_.Object("cpu"));
  EXPECT_EQ(report.backends.at(1).reason, "");
}

// What packages write about themselves delays nobody who asks for another
// device, and each start examines the files of its own backend alone.
TEST_F(Autoload, HugeMetadataDelaysNobodyElse) {
  tree_.InstallOpenreg("zgood");
  // 2 MB of RECORD for four entry points.
  std::string record = "long/liblong.so,,\n";
  for (int i = 0; record.size() < 2'000'000; ++i) {
    record += "long/" + std::to_string(i) + ",,\n";
  }
  tree_.InstallOpenreg("long");
  tree_.Write("long-1.0.dist-info/RECORD", record);
  tree_.Write("long-1.0.dist-info/entry_points.txt",
              "[bulkhead.backends]\nl1 = long.long:a\nl2 = long.long:b\n"
              "l3 = long.long:c\nl4 = long.long:d\n");
  // Twelve names of one sparse file, whose hash RECORD does not have.
  tree_.InstallOpenreg("sparse");
  const std::string first = tree_.path() + "/sparse/f0";
  std::ofstream(first).close();
  std::filesystem::resize_file(first, 100'000'000);
  std::ofstream rows(tree_.DistInfo("sparse") + "/RECORD", std::ios::app);
  for (int i = 0; i < 12; ++i) {
    const std::string name = "sparse/f" + std::to_string(i);
    if (i > 0) {
      std::filesystem::create_hard_link(first, tree_.path() + "/" + name);
    }
    rows << name << ",sha256=" << std::string(43, 'A') << ",\n";
  }
  rows.close();
  // Folders that are read before "zgood".
  for (int i = 0; i < 9'000; ++i) {
    std::filesystem::create_directory(tree_.DistInfo("a" + std::to_string(i)));
  }

  const auto host = NewHost();
  ExpectOutcome(Escape(78), "cpu beside huge metadata", "decodes",
                Decode(*host, "") ? "decodes" : "does not decode");
  ExpectOutcome(Escape(78), "a backend behind 9,000 folders", "decodes",
                Decode(*host, "zgood/openreg") ? "decodes" : "does not decode");
  for (const char* name : {"l1", "l2", "l3", "l4"}) {
    EXPECT_THAT(Info(*host, name).reason, HasSubstr("rows")) << name;
  }
  // Its start reads the file once, and others start meanwhile.
  auto starting = std::async(std::launch::async,
                             [&] { return host->Prewarm("sparse/openreg"); });
  AwaitState(*host, "sparse", "starting");
  ExpectDecodes(*host, "openreg/openreg");
  const Status started = starting.get();
  ExpectOutcome(Escape(78), "twelve names of one sparse file", Code::kOk,
                started);
  bool told = false;
  const BackendReport report = host->Backends().value();
  for (const Diagnostic& diagnostic : report.diagnostics) {
    told |= diagnostic.message.find("not shown to the backend: \"sparse/f") !=
            std::string::npos;
  }
  EXPECT_TRUE(told);
}

TEST_F(Autoload, WhatIsDroppedNamesTheRule) {
  tree_.InstallOpenreg("alpha");
  tree_.InstallOpenreg("beta");
  HostOptions options = Options({tree_.path()});
  options.backends = {{"alpha", "cpu", "beta"}};
  options.backends_disable = {{"b*"}};
  const auto host = NewHost(options);
  EXPECT_THAT(Info(*host, "beta").reason,
              HasSubstr("\"b*\" in option backends_disable"));
  EXPECT_THAT(Info(*host, "openreg").reason, HasSubstr("option backends"));
  const Status disabled = FailureOf(*host, "beta/openreg");
  EXPECT_EQ(disabled.code(), Code::kBackendUnavailable);
  EXPECT_THAT(disabled.message(), HasSubstr("\"b*\""));
  EXPECT_THAT(FailureOf(*host, "nothing").message(),
              HasSubstr("disabled backends: beta (disabled by \"b*\""));
}

TEST_F(Autoload, TheOptionOverrulesAVariableWithoutAValidValue) {
  const char* const variable = "BULKHEAD_DEVICE_BACKEND_AUTOLOAD";
  ASSERT_EQ(setenv(variable, "perhaps", 1), 0);
  const auto chosen = Host::Create(Options({tree_.path()}));
  HostOptions options = Options({tree_.path()});
  options.autoload.reset();
  const auto unchosen = Host::Create(options);
  ASSERT_EQ(unsetenv(variable), 0);
  EXPECT_TRUE(chosen) << chosen.error();
  ASSERT_FALSE(unchosen);
  EXPECT_EQ(unchosen.error().code(), Code::kInvalidArgument);
}

TEST_F(Autoload, ExplicitLoadingWorksWithAutoloadOffAndOnce) {
  tree_.InstallOpenreg("vendor");
  HostOptions options = Options({tree_.path()});
  options.autoload = false;
  const auto host = NewHost(options);
  EXPECT_EQ(FailureOf(*host, "vendor/openreg").code(),
            Code::kBackendUnavailable);
  const EntryPoint entry_point =
      FindEntryPoints(std::vector{tree_.path()})
          .entry_points.Select({.group = "bulkhead.backends"})
          .Named("vendor")
          .value();
  for (int i = 0; i < 2; ++i) {
    for (const std::string& path :
         {tree_.DistInfo("vendor"), tree_.Object("vendor"), tree_.path()}) {
      const auto devices = host->LoadBackend(path);
      ASSERT_TRUE(devices) << devices.error();
      EXPECT_THAT(Names(*devices), ElementsAre("openreg:0", "openreg:1"));
    }
    ASSERT_TRUE(host->LoadBackend(entry_point));
  }
  EXPECT_EQ(Info(*host, "vendor").incarnation, 1u);
  ExpectDecodes(*host, "openreg:1");

  // The explicit load is repeated in the next bulkheadd.
  ASSERT_EQ(kill(host->supervisor_pid(), SIGKILL), 0);
  ExpectDecodes(*host, "vendor/openreg:1");
}

TEST_F(Autoload, ExplicitLoadingIsNotBoundToThePluginPath) {
  tree_.InstallOpenreg("vendor");
  const auto host = NewHost(Options({}));
  EXPECT_EQ(FailureOf(*host, "vendor/openreg").code(), Code::kNotFound);
  ASSERT_TRUE(host->LoadBackend(tree_.DistInfo("vendor")));
  // Bulkhead's own backend keeps the name, since it was found first.
  ExpectDecodes(*host, "vendor/openreg");
  EXPECT_EQ(Info(*host, "openreg").incarnation, 0u);
}

TEST_F(Autoload, ExplicitLoadingFailsWithTheCause) {
  tree_.InstallOpenreg("vendor");
  tree_.Write("empty/readme.txt", "nothing");
  HostOptions options = Options({});
  options.backends_disable = {{"vendor"}};
  const auto host = NewHost(options);
  const Status disabled = host->LoadBackend(tree_.Object("vendor")).error();
  EXPECT_EQ(disabled.code(), Code::kBackendUnavailable);
  EXPECT_THAT(disabled.message(), HasSubstr("backends_disable"));
  EXPECT_EQ(host->LoadBackend(tree_.path() + "/nowhere").error().code(),
            Code::kNotFound);
  EXPECT_EQ(host->LoadBackend(tree_.path() + "/empty").error().code(),
            Code::kNotFound);
  EXPECT_EQ(
      host->LoadBackend(tree_.path() + "/empty/readme.txt").error().code(),
      Code::kInvalidArgument);
  EXPECT_EQ(host->LoadBackend(EntryPoint{.name = "x", .group = "other"})
                .error()
                .code(),
            Code::kInvalidArgument);
  const Status broken =
      host->LoadBackend(DistributionDirectory("BULKHEAD_TEST_BAD_BACKENDS") +
                        "/bad_backends/libneeds_missing_library.so")
          .error();
  EXPECT_EQ(broken.code(), Code::kBackendUnavailable);
  EXPECT_THAT(broken.message(), HasSubstr("libmissing_on_purpose.so"));
  ExpectDecodes(*host, "cpu");
}

TEST_F(Autoload, AnObjectThatIsNotTheInstalledOneIsNeverLoaded) {
  tree_.InstallOpenreg("vendor");
  // The copy of a built file is read-only.
  std::filesystem::permissions(tree_.Object("vendor"),
                               std::filesystem::perms::owner_write,
                               std::filesystem::perm_options::add);
  std::ofstream object(tree_.Object("vendor"), std::ios::app);
  object << "x";
  object.close();
  ASSERT_TRUE(object);
  const auto host = NewHost();
  const Status status = FailureOf(*host, "vendor/openreg");
  ExpectOutcome(Fault(48), "not the one of RECORD", Code::kBackendUnavailable,
                status);
  EXPECT_THAT(status.message(), HasSubstr("the hash in RECORD differs"));
  EXPECT_EQ(Info(*host, "vendor").incarnation, 0u);

  // A repaired backend loads at once, in the same host.
  std::filesystem::remove(tree_.Object("vendor"));
  tree_.InstallOpenreg("vendor");
  ExpectDecodes(*host, "vendor/openreg");
}

TEST_F(Autoload, WhatIsInstalledMeanwhileIsFoundAndWhatIsRemovedGone) {
  const auto host = NewHost();
  EXPECT_EQ(FailureOf(*host, "late/openreg").code(), Code::kNotFound);
  tree_.InstallOpenreg("late");
  ExpectDecodes(*host, "late/openreg");
  tree_.InstallOpenreg("later");
  EXPECT_EQ(Info(*host, "later").state, "discovered");
  std::filesystem::remove_all(tree_.DistInfo("later"));
  EXPECT_EQ(FailureOf(*host, "later/openreg").code(), Code::kNotFound);
  // A running backend continues.
  std::filesystem::remove_all(tree_.DistInfo("late"));
  EXPECT_EQ(Info(*host, "late").state, "ready");
  ExpectDecodes(*host, "late/openreg");
}

TEST_F(Autoload, TheDefaultDeviceIsCpuOrWhatTheOptionsSay) {
  const auto host = NewHost();
  EXPECT_EQ(host->OpenVideo(clip())->metadata().device, "cpu:0");
  HostOptions options = Options({});
  options.default_device = "openreg:1";
  EXPECT_EQ(NewHost(options)->OpenVideo(clip())->metadata().device,
            "openreg:1");
  options.default_device = "open reg";
  const auto invalid = Host::Create(options);
  ASSERT_FALSE(invalid);
  EXPECT_EQ(invalid.error().code(), Code::kInvalidArgument);
  EXPECT_THAT(invalid.error().message(), HasSubstr("default_device"));
}

TEST_F(Autoload, DevicesAreListedByTheNamesThatReachThem) {
  tree_.InstallOpenreg("alpha");
  tree_.InstallOpenreg("beta");
  const auto host = NewHost();
  std::set<std::string> names;
  const std::vector<DeviceInfo> devices = host->Devices().value();
  for (const DeviceInfo& device : devices) {
    EXPECT_TRUE(host->Prewarm(device.name).ok()) << device.name;
    names.insert(device.name);
  }
  EXPECT_EQ(names, (std::set<std::string>{"openreg", "beta/openreg", "cpu",
                                          "openreg/openreg"}));
  EXPECT_EQ(host->Devices()->size(), 7u);
  EXPECT_EQ(host->Prewarm("alpha/openreg:2").code(), Code::kNotFound);
  EXPECT_EQ(host->Prewarm("open reg").code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace bulkhead::tests
