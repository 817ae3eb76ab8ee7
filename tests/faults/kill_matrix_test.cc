// SPDX-License-Identifier: Apache-2.0
//
// The kill matrix: every step of the protocol, with every way for the process
// to die there. If the death happens once, the caller gets what an undisturbed
// backend gives. If it happens in each life, the caller gets the documented
// error with the way the process ended. Both end within the deadline and leave
// nothing behind.
//
// The chaos backend reaches the steps in vendor code, a lying worker the steps
// between processes. A process that somebody else kills is held at its step
// until then, so that it dies exactly there.

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "bulkhead/host.h"
#include "tests/chaos/chaos_installation.h"
#include "tests/chaos/held.h"
#include "tests/liars/lying_installation.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/act_on_host.h"
#include "tests/support/frame_hash.h"
#include "tests/support/process_watch.h"

namespace bulkhead::tests {
namespace {

using std::chrono::milliseconds;

// Time for three attempts on a busy machine.
constexpr milliseconds kLimit{10'000};
// The time after which a failed backend is started again.
constexpr milliseconds kBackoff{3'000};

using Hashes = std::vector<std::string>;

// A call of the application. Fills `hashes` with the frames that it got. The
// Status says why it did not get all of them.
using Act = Status (*)(VideoDecoder& video, Hashes& hashes);

Status PlayToEnd(VideoDecoder& video, Hashes& hashes) {
  for (;;) {
    auto frame = video.Next();
    if (!frame) return std::move(frame).error();
    if (!*frame) return Status();
    hashes.push_back(HashOf(**frame));
  }
}

Status PlayTwice(VideoDecoder& video, Hashes& hashes) {
  if (Status status = PlayToEnd(video, hashes); !status.ok()) return status;
  video.Rewind();
  return PlayToEnd(video, hashes);
}

Status Count(VideoDecoder& video, Hashes& hashes) {
  const auto count = video.FrameCount();
  if (!count) return count.error();
  hashes.push_back(std::to_string(*count));
  return PlayToEnd(video, hashes);
}

Status JumpAbout(VideoDecoder& video, Hashes& hashes) {
  for (const int64_t index : {20, 3, 23, 0, 11}) {
    const auto frame = video.FrameAt(index);
    if (!frame) return frame.error();
    hashes.push_back(HashOf(*frame));
  }
  return Status();
}

Status TakeBatch(VideoDecoder& video, Hashes& hashes) {
  const std::vector<int64_t> indices = {22, 5, 5, 17, 0, -1};
  const auto batch = video.FramesAt(indices);
  if (!batch) return batch.error();
  for (size_t i = 0; i < batch->size(); ++i) {
    hashes.push_back(HashOf(batch->picture(i)));
  }
  return Status();
}

struct Death {
  const char* name;
  const char* deed;  // as chaos calls it
  const char* lie;   // as the lying worker does
  // The text that the ExitReport must contain, or the message if there is no
  // report.
  const char* end;
  bool by_others = false;  // which is nobody's fault
};

constexpr Death kDeaths[] = {
    {"sigkill", "hang", "hang", "signal 9", true},
    {"sigsegv", "segfault", "death", "signal 11"},
    {"sigabrt", "abort", "abort", "signal 6"},
    {"exit_0", "exit:0", "exit_0", "exited with code 0"},
    {"exit_7", "exit:7", "exit_7", "exited with code 7"},
};

void PrintTo(const Death& death, std::ostream* out) { *out << death.name; }

std::string EndOf(const Status& status) {
  const ExitReport* exit = status.exit_report();
  // The end of a zygote has no ExitReport.
  if (exit == nullptr || exit->kind == ExitReport::Kind::kUnknown) {
    return status.message();
  }
  const std::string value = std::to_string(exit->value);
  switch (exit->kind) {
    case ExitReport::Kind::kSignaled:
      return "signal " + value;
    case ExitReport::Kind::kExited:
      return "exited with code " + value;
    default:
      return "kind " + std::to_string(static_cast<int>(exit->kind));
  }
}

struct Step {
  enum class Made {
    kByChaos,         // in the stream's script
    kInInstallation,  // in the script of the installation: before any stream
    kByLiar,          // in a session worker
    kByLyingZygote,   // in the zygote, which forgets when it dies
  };

  const char* name;
  Made made;
  const char* at;  // of the script, or how the lie begins
  Act act;
  // The code if the process is killed by others in each life. kOk if each life
  // gets further than the one before, or if the next life has no such step.
  Code killed;
  // The code if the process dies by itself in each life.
  Code died;
};

void PrintTo(const Step& step, std::ostream* out) { *out << step.name; }

using Made = Step::Made;
constexpr Code kLost = Code::kBackendLost;
constexpr Code kPoisoned = Code::kPoisonedInput;
// Nothing tells the kills of others from those of a kernel without memory.
constexpr Code kNoMemory = Code::kResourceExhausted;
constexpr Code kUnavailable = Code::kBackendUnavailable;

constexpr Step kSteps[] = {
    {"load", Made::kInInstallation, "load", PlayToEnd, kLost, kUnavailable},
    {"probe", Made::kInInstallation, "probe", PlayToEnd, kLost, kUnavailable},
    {"clone", Made::kByLyingZygote, "clone", PlayToEnd, kLost, kLost},
    {"hello", Made::kByLiar, "hello", PlayToEnd, kNoMemory, kLost},
    {"open", Made::kByChaos, "open", PlayToEnd, kNoMemory, kPoisoned},
    {"first_packet", Made::kByChaos, "packet:0", PlayToEnd, kNoMemory,
     kPoisoned},
    {"scan", Made::kByLiar, "scan", Count, kNoMemory, kPoisoned},
    {"seek", Made::kByChaos, "flush", JumpAbout, kNoMemory, kPoisoned},
    {"streaming", Made::kByChaos, "packet:40", PlayToEnd, Code::kOk, Code::kOk},
    {"picture", Made::kByChaos, "picture:8192", PlayToEnd, kNoMemory,
     kPoisoned},
    {"indexed", Made::kByChaos, "picture:1536", JumpAbout, kNoMemory,
     kPoisoned},
    {"batch", Made::kByChaos, "picture:2560", TakeBatch, kNoMemory, kPoisoned},
    {"end", Made::kByChaos, "end", PlayToEnd, kNoMemory, kPoisoned},
    {"close", Made::kByChaos, "close", PlayTwice, Code::kOk, Code::kOk},
};

// Kills every process that a fault holds, until the object is destroyed.
class Killer {
 public:
  // `before` is called before each kill.
  Killer(Host& host, std::function<void()> before)
      : thread_([this, &host, before = std::move(before)] {
          while (!done_) {
            const auto held = AwaitHeld(host.supervisor_pid(), kLimit,
                                        [this] { return done_.load(); });
            if (!held) continue;
            const ProcessWatch process(*held);
            if (before) before();
            kills_ += process.Signal(SIGKILL);
            process.AwaitEnd(kLimit);
          }
        }) {}
  ~Killer() { Stop(); }

  // Stops killing. Returns the number of kills.
  int Stop() {
    done_ = true;
    if (thread_.joinable()) thread_.join();
    return kills_;
  }

 private:
  std::atomic<bool> done_ = false;
  std::atomic<int> kills_ = 0;
  std::thread thread_;
};

class KillMatrix
    : public testing::TestWithParam<std::tuple<Step, Death, bool>> {
 protected:
  const Step& step() const { return std::get<0>(GetParam()); }
  const Death& death() const { return std::get<1>(GetParam()); }
  bool once() const { return std::get<2>(GetParam()); }
  bool lies() const {
    return step().made == Made::kByLiar || step().made == Made::kByLyingZygote;
  }

  void SetUp() override { clip_ = ClipOrSkip(Clip::kH264); }

  // Returns the frames that an undisturbed backend gives for the same call.
  Hashes Expected() {
    Hashes hashes;
    Status status;
    if (lies()) {
      const LyingInstallation honest({"honest"});
      status = ActOnHost(honest.options(), kLimit, [&](Host& host) {
        return OpenAndAct(host, honest.media(), {.device = "honest"}, hashes);
      });
    } else {
      const ChaosInstallation honest;
      status = ActOnHost(honest.options(), kLimit, [&](Host& host) {
        return OpenAndAct(host, clip_, honest.Stream(), hashes);
      });
    }
    EXPECT_TRUE(status.ok()) << status;
    return hashes;
  }

  Status OpenAndAct(Host& host, const std::string& media, VideoOptions options,
                    Hashes& hashes) {
    auto video = host.OpenVideo(media, std::move(options));
    if (!video) return std::move(video).error();
    Status status = step().act(*video, hashes);
    restarts_ = video->recovery().restarts;
    return status;
  }

  // Runs the whole cell of the matrix.
  Status Act(Hashes& hashes) {
    const std::string script = "at=" + std::string(step().at) +
                               " do=" + death().deed +
                               (once() ? " lives=1" : "");
    const std::string lie =
        std::string(step().at) + "_" + death().lie + (once() ? "_once" : "");
    switch (step().made) {
      case Made::kByChaos: {
        const ChaosInstallation installation;
        return Act(installation.options(), clip_, installation.Stream(script),
                   nullptr, hashes);
      }
      case Made::kInInstallation: {
        const ChaosInstallation installation("at=" + std::string(step().at) +
                                             " do=" + death().deed);
        return Act(
            installation.options(), clip_, installation.Stream(),
            [&] {
              if (once()) installation.SetFaults("");
            },
            hashes);
      }
      case Made::kByLiar:
      case Made::kByLyingZygote:
        break;
    }
    const LyingInstallation installation({lie});
    HostOptions options = installation.options();
    options.deadlines.worker_start = milliseconds(3'000);
    options.deadlines.scan = milliseconds(3'000);
    return Act(options, installation.media(), {.device = lie}, nullptr, hashes);
  }

  Status Act(const HostOptions& options, const std::string& media,
             const VideoOptions& stream, const std::function<void()>& repair,
             Hashes& hashes) {
    return ActOnHost(options, kLimit, [&](Host& host) {
      std::optional<Killer> killer;
      if (death().by_others) killer.emplace(host, repair);
      Status status = OpenAndAct(host, media, stream, hashes);
      // bulkheadd repeats a start at once if others killed the process.
      if (once() && repair && !death().by_others) {
        // The first start fails. The backend then recovers.
        EXPECT_EQ(status.code(), kUnavailable) << status;
        EXPECT_NE(status.message().find(death().end), std::string::npos)
            << status;
        repair();
        const auto end = std::chrono::steady_clock::now() + kBackoff;
        while (!status.ok() && std::chrono::steady_clock::now() < end) {
          status = OpenAndAct(host, media, stream, hashes);
        }
      }
      if (killer) {
        EXPECT_GT(killer->Stop(), 0) << "nothing was held";
      }
      return status;
    });
  }

  std::string clip_;
  uint32_t restarts_ = 0;
};

TEST_P(KillMatrix, LosesNothingOrSaysWhatDied) {
  if (once() && step().made == Made::kByLyingZygote) {
    GTEST_SKIP() << "the next zygote knows of no life before it";
  }
  Hashes hashes;
  const auto began = std::chrono::steady_clock::now();
  const Status status = Act(hashes);
  const auto took = std::chrono::duration_cast<milliseconds>(
      std::chrono::steady_clock::now() - began);
  std::printf("%-12s %-8s %-6s %5d ms  %s\n", step().name, death().name,
              once() ? "once" : "always", static_cast<int>(took.count()),
              status.ok() ? "identical" : status.ToString().c_str());
  const Code always = death().by_others ? step().killed : step().died;
  const Code expected = once() ? Code::kOk : always;
  EXPECT_EQ(status.code(), expected) << status;
  if (expected == Code::kOk) {
    if (step().made != Made::kInInstallation) {
      EXPECT_GE(restarts_, 1u);
      EXPECT_TRUE(restarts_ == 1 || !once()) << restarts_;
    }
    EXPECT_EQ(hashes, Expected());
    return;
  }
  EXPECT_NE(EndOf(status).find(death().end), std::string::npos) << status;
  if (expected == kNoMemory) {
    EXPECT_NE(status.message().find("free memory"), std::string::npos)
        << status;
  }
}

std::string CellName(
    const testing::TestParamInfo<std::tuple<Step, Death, bool>>& info) {
  return std::string(std::get<0>(info.param).name) + "_" +
         std::get<1>(info.param).name +
         (std::get<2>(info.param) ? "_once" : "_always");
}

INSTANTIATE_TEST_SUITE_P(Cells, KillMatrix,
                         testing::Combine(testing::ValuesIn(kSteps),
                                          testing::ValuesIn(kDeaths),
                                          testing::Bool()),
                         CellName);

}  // namespace
}  // namespace bulkhead::tests
