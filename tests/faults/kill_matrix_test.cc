// SPDX-License-Identifier: Apache-2.0
//
// The kill matrix: every step of the protocol, with every way for the process
// to die there. If the death happens once, the caller gets what an undisturbed
// backend gives. If it happens in each life, the caller gets the documented
// error with the way the process ended. Both end within the deadline and leave
// nothing over. A neighbour on the same Host gets each of its frames
// throughout.
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
#include <map>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
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
#include "tests/support/deadlines.h"
#include "tests/support/frame_hash.h"
#include "tests/support/neighbour.h"
#include "tests/support/process_watch.h"
#include "tests/support/program.h"
#include "tests/support/rows.h"
#include "tests/support/sanitizers.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using std::chrono::milliseconds;

// Time for three attempts on a busy machine.
constexpr milliseconds kLimit = kSlowdown * milliseconds(60'000);

using Hashes = std::vector<std::string>;

// What a call of the application opens.
struct Input {
  std::string media;
  std::string device;
  std::vector<std::pair<std::string, std::string>> backend_options = {};
};

// A call of the application. Fills `hashes` with what it got: frames, samples,
// metadata. The Status says why it did not get all of it. Stores how many
// workers replaced another one, where the call says that.
using Act = Status (*)(Host& host, const Input& input, Hashes& hashes,
                       std::optional<uint32_t>& restarts);

template <Status (*kCalls)(VideoDecoder& video, Hashes& hashes)>
Status WithVideo(Host& host, const Input& input, Hashes& hashes,
                 std::optional<uint32_t>& restarts) {
  auto video = host.OpenVideo(
      input.media,
      {.device = input.device, .backend_options = input.backend_options});
  if (!video) return std::move(video).error();
  Status status = kCalls(*video, hashes);
  restarts = video->recovery().restarts;
  return status;
}

Status Listen(Host& host, const Input& input, Hashes& hashes,
              std::optional<uint32_t>& restarts) {
  auto audio = host.OpenAudio(
      input.media,
      {.device = input.device, .backend_options = input.backend_options});
  if (!audio) return std::move(audio).error();
  const auto samples = audio->AllSamples();
  restarts = audio->recovery().restarts;
  if (!samples) return samples.error();
  const std::string_view bytes(
      reinterpret_cast<const char*>(samples->data.data()),
      samples->data.size() * sizeof(float));
  hashes.push_back(std::to_string(std::hash<std::string_view>{}(bytes)));
  return Status();
}

Status Probe(Host& host, const Input& input, Hashes& hashes,
             std::optional<uint32_t>&) {
  const auto metadata =
      host.Probe(input.media, {.device = input.device, .scan = true});
  if (!metadata) return metadata.error();
  hashes.push_back(metadata->format + " with " +
                   std::to_string(metadata->streams.size()) + " streams");
  return Status();
}

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
  // The signal that others send to the held process, which is nobody's fault.
  // After SIGSTOP the host has to end the process.
  int by_others = 0;
};

constexpr Death kDeaths[] = {
    {"sigkill", "hang", "hang", "signal 9", SIGKILL},
    {"sigsegv", "segfault", "death", "signal 11"},
    {"sigabrt", "abort", "abort", "signal 6"},
    {"exit_0", "exit:0", "exit_0", "exited with code 0"},
    {"exit_7", "exit:7", "exit_7", "exited with code 7"},
};

constexpr Death kStop = {"sigstop", "hang", "hang", "", SIGSTOP};

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
  int fault;  // the row of tests/rows.txt
};

void PrintTo(const Step& step, std::ostream* out) { *out << step.name; }

using Made = Step::Made;
constexpr Code kLost = Code::kBackendLost;
constexpr Code kPoisoned = Code::kPoisonedInput;
// Kills by others look like kills by a kernel without memory.
constexpr Code kNoMemory = Code::kResourceExhausted;
constexpr Code kUnavailable = Code::kBackendUnavailable;

constexpr Step kSteps[] = {
    {"load", Made::kInInstallation, "load", WithVideo<PlayToEnd>, kLost,
     kUnavailable, 2},
    {"probe", Made::kInInstallation, "probe", WithVideo<PlayToEnd>, kLost,
     kUnavailable, 2},
    {"clone", Made::kByLyingZygote, "clone", WithVideo<PlayToEnd>, kLost, kLost,
     3},
    {"hello", Made::kByLiar, "hello", WithVideo<PlayToEnd>, kNoMemory, kLost,
     3},
    {"open", Made::kByChaos, "open", WithVideo<PlayToEnd>, kNoMemory, kPoisoned,
     6},
    {"first_packet", Made::kByChaos, "packet:0", WithVideo<PlayToEnd>,
     kNoMemory, kPoisoned, 7},
    {"scan", Made::kByLiar, "scan", WithVideo<Count>, kNoMemory, kPoisoned, 12},
    {"seek", Made::kByChaos, "flush", WithVideo<JumpAbout>, kNoMemory,
     kPoisoned, 12},
    {"streaming", Made::kByChaos, "packet:40", WithVideo<PlayToEnd>, Code::kOk,
     Code::kOk, 8},
    {"picture", Made::kByChaos, "picture:8192", WithVideo<PlayToEnd>, kNoMemory,
     kPoisoned, 9},
    {"indexed", Made::kByChaos, "picture:1536", WithVideo<JumpAbout>, kNoMemory,
     kPoisoned, 12},
    {"batch", Made::kByChaos, "picture:2560", WithVideo<TakeBatch>, kNoMemory,
     kPoisoned, 12},
    {"end", Made::kByChaos, "end", WithVideo<PlayToEnd>, kNoMemory, kPoisoned,
     13},
    {"close", Made::kByChaos, "close", WithVideo<PlayTwice>, Code::kOk,
     Code::kOk, 14},
};

// Calls without a video decoder.
constexpr Step kOtherSteps[] = {
    {"audio_load", Made::kInInstallation, "load", Listen, kLost, kUnavailable,
     2},
    {"audio_probe", Made::kInInstallation, "probe", Listen, kLost, kUnavailable,
     2},
    {"audio_clone", Made::kByLyingZygote, "clone", Listen, kLost, kLost, 3},
    {"audio_hello", Made::kByLiar, "hello", Listen, kNoMemory, kLost, 3},
    {"audio_open", Made::kByChaos, "open", Listen, kNoMemory, kPoisoned, 6},
    {"audio_first_packet", Made::kByChaos, "packet:0", Listen, kNoMemory,
     kPoisoned, 7},
    // Each life decodes from the beginning, as samples depend on earlier ones.
    {"audio_streaming", Made::kByChaos, "packet:12", Listen, kNoMemory,
     kPoisoned, 8},
    {"audio_samples", Made::kByChaos, "picture:1280", Listen, kNoMemory,
     kPoisoned, 9},
    {"audio_end", Made::kByChaos, "end", Listen, kNoMemory, kPoisoned, 13},
    {"metadata_load", Made::kInInstallation, "load", Probe, kLost, kUnavailable,
     2},
    {"metadata_probe", Made::kInInstallation, "probe", Probe, kLost,
     kUnavailable, 2},
    {"metadata_clone", Made::kByLyingZygote, "clone", Probe, kLost, kLost, 3},
    {"metadata_hello", Made::kByLiar, "hello", Probe, kNoMemory, kLost, 3},
    {"metadata_scan", Made::kByLiar, "describe", Probe, kNoMemory, kPoisoned,
     8},
};

// Sends a signal to every process that a fault holds and waits for its end,
// until the object is destroyed.
class Killer {
 public:
  // `before` is called before each signal.
  Killer(Host& host, int signal, std::function<void()> before)
      : thread_([this, &host, signal, before = std::move(before)] {
          while (!done_) {
            const auto held = AwaitHeld(host.supervisor_pid(), kLimit,
                                        [this] { return done_.load(); });
            if (!held) continue;
            const ProcessWatch process(*held);
            if (before) before();
            kills_ += process.Signal(signal);
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

// A step, the death there, and whether it happens once or in each life.
using Cell = std::tuple<Step, Death, bool>;

std::string NameOf(const Cell& cell) {
  return std::string(std::get<0>(cell).name) + "_" + std::get<1>(cell).name +
         (std::get<2>(cell) ? "_once" : "_always");
}

class KillMatrix : public testing::TestWithParam<Cell> {
 protected:
  const Step& step() const { return std::get<0>(GetParam()); }
  const Death& death() const { return std::get<1>(GetParam()); }
  bool once() const { return std::get<2>(GetParam()); }
  bool lies() const {
    return step().made == Made::kByLiar || step().made == Made::kByLyingZygote;
  }

  void SetUp() override {
    clip_ = ClipOrSkip(Clip::kH264);
    if (clip_.empty()) return;
    // Packets of 1024 samples, whose timestamps are their first samples.
    sound_ = TemporaryDirectory() + "/sine.mkv";
    const ProgramResult made = RunFfmpeg(
        {"-f", "lavfi", "-i", "sine=frequency=440:sample_rate=8000:duration=4",
         "-c:a", "pcm_s16le", sound_});
    ASSERT_EQ(made.exit_code, 0) << made.Describe();
  }

  // Returns the frames that an undisturbed backend gives for the same call, of
  // which many cells have the same.
  const Hashes& Expected() {
    static std::map<std::pair<decltype(Step::act), bool>, Hashes> known;
    Hashes& hashes = known[{step().act, lies()}];
    if (!hashes.empty()) return hashes;
    Status status;
    if (lies()) {
      const LyingInstallation honest({"honest"});
      status = ActOnHost(honest.options(), kLimit, [&](Host& host) {
        return Call(host, {honest.media(), "honest"}, hashes);
      });
    } else {
      const ChaosInstallation honest;
      status = ActOnHost(honest.options(), kLimit, [&](Host& host) {
        return Call(host, {media(), "chaos"}, hashes);
      });
    }
    EXPECT_TRUE(status.ok()) << status;
    return hashes;
  }

  Status Call(Host& host, const Input& input, Hashes& hashes) {
    return step().act(host, input, hashes, restarts_);
  }

  // The media of a stream on the chaos device.
  const std::string& media() const {
    return step().act == &Listen ? sound_ : clip_;
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
        return Act(installation.options(),
                   {media(), "chaos", {{"faults", script}}}, nullptr, hashes);
      }
      case Made::kInInstallation: {
        const ChaosInstallation installation("at=" + std::string(step().at) +
                                             " do=" + death().deed);
        return Act(
            installation.options(), {media(), "chaos"},
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
    return Act(installation.options(), {installation.media(), lie}, nullptr,
               hashes);
  }

  Status Act(HostOptions options, const Input& input,
             const std::function<void()>& repair, Hashes& hashes) {
    if (death().by_others == SIGSTOP) {
      Deadlines& deadlines = options.deadlines;
      deadlines.worker_start = kShort;
      deadlines.open = deadlines.scan = kShort;
      deadlines.seek = deadlines.frame = kShort;
    }
    return ActBesideNeighbour(options, kLimit, [&](Host& host) {
      std::optional<Killer> killer;
      if (death().by_others != 0)
        killer.emplace(host, death().by_others, repair);
      Status status = Call(host, input, hashes);
      // bulkheadd repeats a start at once if others killed the process.
      if (once() && repair && death().by_others == 0) {
        // The first start fails. The backend then recovers.
        EXPECT_EQ(status.code(), kUnavailable) << status;
        EXPECT_NE(status.message().find(death().end), std::string::npos)
            << status;
        repair();
        // A failed backend is started again after a while.
        const auto end = std::chrono::steady_clock::now() + kLimit / 2;
        while (!status.ok() && std::chrono::steady_clock::now() < end) {
          status = Call(host, input, hashes);
        }
      }
      if (killer) {
        EXPECT_GT(killer->Stop(), 0) << "nothing was held";
      }
      return status;
    });
  }

  std::string clip_;
  std::string sound_;
  std::optional<uint32_t> restarts_;
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
  const Code always = death().by_others != 0 ? step().killed : step().died;
  const Code expected = once() ? Code::kOk : always;
  const TableRow row = Fault(death().by_others == SIGSTOP ? 17 : step().fault);
  const std::string cell = NameOf(GetParam());
  EXPECT_EQ(status.code(), expected) << status;
  if (expected == Code::kOk) {
    if (step().made != Made::kInInstallation && restarts_) {
      EXPECT_GE(*restarts_, 1u);
      EXPECT_TRUE(*restarts_ == 1 || !once()) << *restarts_;
    }
    ExpectSameFrames(row, cell, Expected(), hashes);
    return;
  }
  ExpectOutcome(row, cell, expected, status);
  if (expected == kPoisoned) ExpectOutcome(Fault(43), cell, expected, status);
  EXPECT_NE(EndOf(status).find(death().end), std::string::npos) << status;
  if (expected == kNoMemory) {
    EXPECT_NE(status.message().find("free memory"), std::string::npos)
        << status;
  }
}

std::string CellName(const testing::TestParamInfo<Cell>& info) {
  return NameOf(info.param);
}

INSTANTIATE_TEST_SUITE_P(Cells, KillMatrix,
                         testing::Combine(testing::ValuesIn(kSteps),
                                          testing::ValuesIn(kDeaths),
                                          testing::Bool()),
                         CellName);

INSTANTIATE_TEST_SUITE_P(
    OtherCalls, KillMatrix,
    testing::Combine(testing::ValuesIn(kOtherSteps),
                     testing::Values(kDeaths[0], kDeaths[1], kDeaths[3]),
                     testing::Bool()),
    CellName);

// Returns the steps of sessions at which a process is stopped too.
std::vector<Step> StepsToStopAt() {
  std::vector<Step> steps;
  for (const auto& of :
       {std::span<const Step>(kSteps), std::span<const Step>(kOtherSteps)}) {
    for (const Step& step : of) {
      for (const char* name : {"hello", "open", "scan", "streaming", "indexed",
                               "batch", "audio_samples", "metadata_scan"}) {
        if (step.name == std::string(name)) steps.push_back(step);
      }
    }
  }
  return steps;
}

INSTANTIATE_TEST_SUITE_P(Stopped, KillMatrix,
                         testing::Combine(testing::ValuesIn(StepsToStopAt()),
                                          testing::Values(kStop),
                                          testing::Values(true)),
                         CellName);

}  // namespace
}  // namespace bulkhead::tests
