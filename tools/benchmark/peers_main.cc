// SPDX-License-Identifier: Apache-2.0
#include <bulkhead/host.h>
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "core/application/writers/null_writer.h"
#include "core/application/writers/picture.h"
#include "tools/benchmark/clip_bench.h"
#include "tools/benchmark/command_line.h"
#include "tools/benchmark/in_process_decoder.h"
#include "tools/benchmark/peer.h"
#include "tools/benchmark/series.h"
#include "tools/benchmark/stopwatch.h"
#include "tools/cli/terminal.h"

namespace bulkhead::benchmark {
namespace {

constexpr char kPurpose[] =
    R"(Measures Bulkhead's cpu backend beside other decoders of the same FFmpeg
libraries: libav in this process, PyAV, OpenCV and FFMS2. 480p and 1080p H.264
to 24 bits per pixel, in order and at random places. Each decodes with one thread, every
byte of every frame is read, and the rounds are interleaved.)";

constexpr size_t kPlaces = 20;
constexpr uint32_t kSeed = 20240;

// A decoder and its figures.
struct Contestant {
  std::string name;
  Series sequential{"sequential", "frames/s", {}};
  Series open{"open, index and a first frame", "ms", {}};
  Series random{"frames at random places", "frames/s", {}};
  uint64_t wrong = 0;  // Frames at random places that were other frames.
};

struct Options {
  RunOptions run;
  std::string script;
  std::string libexec;
};

double PerSecond(uint64_t frames, double seconds) {
  return static_cast<double>(frames) / seconds;
}

// The decoders that this process calls: Bulkhead and libav. Each pass reads
// every byte of every frame.
class Ours {
 public:
  static constexpr const char* kNames[] = {"Bulkhead", "libav in process"};

  Ours(Host& host, std::string clip) : host_(host), clip_(std::move(clip)) {}

  Result<SequentialPass> Bulkhead() {
    timestamps_.clear();
    const auto start = Clock::now();
    Result<VideoDecoder> video = host_.OpenVideo(clip_);
    if (!video) return video.error();
    for (;;) {
      Result<std::optional<Frame>> frame = video->Next();
      if (!frame) return frame.error();
      if (!*frame) break;
      timestamps_.push_back((*frame)->pts().value_or(0));
      (void)reader_.Write(writers::PictureOf(**frame));
    }
    return SequentialPass{MillisecondsSince(start) / 1e3, timestamps_.size()};
  }

  Result<SequentialPass> InProcess() {
    const auto start = Clock::now();
    auto decoder = InProcessDecoder::Open(clip_);
    if (!decoder) return decoder.error();
    uint64_t frames = 0;
    for (;; ++frames) {
      Result<bool> next = (*decoder)->Next();
      if (!next) return next.error();
      if (!*next) break;
      (void)reader_.Write((*decoder)->picture());
    }
    return SequentialPass{MillisecondsSince(start) / 1e3, frames};
  }

  // Decodes the frames with these indices. A frame is wrong if its timestamp
  // differs from that of the last Bulkhead().
  Result<RandomPass> BulkheadAt(std::span<const int64_t> places) {
    RandomPass pass;
    auto start = Clock::now();
    Result<VideoDecoder> video = host_.OpenVideo(clip_);
    if (!video) return video.error();
    for (size_t i = 0; i < places.size(); ++i) {
      Result<Frame> frame = video->FrameAt(places[i]);
      if (!frame) return frame.error();
      (void)reader_.Write(writers::PictureOf(*frame));
      pass.wrong += frame->pts() != timestamps_[places[i]];
      if (i == 0) {
        pass.open_ms = MillisecondsSince(start);
        start = Clock::now();
      }
    }
    pass.seconds = MillisecondsSince(start) / 1e3;
    return pass;
  }

  // Decodes the same frames with libav, which has no index. Seeks to the
  // timestamps of the last Bulkhead() instead.
  Result<RandomPass> InProcessAt(std::span<const int64_t> places) {
    RandomPass pass;
    auto start = Clock::now();
    auto decoder = InProcessDecoder::Open(clip_);
    if (!decoder) return decoder.error();
    for (size_t i = 0; i < places.size(); ++i) {
      const Status at = (*decoder)->DecodeAt(timestamps_[places[i]]);
      if (!at.ok()) return at;
      (void)reader_.Write((*decoder)->picture());
      if (i == 0) {
        pass.open_ms = MillisecondsSince(start);
        start = Clock::now();
      }
    }
    pass.seconds = MillisecondsSince(start) / 1e3;
    return pass;
  }

 private:
  Host& host_;
  const std::string clip_;
  writers::NullWriter reader_;
  std::vector<int64_t> timestamps_;  // Filled by the last Bulkhead().
};

// Adds the figures of one round. Returns an error if a pass failed, or if the
// decoder does not return all `frames` of the clip.
Status Note(const Result<SequentialPass>& sequential,
            const Result<RandomPass>& random, uint64_t frames,
            Contestant& contestant) {
  if (!sequential) return sequential.error();
  if (!random) return random.error();
  if (sequential->frames != frames) {
    return Status(Code::kInternal,
                  fmt::format("{} decodes {} frames of {}", contestant.name,
                              sequential->frames, frames));
  }
  contestant.sequential.values.push_back(
      PerSecond(frames, sequential->seconds));
  contestant.open.values.push_back(random->open_ms);
  contestant.random.values.push_back(PerSecond(kPlaces - 1, random->seconds));
  contestant.wrong += random->wrong;
  return Status();
}

Result<std::vector<Contestant>> Measure(Host& host, const std::string& clip,
                                        uint64_t frames,
                                        const Options& options) {
  Ours ours(host, clip);
  std::vector<Contestant> all = {{.name = Ours::kNames[0]},
                                 {.name = Ours::kNames[1]}};
  std::vector<std::unique_ptr<Peer>> peers;
  for (const char* kind : {"pyav", "opencv", "ffms2"}) {
    auto peer = Peer::Start({options.script, kind, clip});
    if (!peer) {
      cli::Say(fmt::format("left out: {}; tools/bench --peers installs it",
                           peer.error().message()));
      continue;
    }
    all.push_back({.name = (*peer)->name()});
    peers.push_back(*std::move(peer));
  }
  std::mt19937 random(kSeed);
  for (int round = -1; round < options.run.rounds; ++round) {
    std::vector<int64_t> places(kPlaces);
    for (int64_t& place : places) {
      place = std::uniform_int_distribution<int64_t>(
          0, static_cast<int64_t>(frames) - 1)(random);
    }
    const std::vector<Contestant> before = all;
    const auto bulkhead = ours.Bulkhead();
    Status noted = Note(bulkhead, ours.BulkheadAt(places), frames, all[0]);
    if (!noted.ok()) return noted;
    const auto in_process = ours.InProcess();
    noted = Note(in_process, ours.InProcessAt(places), frames, all[1]);
    if (!noted.ok()) return noted;
    for (size_t i = 0; i < peers.size(); ++i) {
      const auto sequential = peers[i]->Sequential();
      noted = Note(sequential, peers[i]->Random(places), frames, all[2 + i]);
      if (!noted.ok()) return noted;
    }
    // Round -1 is a warm-up and does not count.
    if (round < 0) all = before;
  }
  return all;
}

nlohmann::ordered_json Print(const std::vector<Contestant>& all) {
  nlohmann::ordered_json facts = nlohmann::ordered_json::array();
  for (const Contestant& one : all) {
    std::vector<Series> series = {one.sequential, one.random, one.open};
    if (&one != &all.front()) {
      const Contestant& ours = all.front();
      series.push_back(
          Ratio("Bulkhead / it, sequential", ours.sequential, one.sequential));
      series.push_back(Ratio("Bulkhead / it, random", ours.random, one.random));
      series.push_back(Ratio("Bulkhead / it, open", ours.open, one.open));
    }
    std::cout << fmt::format("\n{}{}\n", one.name,
                             one.wrong ? fmt::format(", {} frames at random "
                                                     "places were others",
                                                     one.wrong)
                                       : "");
    for (const Series& line : series) std::cout << LineOf(line) << '\n';
    facts.push_back({{"decoder", one.name},
                     {"wrong_frames", one.wrong},
                     {"series", FactsOf(series)}});
  }
  return facts;
}

int Run(int argc, char** argv) {
  Options options;
  cli::Command program("bench --peers", kPurpose);
  AddRunOptions(program, options.run);
  program.AddOption("--script FILE", &options.script, "Where peers.py is")
      .Required();
  AddLibexecOption(program, options.libexec);
  if (const auto status = ParseOrExit(program, argc, argv)) return *status;
  return RunOnClips(options.run, options.libexec,
                    fmt::format("{} random places a round", kPlaces),
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
