// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "bulkhead/host.h"
#include "tests/chaos/chaos_installation.h"

namespace bulkhead::tests {

// A Host with the chaos backend, whose files the test changes, and a clip with
// the hashes of its frames.
class Reloading : public testing::Test {
 protected:
  void SetUp() override;

  BackendInfo Info() const;
  int Draining() const;
  VideoDecoder Open() const;
  static std::vector<std::string> Rest(VideoDecoder& video);
  static std::string NextHash(VideoDecoder& video);

  std::string object() const {
    return installation_.path() + "/bulkhead_chaos/libbulkhead_chaos.so";
  }
  std::string dist_info() const {
    return installation_.path() + "/bulkhead_chaos-0.1.0.dist-info";
  }
  // As installers do it: a new file of the same contents takes the name.
  void ReplaceObject() const;
  // So that nothing says what the object's contents should be.
  void ForgetHashes() const;
  // Each question waits for its answer, so this is no busy loop.
  static void Await(const std::function<bool()>& condition);
  // The successor has taken over from that zygote.
  void AwaitOtherZygote(int zygote) const;

  const ChaosInstallation installation_;
  std::unique_ptr<Host> host_;
  std::string clip_;
  std::vector<std::string> expected_;
};

// Threads that decode the clip again and again, and find each frame as it
// should be. The first failure of each is kept.
class Load {
 public:
  Load(Host& host, std::string clip, std::vector<std::string> expected,
       int threads);
  ~Load();
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  // Ends it.
  std::vector<std::string> Failures();
  int clips() const { return clips_; }

 private:
  std::string Decode(Host& host);

  const std::string clip_;
  const std::vector<std::string> expected_;
  std::atomic<bool> done_ = false;
  std::atomic<int> clips_ = 0;
  std::vector<std::string> failures_;
  std::vector<std::thread> threads_;
};

}  // namespace bulkhead::tests
