// SPDX-License-Identifier: Apache-2.0
//
// Every step of the protocol, and every way for the process to die there. Once:
// the caller gets what it gets from a backend to which nothing happens. Again
// in each life: the documented error, with how it ended. Within the deadline in
// both cases, and nothing is left.
//
// Steps in a vendor's code are reached by the chaos backend, those between
// processes by a lying worker. A process that somebody else kills is held at
// its step until then, so that it dies there and nowhere else.

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
#include "tests/support/act_on_host.h"
#include "tests/support/frame_hash.h"
#include "tests/support/process_watch.h"

namespace bulkhead::tests {
namespace {

using std::chrono::milliseconds;

// For three attempts on a machine that is busy.
constexpr milliseconds kLimit{10'000};
// For a backend that failed to be tried again.
constexpr milliseconds kBackoff{3'000};

using Hashes = std::vector<std::string>;

// What a caller does, and what it got; the Status says why not all.
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

enum class Death { kKilled, kSegfault, kAbort, kExit0, kExit7 };

const char* NameOf(Death death) {
  switch (death) {
    case Death::kKilled:
      return "sigkill";
    case Death::kSegfault:
      return "sigsegv";
    case Death::kAbort:
      return "sigabrt";
    case Death::kExit0:
      return "exit_0";
    case Death::kExit7:
      return "exit_7";
  }
  return "";
}

// As chaos calls it.
std::string DeedOf(Death death) {
  switch (death) {
    case Death::kKilled:
      return "hang";
    case Death::kSegfault:
      return "segfault";
    case Death::kAbort:
      return "abort";
    case Death::kExit0:
      return "exit:0";
    case Death::kExit7:
      return "exit:7";
  }
  return "";
}

// As the lying worker does.
std::string LieOf(Death death) {
  switch (death) {
    case Death::kKilled:
      return "hang";
    case Death::kSegfault:
      return "death";
    case Death::kAbort:
      return "abort";
    case Death::kExit0:
      return "exit_0";
    case Death::kExit7:
      return "exit_7";
  }
  return "";
}

// What the ExitReport, or where there is none the message, must say.
std::string EndOf(Death death) {
  switch (death) {
    case Death::kKilled:
      return "signal 9";
    case Death::kSegfault:
      return "signal 11";
    case Death::kAbort:
      return "signal 6";
    case Death::kExit0:
      return "exited with code 0";
    case Death::kExit7:
      return "exited with code 7";
  }
  return "";
}

std::string EndOf(const Status& status) {
  const ExitReport* exit = status.exit_report();
  // A zygote's end has none.
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
  // When it happens in each life, and others killed it. kOk: each life comes
  // further than the last, or the next has no such step.
  Code killed;
  // When it happens in each life, and it was its own doing.
  Code died;
};

void PrintTo(const Step& step, std::ostream* out) { *out << step.name; }

using Made = Step::Made;
constexpr Code kLost = Code::kBackendLost;
constexpr Code kPoisoned = Code::kPoisonedInput;
constexpr Code kUnavailable = Code::kBackendUnavailable;

constexpr Step kSteps[] = {
    {"load", Made::kInInstallation, "load", PlayToEnd, kLost, kUnavailable},
    {"probe", Made::kInInstallation, "probe", PlayToEnd, kLost, kUnavailable},
    {"clone", Made::kByLyingZygote, "clone", PlayToEnd, kLost, kLost},
    {"hello", Made::kByLiar, "hello", PlayToEnd, kLost, kLost},
    {"open", Made::kByChaos, "open", PlayToEnd, kLost, kPoisoned},
    {"first_packet", Made::kByChaos, "packet:0", PlayToEnd, kLost, kPoisoned},
    {"scan", Made::kByLiar, "scan", Count, kLost, kPoisoned},
    {"seek", Made::kByChaos, "flush", JumpAbout, kLost, kPoisoned},
    {"streaming", Made::kByChaos, "packet:40", PlayToEnd, Code::kOk, Code::kOk},
    {"picture", Made::kByChaos, "picture:8192", PlayToEnd, kLost, kPoisoned},
    {"indexed", Made::kByChaos, "picture:1536", JumpAbout, kLost, kPoisoned},
    {"batch", Made::kByChaos, "picture:2560", TakeBatch, kLost, kPoisoned},
    {"end", Made::kByChaos, "end", PlayToEnd, kLost, kPoisoned},
    {"close", Made::kByChaos, "close", PlayTwice, Code::kOk, Code::kOk},
};

// Kills what is held, as often as it is, until it is destroyed.
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

  // How often it killed.
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
  Death death() const { return std::get<1>(GetParam()); }
  bool once() const { return std::get<2>(GetParam()); }
  bool lies() const {
    return step().made == Made::kByLiar || step().made == Made::kByLyingZygote;
  }

  void SetUp() override {
    const auto clip = Generate(Clip::kH264);
    if (!clip && clip.error().code() == Code::kNotFound) {
      GTEST_SKIP() << clip.error();
    }
    ASSERT_TRUE(clip) << clip.error();
    clip_ = *clip;
  }

  // The same of a backend to which nothing happens.
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

  // The whole cell.
  Status Act(Hashes& hashes) {
    const std::string script = "at=" + std::string(step().at) +
                               " do=" + DeedOf(death()) +
                               (once() ? " lives=1" : "");
    const std::string lie =
        std::string(step().at) + "_" + LieOf(death()) + (once() ? "_once" : "");
    switch (step().made) {
      case Made::kByChaos: {
        const ChaosInstallation installation;
        return Act(installation.options(), clip_, installation.Stream(script),
                   nullptr, hashes);
      }
      case Made::kInInstallation: {
        const ChaosInstallation installation("at=" + std::string(step().at) +
                                             " do=" + DeedOf(death()));
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
      if (death() == Death::kKilled) killer.emplace(host, repair);
      Status status = OpenAndAct(host, media, stream, hashes);
      // A start that others killed is tried again at once.
      if (once() && repair && death() != Death::kKilled) {
        // What the first start failed with, and then the backend comes back.
        EXPECT_EQ(status.code(), kUnavailable) << status;
        EXPECT_NE(status.message().find(EndOf(death())), std::string::npos)
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
  std::printf("%-12s %-8s %-6s %5d ms  %s\n", step().name, NameOf(death()),
              once() ? "once" : "always", static_cast<int>(took.count()),
              status.ok() ? "identical" : status.ToString().c_str());
  const Code always = death() == Death::kKilled ? step().killed : step().died;
  const Code expected = once() ? Code::kOk : always;
  EXPECT_EQ(status.code(), expected) << status;
  if (expected == Code::kOk) {
    if (once()) {
      const bool told =
          step().made == Made::kInInstallation && death() != Death::kKilled;
      EXPECT_EQ(restarts_, told ? 0u : 1u);
    } else {
      EXPECT_GE(restarts_, 1u);
    }
    EXPECT_EQ(hashes, Expected());
    return;
  }
  EXPECT_NE(EndOf(status).find(EndOf(death())), std::string::npos) << status;
}

std::string CellName(
    const testing::TestParamInfo<std::tuple<Step, Death, bool>>& info) {
  return std::string(std::get<0>(info.param).name) + "_" +
         NameOf(std::get<1>(info.param)) +
         (std::get<2>(info.param) ? "_once" : "_always");
}

INSTANTIATE_TEST_SUITE_P(
    Cells, KillMatrix,
    testing::Combine(testing::ValuesIn(kSteps),
                     testing::Values(Death::kKilled, Death::kSegfault,
                                     Death::kAbort, Death::kExit0,
                                     Death::kExit7),
                     testing::Bool()),
    CellName);

}  // namespace
}  // namespace bulkhead::tests
