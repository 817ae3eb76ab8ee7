// SPDX-License-Identifier: Apache-2.0
#include <bulkhead/host.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "tools/benchmark/clip_bench.h"
#include "tools/benchmark/command_line.h"
#include "tools/benchmark/peer.h"
#include "tools/benchmark/series.h"
#include "tools/benchmark/stopwatch.h"

namespace bulkhead::benchmark {
namespace {

constexpr char kPurpose[] =
    R"(Measures how fast frames become torch tensors in Python: with the package
bulkhead, with PyAV and with OpenCV, beside the C++ API, which copies each frame
into memory of its own. 480p and 1080p H.264, one thread; in order, at random
places, clips of 10 frames from random places, and a DataLoader with 2 workers
whose items open the file and take such a clip (in C++: 2 threads). The rounds are
interleaved.)";

constexpr size_t kPlaces = 10;
constexpr size_t kItems = 16;  // The items of the DataLoader in a round.
constexpr int64_t kClipFrames = 10;
constexpr uint32_t kSeed = 20241;

enum Task { kSequential, kRandom, kTenFrames, kLoader };
constexpr const char* kTasks[] = {"sequential", "random access",
                                  "clips of 10 frames",
                                  "DataLoader, 2 workers"};

// A decoder and its figures.
struct Contestant {
  explicit Contestant(std::string contestant) : name(std::move(contestant)) {
    for (const char* task : kTasks) series.push_back({task, "frames/s", {}});
  }

  std::string name;
  std::vector<Series> series;  // One for each Task.
  uint64_t wrong = 0;          // Pictures that the warm-up found to be wrong.
};

struct Options {
  RunOptions run;
  std::string script;
  std::string package;
  std::string libexec;
};

// The frames that a round decodes, for the tasks kRandom, kTenFrames (the first
// frame of each clip) and kLoader (likewise).
struct Places {
  std::vector<int64_t> random;
  std::vector<int64_t> clips;
  std::vector<int64_t> items;  // The same in each round.
};

// Memory for pictures. Filling it with zeroes first would cost time.
using Pixels = std::unique_ptr<std::byte[]>;

Pixels CopyOf(const Frame& frame) {
  const size_t row_bytes = frame.row(0).size();
  Pixels pixels(new std::byte[row_bytes * frame.height()]);
  for (uint32_t y = 0; y < frame.height(); ++y) {
    std::memcpy(pixels.get() + y * row_bytes, frame.row(y).data(), row_bytes);
  }
  return pixels;
}

// Carries out the tasks of tensors.py with the C++ API.
class InCpp {
 public:
  InCpp(Host& host, std::string clip) : host_(host), clip_(std::move(clip)) {}

  Result<TensorPass> Run(Task task, const Places& places) const {
    const auto start = Clock::now();
    Result<uint64_t> frames = Frames(task, places);
    if (!frames) return frames.error();
    return TensorPass{MillisecondsSince(start) / 1e3, *frames};
  }

 private:
  Result<uint64_t> Frames(Task task, const Places& places) const {
    switch (task) {
      case kSequential:
        return Sequential();
      case kRandom:
        return AtRandom(places.random);
      case kTenFrames:
        return Clips(places.clips);
      case kLoader:
        return InTwoThreads(places.items);
    }
    return Status(Code::kInternal, "there is no such task");
  }

  Result<uint64_t> Sequential() const {
    Result<VideoDecoder> video = host_.OpenVideo(clip_);
    if (!video) return video.error();
    for (uint64_t frames = 0;; ++frames) {
      Result<std::optional<Frame>> frame = video->Next();
      if (!frame) return frame.error();
      if (!*frame) return frames;
      const Pixels pixels = CopyOf(**frame);
    }
  }

  Result<uint64_t> AtRandom(std::span<const int64_t> places) const {
    Result<VideoDecoder> video = host_.OpenVideo(clip_);
    if (!video) return video.error();
    std::vector<Pixels> pictures;
    for (const int64_t place : places) {
      const Result<Frame> frame = video->FrameAt(place);
      if (!frame) return frame.error();
      pictures.push_back(CopyOf(*frame));
    }
    return pictures.size();
  }

  Result<uint64_t> Clips(std::span<const int64_t> places) const {
    Result<VideoDecoder> video = host_.OpenVideo(clip_);
    if (!video) return video.error();
    std::vector<Pixels> clips;
    for (const int64_t place : places) {
      Result<Pixels> clip = ClipAt(*video, place);
      if (!clip) return clip.error();
      clips.push_back(*std::move(clip));
    }
    return clips.size() * kClipFrames;
  }

  static Result<Pixels> ClipAt(VideoDecoder& video, int64_t place) {
    std::vector<int64_t> indices(kClipFrames);
    std::iota(indices.begin(), indices.end(), place);
    const VideoMetadata& metadata = video.metadata();
    const size_t bytes = size_t{3} * metadata.width * metadata.height *
                         static_cast<size_t>(kClipFrames);
    Pixels pixels(new std::byte[bytes]);
    const Result<FrameBatch> batch =
        video.FramesAt(indices, {pixels.get(), bytes});
    if (!batch) return batch.error();
    return pixels;
  }

  // Decodes the items in two threads, like the two workers of the DataLoader.
  Result<uint64_t> InTwoThreads(std::span<const int64_t> items) const {
    std::atomic<size_t> next = 0;
    Status failures[2];
    const auto work = [&](Status& failure) {
      for (size_t item; (item = next++) < items.size();) {
        const Result<uint64_t> frames = Clips(items.subspan(item, 1));
        if (!frames) failure = frames.error();
      }
    };
    {
      std::jthread first(work, std::ref(failures[0]));
      std::jthread second(work, std::ref(failures[1]));
    }
    for (const Status& failure : failures) {
      if (!failure.ok()) return failure;
    }
    return items.size() * kClipFrames;
  }

  Host& host_;
  const std::string clip_;
};

// Returns the request for tensors.py.
std::string RequestOf(Task task, const Places& places) {
  switch (task) {
    case kSequential:
      return "sequential";
    case kRandom:
      return fmt::format("random {}", fmt::join(places.random, ","));
    case kTenFrames:
      return fmt::format("clips {} {}", kClipFrames,
                         fmt::join(places.clips, ","));
    case kLoader:
      return fmt::format("loader {} {}", kClipFrames,
                         fmt::join(places.items, ","));
  }
  return "";
}

// Returns `count` random indices, at which a clip of kClipFrames can begin.
std::vector<int64_t> RandomPlaces(std::mt19937& random, size_t count,
                                  uint64_t frames) {
  std::uniform_int_distribution<int64_t> any(
      0, static_cast<int64_t>(frames) - kClipFrames);
  std::vector<int64_t> places(count);
  std::ranges::generate(places, [&] { return any(random); });
  return places;
}

Result<std::vector<Contestant>> Measure(Host& host, const std::string& clip,
                                        uint64_t frames,
                                        const Options& options) {
  const InCpp in_cpp(host, clip);
  std::vector<Contestant> all = {Contestant("C++ API")};
  std::vector<std::unique_ptr<Peer>> peers;  // all[i] is peers[i - 1].
  for (std::vector<std::string> arguments :
       {std::vector<std::string>{"bulkhead", clip, options.package},
        {"pyav", clip},
        {"opencv", clip}}) {
    arguments.insert(arguments.begin(), options.script);
    auto peer = Peer::Start(std::move(arguments));
    if (!peer) return peer.error();
    all.emplace_back((*peer)->name());
    peers.push_back(*std::move(peer));
  }
  std::mt19937 random(kSeed);
  Places places;
  places.items = RandomPlaces(random, kItems, frames);
  // Round -1 is a warm-up: it checks the pictures, and does not count.
  for (int round = -1; round < options.run.rounds; ++round) {
    places.random = RandomPlaces(random, kPlaces, frames);
    places.clips = RandomPlaces(random, kPlaces, frames);
    for (const Task task : {kSequential, kRandom, kTenFrames, kLoader}) {
      const std::string request = RequestOf(task, places);
      for (size_t i = 0; i < all.size(); ++i) {
        const Result<TensorPass> pass =
            i == 0 ? in_cpp.Run(task, places)
                   : peers[i - 1]->Tensors(round < 0 ? "check " + request
                                                     : request);
        if (!pass) return pass.error();
        all[i].wrong += pass->wrong;
        if (task == kSequential && pass->frames != frames) {
          return Status(Code::kInternal,
                        fmt::format("{} decodes {} frames of {}", all[i].name,
                                    pass->frames, frames));
        }
        if (round < 0) continue;
        all[i].series[task].values.push_back(static_cast<double>(pass->frames) /
                                             pass->seconds);
      }
    }
  }
  return all;
}

nlohmann::ordered_json Print(const std::vector<Contestant>& all) {
  nlohmann::ordered_json facts = nlohmann::ordered_json::array();
  const Contestant& python = all[1];
  for (const Contestant& one : all) {
    std::vector<Series> series = one.series;
    if (&one != &python) {
      for (size_t task = 0; task < one.series.size(); ++task) {
        series.push_back(
            Ratio(fmt::format("Bulkhead in Python / it, {}", kTasks[task]),
                  python.series[task], one.series[task]));
      }
    }
    std::cout << fmt::format(
        "\n{}{}\n", one.name,
        one.wrong ? fmt::format(", {} frames were others", one.wrong) : "");
    for (const Series& line : series) std::cout << LineOf(line) << '\n';
    facts.push_back({{"decoder", one.name},
                     {"wrong_frames", one.wrong},
                     {"series", FactsOf(series)}});
  }
  return facts;
}

int Run(int argc, char** argv) {
  Options options;
  cli::Command program("bench --python", kPurpose);
  AddRunOptions(program, options.run);
  program.AddOption("--script FILE", &options.script, "Where tensors.py is")
      .Required();
  program
      .AddOption("--package DIR", &options.package,
                 "The directory of the package bulkhead")
      .Required();
  AddLibexecOption(program, options.libexec);
  if (const auto status = ParseOrExit(program, argc, argv)) return *status;
  return RunOnClips(
      options.run, options.libexec,
      fmt::format("{} random places and {} items a round", kPlaces, kItems),
      [&](Host& host, const std::string& clip,
          uint64_t frames) -> Result<nlohmann::ordered_json> {
        auto all = Measure(host, clip, frames, options);
        if (!all) return all.error();
        return Print(*all);
      });
}

}  // namespace
}  // namespace bulkhead::benchmark

int main(int argc, char** argv) { return bulkhead::benchmark::Run(argc, argv); }
