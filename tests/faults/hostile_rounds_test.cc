// SPDX-License-Identifier: Apache-2.0
//
// Decodes hostile files in rounds, on the backends that come with Bulkhead,
// while four sessions decode good files on the same backends. The good files
// stay exact throughout, and each hostile file ends in frames or in an error in
// time. The files that killed workers are then repeated more often, the
// quickest first. Each round has a Host and a state directory of its own.
//
// The files are from hostile/ below BULKHEAD_SHARED, or else clips that
// this test makes and damages. The run is short unless HOSTILE_ROUNDS and
// CRASHER_ROUNDS are set, as `tools/endure crashers` does.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "bulkhead/host.h"
#include "tests/media/generated_clips.h"
#include "tests/media/sample_files.h"
#include "tests/support/act_on_host.h"
#include "tests/support/frame_hash.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kFilesInShort = 24;
constexpr int kCrasherRoundsInShort = 2;
constexpr size_t kCrashers = 20;
constexpr int kFramesOfEach = 200;
constexpr milliseconds kLimitOfRound{3'600'000};
constexpr milliseconds kLimitOfFile{45'000};
constexpr const char* kDevices[] = {"cpu", "openreg:0"};

// The codes with which a hostile file may end.
const std::set<Code> kEnds = {Code::kOk,
                              Code::kInvalidArgument,
                              Code::kNotFound,  // a file without video
                              Code::kBadInput,
                              Code::kPoisonedInput,
                              Code::kUnsupported,
                              Code::kDeadlineExceeded,
                              Code::kResourceExhausted};

struct File {
  std::string path;
  milliseconds took{0};
  bool killed = false;  // workers
};

std::string Bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Returns clips in which some bytes are changed and some of which are
// truncated.
std::vector<File> DamagedClips() {
  std::vector<File> files;
  const fs::path directory = fs::path(std::getenv("TEST_TMPDIR")) / "damaged";
  fs::create_directory(directory);
  std::minstd_rand random(7);
  for (int i = 0; i < kFilesInShort; ++i) {
    const auto clips = AllClips();
    const auto clip = Generate(clips[i % clips.size()]);
    if (!clip) return {};
    std::string bytes = Bytes(*clip);
    for (int n = 0; n < 1 << (i % 8); ++n) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    if (i % 5 == 4) bytes.resize(random() % bytes.size() + 1);
    const fs::path path = directory / std::to_string(i);
    std::ofstream(path, std::ios::binary) << bytes;
    files.push_back({path});
  }
  return files;
}

std::vector<File> Files(bool all) {
  std::vector<File> files;
  for (const SampleFile& file : HostileFiles()) files.push_back({file.path});
  if (files.empty()) return DamagedClips();
  std::sort(files.begin(), files.end(),
            [](const File& a, const File& b) { return a.path < b.path; });
  if (all) return files;
  // Picks files evenly over their names, which begin with the name of the
  // source.
  std::vector<File> some;
  for (int i = 0; i < kFilesInShort; ++i) {
    some.push_back(files[i * files.size() / kFilesInShort]);
  }
  return some;
}

int FromEnvironment(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  return text ? std::stoi(text) : otherwise;
}

class HostileRounds : public testing::Test {
 protected:
  struct Good {
    std::string path;
    const char* device;
    std::vector<std::string> hashes;
  };

  void SetUp() override {
    for (const char* device : kDevices) {
      for (const Clip clip : {Clip::kH264, Clip::kVp9}) {
        const auto path = Generate(clip);
        if (!path && path.error().code() == Code::kNotFound) {
          GTEST_SKIP() << path.error();
        }
        ASSERT_TRUE(path) << path.error();
        good_.push_back({*path, device, HashesByFfmpeg(*path).value()});
      }
    }
  }

  // Decodes the file until `stop` is set, at least once.
  void DecodeGood(Host& host, const Good& good, const std::atomic<bool>& stop) {
    do {
      auto video = host.OpenVideo(good.path, {.device = good.device});
      ASSERT_TRUE(video) << video.error();
      std::vector<std::string> hashes;
      for (;;) {
        const auto frame = video->Next();
        ASSERT_TRUE(frame) << frame.error();
        if (!*frame) break;
        hashes.push_back(HashOf(**frame));
      }
      EXPECT_EQ(hashes, good.hashes) << good.path << " on " << good.device;
      ++good_decodes_;
    } while (!stop);
  }

  Status Decode(Host& host, File& file, const char* device) {
    auto video = host.OpenVideo(file.path, {.device = device});
    if (!video) {
      file.killed |= video.error().exit_report() != nullptr;
      return video.error();
    }
    Status status;
    for (int frames = 0; frames < kFramesOfEach; ++frames) {
      const auto frame = video->Next();
      if (!frame) status = frame.error();
      if (!frame || !*frame) break;
    }
    file.killed |= video->recovery().restarts > 0;
    return status;
  }

  void PlayRound(std::vector<File>& files) {
    const fs::path state = fs::path(std::getenv("TEST_TMPDIR")) / "state";
    fs::remove_all(state);
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    options.plugin_path.emplace();
    options.state_directory = state;
    const Status status =
        ActOnHost(options, kLimitOfRound, [&](Host& host) -> Status {
          std::atomic<bool> stop = false;
          std::vector<std::thread> beside;
          for (const Good& good : good_) {
            beside.emplace_back([&] { DecodeGood(host, good, stop); });
          }
          for (File& file : files) PlayFile(host, file);
          stop = true;
          for (std::thread& thread : beside) thread.join();
          return Status();
        });
    EXPECT_TRUE(status.ok()) << status;
  }

  void PlayFile(Host& host, File& file) {
    file.took = milliseconds(0);
    for (const char* device : kDevices) {
      const auto began = Clock::now();
      const Status status = Decode(host, file, device);
      const auto took =
          std::chrono::duration_cast<milliseconds>(Clock::now() - began);
      EXPECT_TRUE(kEnds.contains(status.code()))
          << file.path << " on " << device << ": " << status;
      EXPECT_LT(took, kLimitOfFile) << file.path << " on " << device;
      ++ends_[CodeName(status.code())];
      file.took += took;
      slowest_ = std::max(slowest_, took);
    }
  }

  void Report(const char* what, int rounds, size_t files) {
    std::printf("%s: %d rounds of %zu files, slowest %lld ms;", what, rounds,
                files, static_cast<long long>(slowest_.count()));
    for (const auto& [end, count] : ends_) {
      std::printf(" %d %s,", count, end.c_str());
    }
    std::printf(" %d good decodes beside\n", good_decodes_.load());
    std::fflush(stdout);
    ends_.clear();
    good_decodes_ = 0;
    slowest_ = milliseconds(0);
  }

  std::vector<Good> good_;
  std::atomic<int> good_decodes_ = 0;
  std::map<std::string, int> ends_;
  milliseconds slowest_{0};
};

TEST_F(HostileRounds, LeaveGoodSessionsExact) {
  const int rounds = FromEnvironment("HOSTILE_ROUNDS", 0);
  std::vector<File> files = Files(/*all=*/rounds > 0);
  ASSERT_FALSE(files.empty());
  for (int i = 0; i < std::max(rounds, 1); ++i) PlayRound(files);
  Report("all", std::max(rounds, 1), files.size());

  // Few files kill an up-to-date decoder. The quickest of the other files make
  // up the number.
  std::stable_sort(files.begin(), files.end(),
                   [](const File& a, const File& b) {
                     return a.killed != b.killed ? a.killed : a.took < b.took;
                   });
  files.resize(std::min(files.size(), kCrashers));
  const auto crashers = std::count_if(files.begin(), files.end(),
                                      [](const File& f) { return f.killed; });
  const int again = FromEnvironment("CRASHER_ROUNDS", kCrasherRoundsInShort);
  for (int i = 0; i < again; ++i) PlayRound(files);
  std::printf("%ld of the %zu quickest killed workers\n",
              static_cast<long>(crashers), files.size());
  Report("quickest crashers", again, files.size());
}

}  // namespace
}  // namespace bulkhead::tests
