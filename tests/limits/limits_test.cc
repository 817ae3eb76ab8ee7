// SPDX-License-Identifier: Apache-2.0
//
// Files and backends that ask for too much. Each ends in a typed error that
// names the limit, for callers in C++ and on the command line, and does not
// harm what is decoded afterwards. With a higher limit, the file is decoded.

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <tuple>

#include "bulkhead/host.h"
#include "tests/chaos/chaos_installation.h"
#include "tests/limits/bombs.h"
#include "tests/support/deadlines.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using std::chrono::milliseconds;

enum class Act { kPlay, kCount, kProbe };

struct Row {
  const char* name;
  std::function<std::string(const std::string& directory)> write;
  // For --limit, and by what the file passes; empty: it passes by none.
  std::string small;
  std::string raised;
  // The name of the limit in the error message.
  const char* limit;
  Act act = Act::kPlay;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

void SetLimit(const std::string& words, HostOptions& options) {
  const std::string name = words.substr(0, words.find('='));
  const uint64_t value =
      words.empty() ? 0 : std::stoull(words.substr(words.find('=') + 1));
  Limits& limits = options.limits;
  if (name == "frame-pixels") limits.frame_pixels = value;
  if (name == "streams") limits.streams = static_cast<uint32_t>(value);
  if (name == "packet-bytes") limits.packet_bytes = value;
  if (name == "index-frames") limits.index_frames = value;
  if (name == "worker-bytes") limits.worker_bytes = value;
}

Status Perform(Host& host, const std::string& path, const std::string& device,
               Act act) {
  if (act == Act::kProbe) {
    const auto probed = host.Probe(path, {.device = device});
    return probed ? Status() : probed.error();
  }
  auto video = host.OpenVideo(path, {.device = device});
  if (!video) return std::move(video).error();
  if (act == Act::kCount) {
    const auto count = video->FrameCount();
    return count ? Status() : count.error();
  }
  for (;;) {
    const auto frame = video->Next();
    if (!frame) return frame.error();
    if (!*frame) return Status();
  }
}

class Bombs : public testing::TestWithParam<std::tuple<const char*, Row>> {
 protected:
  void SetUp() override {
    directory_ = TemporaryDirectory();
    path_ = row().write(directory_);
    ASSERT_FALSE(path_.empty());
  }

  std::string device() const { return std::get<0>(GetParam()); }
  const Row& row() const { return std::get<1>(GetParam()); }

  static std::unique_ptr<Host> CreateHost(const std::string& limit) {
    HostOptions options;
    options.libexec_dir = LibexecDirectory();
    SetLimit(limit, options);
    return Host::Create(options).value();
  }

  void ExpectGoodFileDecodes(Host& host) {
    const std::string good = WriteGreyFrames(directory_, 8, 8, 3);
    auto video = host.OpenVideo(good, {.device = device()});
    ASSERT_TRUE(video) << video.error();
    for (int i = 0; i < 3; ++i) {
      const auto frame = video->Next();
      ASSERT_TRUE(frame) << frame.error();
      ASSERT_TRUE(*frame);
    }
    const auto end = video->Next();
    ASSERT_TRUE(end) << end.error();
    EXPECT_FALSE(*end);
  }

  std::string directory_;
  std::string path_;
};

TEST_P(Bombs, NameTheLimitAndHurtNobody) {
  const auto host = CreateHost(row().small);
  const Status status = Perform(*host, path_, device(), row().act);
  std::printf("%s\n", status.ToString().c_str());
  EXPECT_EQ(status.code(), Code::kResourceExhausted) << status;
  EXPECT_NE(status.message().find(row().limit), std::string::npos) << status;
  ExpectGoodFileDecodes(*host);
  if (row().raised.empty()) return;
  const auto larger = CreateHost(row().raised);
  const Status passed = Perform(*larger, path_, device(), row().act);
  EXPECT_TRUE(passed.ok()) << passed;
}

TEST_P(Bombs, TheCommandLineSaysHowToRaiseIt) {
  const auto run = [&](const std::string& limit) {
    std::vector<std::string> command = {
        PathFromEnvironment("BULKHEAD_TEST_CLI"), "--libexec",
        LibexecDirectory()};
    if (!limit.empty()) command.insert(command.end(), {"--limit", limit});
    if (row().act == Act::kProbe) {
      command.push_back("probe");
    } else {
      command.insert(command.end(), {"decode", "--format", "null"});
    }
    if (row().act == Act::kCount) command.insert(command.end(), {"--at", "-1"});
    command.insert(command.end(), {"--device", device(), path_});
    return RunProgram(command);
  };
  const std::string limit = row().limit;
  const ProgramResult small = run(row().small);
  EXPECT_EQ(small.exit_code, 4) << small.Describe();
  const std::string option =
      limit.substr(limit.find("--limit"), limit.find('=') - limit.find("--"));
  EXPECT_NE(small.errors.find(option), std::string::npos) << small.Describe();
  if (row().raised.empty()) return;
  const ProgramResult raised = run(row().raised);
  EXPECT_EQ(raised.exit_code, 0) << raised.Describe();
}

const Row kBombs[] = {
    // libavutil itself refuses this size, so no limit can be raised.
    {"A_picture_claims_60000x60000",
     [](const std::string& directory) {
       return WriteFlatBmp(directory, 60000, 60000);
     },
     "", "", "the limit frame_pixels (--limit frame-pixels=N)"},
    {"A_kilobyte_is_9_million_pixels",
     [](const std::string& directory) {
       return WriteFlatBmp(directory, 3000, 3000);
     },
     "frame-pixels=8999999", "frame-pixels=9100000",
     "the limit frame_pixels (--limit frame-pixels=N)"},
    {"3000_streams",
     [](const std::string& directory) {
       return WriteMatroska(directory, {.subtitles = 2999});
     },
     "", "streams=3000", "the limit streams (--limit streams=N)"},
    {"3000_streams_are_probed",
     [](const std::string& directory) {
       return WriteMatroska(directory, {.subtitles = 2999});
     },
     "", "streams=3000", "the limit streams (--limit streams=N)", Act::kProbe},
    // The header with all streams is read before the first stream is created.
    {"20000_streams",
     [](const std::string& directory) {
       return WriteMatroska(directory, {.subtitles = 20000});
     },
     "streams=2", "", "the limit streams (--limit streams=N)"},
    {"A_packet_of_3_megabytes",
     [](const std::string& directory) {
       return WriteMatroska(
           directory,
           {.width = 2048, .height = 1536, .block_bytes = 2048 * 1536});
     },
     "packet-bytes=3145727", "packet-bytes=3145728",
     "the limit packet_bytes (--limit packet-bytes=N)"},
    {"A_packet_of_150_megabytes_of_nothing",
     [](const std::string& directory) {
       return WriteMatroska(directory, {.block_bytes = 150'000'000});
     },
     "packet-bytes=100000000", "",
     "the limit packet_bytes (--limit packet-bytes=N)"},
    {"A_packet_of_150_megabytes_is_counted",
     [](const std::string& directory) {
       return WriteMatroska(directory, {.block_bytes = 150'000'000});
     },
     "packet-bytes=100000000", "",
     "the limit packet_bytes (--limit packet-bytes=N)", Act::kCount},
    {"300000_frames_of_a_pixel",
     [](const std::string& directory) {
       return WriteGreyFrames(directory, 1, 1, 300'000);
     },
     "index-frames=299999", "index-frames=300000",
     "the limit index_frames (--limit index-frames=N)", Act::kCount},
    {"A_kilobyte_takes_36_megabytes",
     [](const std::string& directory) {
       return WriteFlatBmp(directory, 6000, 6000);
     },
     "worker-bytes=20000000", "worker-bytes=400000000",
     "the limit worker_bytes (--limit worker-bytes=N)"},
};

INSTANTIATE_TEST_SUITE_P(Limits, Bombs,
                         testing::Combine(testing::Values("cpu", "openreg"),
                                          testing::ValuesIn(kBombs)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + "_" +
                                  std::get<1>(info.param).name;
                         });

// A Host with which nothing could ever be decoded is not made.
TEST(Limits, OfZeroAndDeadlinesInThePastAreRefusedByCreate) {
  HostOptions options;
  options.libexec_dir = LibexecDirectory();
  options.limits.frame_slots = 0;
  const auto no_slots = Host::Create(options);
  ASSERT_FALSE(no_slots);
  EXPECT_EQ(no_slots.error().code(), Code::kInvalidArgument);
  EXPECT_NE(no_slots.error().message().find("limits.frame_slots is 0"),
            std::string::npos)
      << no_slots.error();
  options.limits = {};
  options.deadlines.frame = milliseconds(-1);
  const auto late = Host::Create(options);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), Code::kInvalidArgument);
  EXPECT_NE(late.error().message().find("deadlines.frame is -1"),
            std::string::npos)
      << late.error();
}

// bound: shorter than the pause of the backend that has to miss it, the only
// one to which it applies.
constexpr milliseconds kMissed{300};

// Cases that no file causes quickly and reliably. The chaos backend causes
// them.
struct Late {
  const char* name;
  const char* faults;
  void (*shorten)(Deadlines&);
  const char* deadline;
  bool passes;  // with patient deadlines
};

void PrintTo(const Late& row, std::ostream* out) { *out << row.name; }

class Deadlined : public testing::TestWithParam<Late> {};

TEST_P(Deadlined, NameTheDeadlineThatWasMissed) {
  const Late& row = GetParam();
  const std::string directory = TemporaryDirectory();
  const std::string path = WriteGreyFrames(directory, 8, 8, 60);
  const ChaosInstallation installation;
  const auto play = [&](const Deadlines& deadlines) {
    HostOptions options = installation.options();
    options.deadlines = deadlines;
    const auto host = Host::Create(options).value();
    auto video = host->OpenVideo(path, installation.Stream(row.faults));
    if (!video) return std::move(video).error();
    for (;;) {
      const auto frame = video->Next();
      if (!frame) return frame.error();
      if (!*frame) return Status();
    }
  };
  Deadlines deadlines = PatientDeadlines();
  row.shorten(deadlines);
  const Status status = play(deadlines);
  EXPECT_EQ(status.code(), Code::kDeadlineExceeded) << status;
  EXPECT_NE(status.message().find(row.deadline), std::string::npos) << status;
  if (row.passes) {
    EXPECT_TRUE(play(PatientDeadlines()).ok());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Limits, Deadlined,
    testing::Values(Late{"Opening", "at=open do=slow:1500",
                         [](Deadlines& deadlines) { deadlines.open = kMissed; },
                         "the deadline open (--limit open-ms=N)", true},
                    Late{"TheFirstFrame", "at=packet:0 do=slow:1500",
                         [](Deadlines& deadlines) { deadlines.open = kMissed; },
                         "the deadline open (--limit open-ms=N)", true},
                    Late{"AFrameForEver", "at=picture:40 do=hang",
                         [](Deadlines& deadlines) { deadlines.frame = kShort; },
                         "the deadline frame (--limit frame-ms=N)", false}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(MemoryHog, GetsNoMoreByMakingMemoryReadOnly) {
  const std::string path = WriteFlatBmp(TemporaryDirectory(), 1000, 1000);
  const ChaosInstallation installation;
  HostOptions options = installation.options();
  options.limits.worker_bytes = uint64_t{64} << 20;
  options.limits.session_bytes = uint64_t{64} << 20;
  const auto host = Host::Create(options).value();
  // A worker that got the whole gigabyte would have room to decode.
  auto video = host->OpenVideo(
      path, installation.Stream("at=open do=hide_memory:1073741824"));
  ASSERT_FALSE(video);
  EXPECT_EQ(video.error().code(), Code::kResourceExhausted) << video.error();
  auto little = host->OpenVideo(
      path, installation.Stream("at=open do=hide_memory:16777216"));
  ASSERT_TRUE(little) << little.error();
  EXPECT_TRUE(little->Next());
}

constexpr uint64_t kMiB = uint64_t{1} << 20;

uint64_t KibibytesOf(int pid, const std::string& key) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  uint64_t kibibytes = 0;
  for (std::string word; status >> word;) {
    if (word == key && status >> kibibytes) break;
  }
  return kibibytes;
}

// A vendor that maps memory while it is loaded has it in each session, where no
// limit counts it again.
class Reserving : public testing::Test {
 protected:
  static constexpr const char* kReserve = "at=load do=reserve:2147483648";
  static constexpr const char* kFill = "at=open do=fill:536870912";

  // More than all that a session may have with these limits is 384 MiB.
  static HostOptions SmallOptions(const ChaosInstallation& installation) {
    HostOptions options = installation.options();
    options.limits.worker_bytes = 64 * kMiB;
    options.limits.session_bytes = 64 * kMiB;
    return options;
  }
  const std::string path_ = WriteFlatBmp(TemporaryDirectory(), 100, 100);
};

TEST_F(Reserving, WhileLoadingIsRefused) {
  const ChaosInstallation installation(kReserve);
  const auto host = Host::Create(SmallOptions(installation)).value();
  auto video = host->OpenVideo(path_, installation.Stream(kFill));
  if (video) {
    ADD_FAILURE() << "its session has "
                  << KibibytesOf(video->worker_pid(), "VmRSS:") / 1024
                  << " MiB";
    return;
  }
  EXPECT_EQ(video.error().code(), Code::kBackendUnavailable) << video.error();
  for (const char* words : {"when it was loaded", "memory="}) {
    EXPECT_NE(video.error().message().find(words), std::string::npos)
        << video.error();
  }
}

TEST_F(Reserving, WithAGrantIsAllowed) {
  ChaosInstallation installation(kReserve);
  installation.GrantMemory(uint64_t{20} << 30);
  const auto host = Host::Create(SmallOptions(installation)).value();
  auto video = host->OpenVideo(path_, installation.Stream(kFill));
  ASSERT_TRUE(video) << video.error();
  EXPECT_TRUE(video->Next());
}

TEST_F(Reserving, AfterLoadingGainsNoSession) {
  const ChaosInstallation installation("at=load do=reserve_later:2147483648");
  const auto host = Host::Create(SmallOptions(installation)).value();
  ASSERT_TRUE(host->Prewarm("chaos").ok());
  // Asked again each time: another zygote may have taken its place.
  const auto zygote_bytes = [&] {
    const BackendReport report = host->Backends().value();
    for (const BackendInfo& backend : report.backends) {
      if (backend.name == "chaos") {
        return KibibytesOf(backend.zygote_pid, "VmSize:") * 1024;
      }
    }
    return uint64_t{0};
  };
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (zygote_bytes() < 2048 * kMiB &&
         std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
  ASSERT_GE(zygote_bytes(), 2048 * kMiB);
  auto video = host->OpenVideo(path_, installation.Stream(kFill));
  if (video) {
    ADD_FAILURE() << "its session has "
                  << KibibytesOf(video->worker_pid(), "VmRSS:") / 1024
                  << " MiB";
    return;
  }
  EXPECT_EQ(video.error().code(), Code::kSandboxUnavailable) << video.error();
}

TEST(MemoryHog, NamesTheLimitOfItsWorker) {
  const std::string path = WriteFlatBmp(TemporaryDirectory(), 1000, 1000);
  const ChaosInstallation installation;
  const auto host = Host::Create(installation.options()).value();
  auto video =
      host->OpenVideo(path, installation.Stream("at=open do=take_memory"));
  ASSERT_FALSE(video);
  EXPECT_EQ(video.error().code(), Code::kResourceExhausted) << video.error();
  EXPECT_NE(video.error().message().find("the limit worker_bytes"),
            std::string::npos)
      << video.error();
  auto good = host->OpenVideo(path, installation.Stream());
  ASSERT_TRUE(good) << good.error();
  EXPECT_TRUE(good->Next());
}

}  // namespace
}  // namespace bulkhead::tests
