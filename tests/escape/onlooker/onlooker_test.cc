// SPDX-License-Identifier: Apache-2.0
//
// Another user of the machine compares sessions whose media is of the same size
// and shape, and has other contents. The user must not be able to say which is
// which, but for what is listed (exceptions.h). The sessions are of `cpu`, and
// of a backend that changes all that it can if the media has some bit.

#include "tests/escape/onlooker/onlooker.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "bulkhead/host.h"
#include "tests/escape/onlooker/exceptions.h"
#include "tests/escape/onlooker/signal_file.h"
#include "tests/support/await.h"
#include "tests/support/deadlines.h"
#include "tests/support/nobody.h"
#include "tests/support/process_watch.h"
#include "tests/support/program.h"
#include "tests/support/rows.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;

constexpr int kRounds = 3;
// How often a difference is looked for again: a difference that appears only
// now and then does not distinguish the files.
constexpr int kMoreTimes = 3;
constexpr int kFrames = 5;
constexpr std::array<const char*, 2> kLuma = {"16+random(1)*60",
                                              "150+random(1)*60"};

using Seen = std::array<std::vector<Snapshot>, 2>;  // by file

class OnlookerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can be several users";
    char directory[] = "/tmp/onlooker-XXXXXX";
    ASSERT_NE(mkdtemp(directory), nullptr);
    directory_ = directory;
    fs::permissions(directory_, fs::perms(0755));
    CopyForAll(LibexecDirectory(), Path("libexec"));
    CopyForAll(DistributionDirectory(), Path("plugins"));
    // Whoever may list the directory of the media hears each time that it is
    // read. The onlooker may not.
    fs::create_directory(Path("media"));
    fs::permissions(Path("media"), fs::perms(0700));
    for (size_t i = 0; i < kLuma.size(); ++i) {
      const auto made =
          RunFfmpeg({"-f", "lavfi", "-i",
                     "nullsrc=size=64x48:rate=25:duration=4,geq=lum='" +
                         std::string(kLuma[i]) + "':cb=128:cr=128",
                     "-pix_fmt", "yuv420p", "-c:v", "rawvideo", "-fflags",
                     "+bitexact", Media(i)});
      if (!made.started) GTEST_SKIP() << "there is no ffmpeg on this machine";
      ASSERT_EQ(made.exit_code, 0) << made.Describe();
    }
    ASSERT_EQ(fs::file_size(Media(0)), fs::file_size(Media(1)));
    ASSERT_TRUE(onlooker_.valid());
  }
  void TearDown() override {
    if (!directory_.empty()) fs::remove_all(directory_);
  }

  std::string Path(const std::string& name) const {
    return directory_ + "/" + name;
  }
  std::string Media(size_t file) const {
    return Path("media/" + std::to_string(file) + ".avi");
  }

  // Returns what the onlooker sees while a session of each file waits after the
  // same frame, in turns.
  Seen LookAtSessions(const std::string& device, bool exec) const {
    HostOptions options;
    options.libexec_dir = Path("libexec");
    options.plugin_path = {Path("plugins")};
    options.autoload = true;
    options.sandbox_floor = SandboxTier::kReduced;
    options.deadlines = PatientDeadlines();
    if (exec) options.backends_exec = {device};
    const auto host = Host::Create(options).value();
    EXPECT_TRUE(WatchAll());
    Seen seen;
    // What only the first session of a backend does is no secret.
    LookAt(*host, device, 0);
    for (int round = 0; round < kRounds; ++round) {
      for (size_t file = 0; file < seen.size(); ++file) {
        seen[file].push_back(LookAt(*host, device, file));
      }
    }
    return seen;
  }

  Snapshot LookAt(Host& host, const std::string& device, size_t file) const {
    VideoOptions options;
    options.device = device;
    options.threads = 1;
    auto video = host.OpenVideo(Media(file), options);
    EXPECT_TRUE(video) << video.error();
    if (!video) return {};
    for (int i = 0; i < kFrames; ++i) {
      const auto frame = video->Next();
      EXPECT_TRUE(frame && *frame) << "frame " << i;
    }
    const pid_t worker = video->worker_pid();
    EXPECT_TRUE(AwaitQuiet(worker));
    Snapshot seen = onlooker_.Look({{"worker", worker},
                                    {"reaper", ParentOf(worker)},
                                    {"bulkheadd", host.supervisor_pid()}});
    EXPECT_TRUE(seen.contains("worker/task 0/status:SigBlk"));
    return seen;
  }

  static pid_t ParentOf(pid_t process) {
    std::ifstream file("/proc/" + std::to_string(process) + "/status");
    for (std::string word; file >> word;) {
      if (word != "PPid:") continue;
      file >> word;
      return std::stoi(word);
    }
    return 0;
  }

  // Watches all directories of Bulkhead's and of the backends, those that
  // programs share, and a library of the system's. Returns whether any may be
  // watched.
  bool WatchAll() const {
    std::vector<std::string> watched = {"/dev", "/dev/shm", "/tmp", directory_,
                                        kSignalFile};
    for (const char* tree : {"libexec", "plugins"}) {
      watched.push_back(Path(tree));
      for (const auto& entry : fs::recursive_directory_iterator(Path(tree))) {
        if (entry.is_directory()) watched.push_back(entry.path());
      }
    }
    return onlooker_.Watch(watched) > 0;
  }

  // Waits until the worker has decoded as far ahead as it may.
  static bool AwaitQuiet(pid_t worker) {
    const std::string tasks = "/proc/" + std::to_string(worker) + "/task";
    std::string before;
    return Await(
        [&] {
          std::string now;
          for (const auto& task : fs::directory_iterator(tasks)) {
            std::ifstream file(task.path() / "schedstat");
            now += std::string(std::istreambuf_iterator<char>(file), {});
          }
          return std::exchange(before, now) == now;
        },
        kPatience);
  }

  // Returns what sets the two files apart and must not: a text for each name.
  static std::map<std::string, std::string> Told(const Seen& seen) {
    std::set<std::string> names;
    for (const auto& of_file : seen) {
      for (const Snapshot& snapshot : of_file) {
        for (const auto& [name, value] : snapshot) names.insert(name);
      }
    }
    std::map<std::string, std::string> told;
    for (const std::string& name : names) {
      std::array<std::set<std::string>, 2> values;
      std::string text;
      for (size_t file = 0; file < seen.size(); ++file) {
        for (const Snapshot& snapshot : seen[file]) {
          const auto found = snapshot.find(name);
          // How many threads there are may differ, and what each is like not.
          if (found == snapshot.end() && IsOfAFurtherThread(name)) continue;
          values[file].insert(found == snapshot.end() ? "not there"
                                                      : found->second);
        }
        text += file == 0 ? name + ":" : " |";
        for (const auto& value : values[file])
          text += " " + value.substr(0, 99);
      }
      if (values[0].empty() || values[1].empty()) continue;
      if (values[0] == values[1] && values[0].size() == 1) continue;
      if (ReasonToDiffer(name) != nullptr) continue;
      // What others change too gives a file away only if it is always the same.
      const bool constant = values[0].size() == 1 && values[1].size() == 1;
      if (constant || !IsOfOthersToo(name)) told[name] = text;
    }
    return told;
  }

  static bool IsOfAFurtherThread(const std::string& name) {
    return name.starts_with("worker/task ") &&
           !name.starts_with("worker/task 0/");
  }
  static bool IsOfOthersToo(const std::string& name) {
    return name[0] == '/' || name.starts_with("event") ||
           name.find("/net/") != std::string::npos ||
           name.ends_with("status:SigQ");  // of all processes of the user
  }

  // Returns what sets the files apart each time, a line for each name. What
  // other programs of this machine do may look like it for once.
  std::string ToldEachTime(const std::string& device, bool exec) const {
    auto told = Told(LookAtSessions(device, exec));
    for (int again = 0; again < kMoreTimes && !told.empty(); ++again) {
      const auto then = Told(LookAtSessions(device, exec));
      std::erase_if(told,
                    [&](const auto& one) { return !then.contains(one.first); });
    }
    std::string text;
    for (const auto& [name, line] : told) text += line + "\n";
    return text;
  }

  std::string directory_;
  const Onlooker onlooker_;
};

constexpr const char* kDevices[] = {"cpu", "telltale"};

std::string Name(const std::string& device, bool exec, const char* whose) {
  return device + (exec ? ", exec, " : ", clone, ") + whose;
}

TEST_F(OnlookerTest, SeesNoDifferenceBetweenSessionsOfRoot) {
  for (const char* device : kDevices) {
    for (const bool exec : {false, true}) {
      ExpectOutcome(Escape(89), Name(device, exec, "root's"), "",
                    ToldEachTime(device, exec));
    }
  }
}

TEST_F(OnlookerTest, SeesNoDifferenceBetweenSessionsOfAnotherUser) {
  fs::create_directory(Path("told"));
  for (const char* directory : {"media", "told"}) {
    ASSERT_EQ(chown(Path(directory).c_str(), kNobody, kNobody), 0);
  }
  const auto file = [this](const char* device, bool exec) {
    return Path("told/" + Name(device, exec, "told"));
  };
  RunAsNobody({}, [&] {
    for (const char* device : kDevices) {
      for (const bool exec : {false, true}) {
        std::ofstream(file(device, exec)) << ToldEachTime(device, exec);
      }
    }
  });
  for (const char* device : kDevices) {
    for (const bool exec : {false, true}) {
      std::ifstream told(file(device, exec));
      ASSERT_TRUE(told);
      ExpectOutcome(Escape(89), Name(device, exec, "a user's"), "",
                    {std::istreambuf_iterator<char>(told), {}});
    }
  }
}

}  // namespace
}  // namespace bulkhead::tests
