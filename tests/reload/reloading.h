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

// Gives a test a Host with the chaos backend, whose files the test changes, and
// a clip with the hashes of its frames.
class Reloading : public testing::Test {
 protected:
  void SetUp() override;

  BackendInfo Info() const;
  int Draining() const;
  VideoDecoder Open() const;
  static std::string NextHash(VideoDecoder& video);

  std::string object() const {
    return installation_.path() + "/bulkhead_chaos/libbulkhead_chaos.so";
  }
  std::string dist_info() const {
    return installation_.path() + "/bulkhead_chaos-0.1.0.dist-info";
  }
  // Replaces the shared object as installers do: a new file with the same
  // contents is renamed over the old one.
  void ReplaceObject() const;
  // Removes RECORD's hashes, so that nothing says what the shared object should
  // contain.
  void ForgetHashes() const;
  // Calls `condition` until it is true. The conditions ask bulkheadd and wait
  // for the answer, so this is no busy loop.
  static void Await(const std::function<bool()>& condition);
  // Waits until another zygote has taken over from `zygote`.
  void AwaitOtherZygote(int zygote) const;

  const ChaosInstallation installation_;
  std::unique_ptr<Host> host_;
  std::string clip_;
  std::vector<std::string> expected_;
};

// Threads that decode the clip repeatedly and check every frame. Keeps the
// first failure of each thread.
class Load {
 public:
  Load(Host& host, std::string clip, std::vector<std::string> expected,
       int threads);
  ~Load();
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

  // Stops the threads and returns their failures.
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
