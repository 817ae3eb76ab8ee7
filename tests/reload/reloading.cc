// SPDX-License-Identifier: Apache-2.0
#include "tests/reload/reloading.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <utility>

#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/frame_hash.h"

namespace bulkhead::tests {

namespace fs = std::filesystem;

void Reloading::SetUp() {
  clip_ = ClipOrSkip(Clip::kH264);
  if (clip_.empty()) return;
  host_ = Host::Create(installation_.options()).value();
  VideoDecoder video = Open();
  expected_ = HashesOfRest(video);
  ASSERT_EQ(expected_.size(), 120u);
}

BackendInfo Reloading::Info() const {
  const BackendReport report = host_->Backends().value();
  for (const BackendInfo& backend : report.backends) {
    if (backend.name == "chaos" && backend.state != "draining") return backend;
  }
  return {};
}

int Reloading::Draining() const {
  int draining = 0;
  const BackendReport report = host_->Backends().value();
  for (const BackendInfo& backend : report.backends) {
    draining += backend.state == "draining" ? 1 : 0;
  }
  return draining;
}

VideoDecoder Reloading::Open() const {
  return host_->OpenVideo(clip_, ChaosInstallation::Stream()).value();
}

std::string Reloading::NextHash(VideoDecoder& video) {
  return HashOf(video.Next().value().value());
}

void Reloading::ReplaceObject() const {
  fs::copy_file(object(), object() + ".new");
  fs::rename(object() + ".new", object());
}

void Reloading::ForgetHashes() const {
  std::ofstream(dist_info() + "/RECORD")
      << "bulkhead_chaos/libbulkhead_chaos.so,,\n"
         "bulkhead_chaos/faults,,\n";
}

void Reloading::Await(const std::function<bool()>& condition) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!condition()) {
    ASSERT_LT(std::chrono::steady_clock::now(), limit);
  }
}

void Reloading::AwaitOtherZygote(int zygote) const {
  Await([&] {
    const BackendInfo info = Info();
    return info.state == "ready" && info.zygote_pid != zygote;
  });
}

Load::Load(Host& host, std::string clip, std::vector<std::string> expected,
           int threads)
    : clip_(std::move(clip)),
      expected_(std::move(expected)),
      failures_(static_cast<size_t>(threads)) {
  for (std::string& failure : failures_) {
    threads_.emplace_back([this, &host, &failure] {
      while (!done_ && failure.empty()) failure = Decode(host);
    });
  }
}

Load::~Load() { Failures(); }

std::vector<std::string> Load::Failures() {
  done_ = true;
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  std::vector<std::string> failures;
  for (const std::string& failure : failures_) {
    if (!failure.empty()) failures.push_back(failure);
  }
  return failures;
}

std::string Load::Decode(Host& host) {
  auto video = host.OpenVideo(clip_, ChaosInstallation::Stream());
  if (!video) return "open: " + video.error().message();
  for (size_t i = 0;; ++i) {
    auto frame = video->Next();
    const std::string at = "frame " + std::to_string(i) + ": ";
    if (!frame) return at + frame.error().message();
    if (!*frame) {
      if (i != expected_.size()) return at + "the end";
      ++clips_;
      return "";
    }
    if (i >= expected_.size() || HashOf(**frame) != expected_[i]) {
      return at + "another picture";
    }
  }
}

}  // namespace bulkhead::tests
