// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bulkhead/status.h>

#include <string>

namespace bulkhead::benchmark {

// A temporary directory with copies of the backend openreg, for
// HostOptions::plugin_path. Each copy is an installed distribution of its own.
// The destructor removes the directory.
class GeneratedBackends {
 public:
  // Makes `count` copies of the openreg that is in `libexec`, the directory of
  // Bulkhead's programs.
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
