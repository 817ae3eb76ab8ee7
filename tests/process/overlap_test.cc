// SPDX-License-Identifier: Apache-2.0
//
// Tests where a worker converts a picture while it decodes the next one, and
// that the frames are the same.

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/media/sample_files.h"
#include "tests/support/frame_hash.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

// Limits how many frames of each sample file are decoded. The generated clips
// are decoded to their ends.
constexpr size_t kFramesOfSamples = 20;

cpu_set_t Processors() {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  EXPECT_EQ(sched_getaffinity(0, sizeof(processors), &processors), 0);
  return processors;
}

// Serves the bytes of a file as an application does that alone can read them.
Source Served(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return Source::FromReader(
             SourceReader{
                 .read = [bytes](uint64_t offset,
                                 std::span<std::byte> out) -> Result<size_t> {
                   const auto from = std::as_bytes(std::span(bytes));
                   const size_t size =
                       std::min<size_t>(out.size(), bytes.size() - offset);
                   std::copy_n(from.begin() + static_cast<ptrdiff_t>(offset),
                               size, out.begin());
                   return size;
                 },
                 .bytes = bytes.size()},
             "served.mp4")
      .value();
}

std::unique_ptr<Host> NewHost() {
  HostOptions options;
  options.libexec_dir = LibexecDirectory();
  return Host::Create(options).value();
}

// Returns a host whose processes may use one processor only.
std::unique_ptr<Host> NewHostOfOneProcessor() {
  const cpu_set_t all = Processors();
  cpu_set_t one;
  CPU_ZERO(&one);
  for (size_t i = 0; CPU_COUNT(&one) == 0; ++i) {
    if (CPU_ISSET(i, &all)) CPU_SET(i, &one);
  }
  EXPECT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
  auto host = NewHost();
  EXPECT_EQ(sched_setaffinity(0, sizeof(all), &all), 0);
  return host;
}

class Overlap : public testing::Test {
 protected:
  void SetUp() override {
    const cpu_set_t processors = Processors();
    if (CPU_COUNT(&processors) < 2) GTEST_SKIP() << "one processor";
    overlapping_ = NewHost();
    in_turn_ = NewHostOfOneProcessor();
  }

  static std::vector<std::string> Decode(Host& host, const std::string& path,
                                         size_t most) {
    return HashesOrError(host, path, {.device = "cpu"}, most);
  }

  // Returns the number of threads of a worker that has decoded some frames.
  static ptrdiff_t Threads(Host& host, const Source& source,
                           VideoOptions options = {}) {
    options.device = "cpu";
    auto video = host.OpenVideo(source, options);
    for (int i = 0; video && i < 10; ++i) {
      if (!video->Next().value()) break;
    }
    if (!video) return -1;
    const std::filesystem::directory_iterator tasks(
        "/proc/" + std::to_string(video->worker_pid()) + "/task");
    return std::distance(begin(tasks), end(tasks));
  }

  std::unique_ptr<Host> overlapping_;
  std::unique_ptr<Host> in_turn_;
};

TEST_F(Overlap, TakesAThreadOnlyWherePicturesAreConvertedInOrder) {
  const std::string clip = ClipOrSkip(Clip::kH264);
  if (clip.empty()) return;
  EXPECT_EQ(Threads(*overlapping_, clip), 2);
  EXPECT_EQ(Threads(*in_turn_, clip), 1) << "no processor is free";
  EXPECT_EQ(
      Threads(*overlapping_, clip, {.output_format = OutputFormat::kNative}), 1)
      << "nothing is converted";
  EXPECT_EQ(Threads(*overlapping_, clip, {.on_corrupt = OnCorrupt::kShow}), 1)
      << "what a decoder leaves unfilled shows which buffer it had";
  EXPECT_EQ(Threads(*overlapping_, Served(clip)), 1)
      << "the worker asks for bytes while it decodes";
}

TEST_F(Overlap, ChangesNoFrameOfGeneratedClips) {
  for (const Clip clip : AllClips()) {
    const auto path = Generate(clip);
    if (!path) GTEST_SKIP() << path.error();
    const auto frames = Decode(*overlapping_, *path, SIZE_MAX);
    EXPECT_EQ(frames, Decode(*in_turn_, *path, SIZE_MAX)) << ClipName(clip);
    EXPECT_EQ(frames, HashesByFfmpeg(*path).value()) << ClipName(clip);
  }
}

TEST_F(Overlap, ChangesNoFrameOfSampleFiles) {
  const std::vector<SampleFile> files = MediaFiles();
  if (files.empty()) GTEST_SKIP() << WhyNoSamples();
  for (const SampleFile& file : files) {
    EXPECT_EQ(Decode(*overlapping_, file.path, kFramesOfSamples),
              Decode(*in_turn_, file.path, kFramesOfSamples))
        << file.name;
  }
}

}  // namespace
}  // namespace bulkhead::tests
