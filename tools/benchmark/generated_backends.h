// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <string>

namespace bulkhead::benchmark {

// A directory for the plugin path with copies of openreg, each a distribution
// of its own, as an installer leaves it. The destructor removes the directory.
class GeneratedBackends {
 public:
  // `libexec` is the directory of Bulkhead's programs, which has openreg.
  static Result<GeneratedBackends> Make(const std::string& libexec, int count);
  GeneratedBackends(GeneratedBackends&& other) noexcept;
  GeneratedBackends& operator=(GeneratedBackends&&) = delete;
  ~GeneratedBackends();

  const std::string& path() const { return path_; }
  // The first device of backend `i`, as VideoOptions::device takes it.
  static std::string Device(int i);

 private:
  explicit GeneratedBackends(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace bulkhead::benchmark
