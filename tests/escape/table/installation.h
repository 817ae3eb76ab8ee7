// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bulkhead/host.h"
#include "ipc/unique_fd.h"
#include "tests/escape/table/attempt.h"

namespace bulkhead::tests {

// The application that the backend of the table attacks, together with further
// targets: listeners that no backend may reach, a file that every user may
// read, and another vendor's backend in the middle of a stream.
class Installation {
 public:
  // How a session starts: as a clone of the zygote that all sessions have, or
  // in processes of its own, which load the backend anew.
  enum class Start { kClone, kExec };

  // Returns null if a failure was added, or if there is no ffmpeg, so that the
  // test must be skipped.
  static std::unique_ptr<Installation> Make(bool reduced);
  ~Installation();

  // Starts a host whose backend carries out `deed` while it is loaded: "all"
  // for all harmless attempts, "none", or the names of attempts.
  std::unique_ptr<Host> StartHost(const std::string& deed,
                                  const Deadlines& deadlines = {},
                                  Start start = Start::kClone) const;
  // Opens the clip on the device "escape".
  Result<VideoDecoder> Open(Host& host, const std::string& option = "",
                            const std::string& value = "",
                            uint32_t threads = 1) const;
  // Opens and decodes the whole clip and returns why decoding ended. Adds a
  // failure for a frame that differs from ffmpeg's.
  Status Decode(Host& host, const std::string& option,
                const std::string& value) const;

  // Expects that no target was harmed.
  void ExpectUnharmed();

  const Targets& targets() const { return targets_; }
  // Returns the file that the backend of the latest host maps while loading.
  const std::string& mapped_file() const { return mapped_file_; }

 private:
  Installation() = default;
  bool Prepare(bool reduced);
  bool StartSibling();

  Targets targets_;
  std::string directory_;
  mutable int hosts_ = 0;  // the number of hosts that were started
  mutable std::string mapped_file_;
  std::string libexec_;
  std::string media_;
  std::string media_before_;
  std::vector<std::string> hashes_;
  ipc::UniqueFd tcp_;
  ipc::UniqueFd unix_;
  ipc::UniqueFd abstract_;
  std::unique_ptr<Host> sibling_host_;
  std::optional<VideoDecoder> sibling_;
};

}  // namespace bulkhead::tests
