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

// The application that the table's backend attacks, and whom it finds there:
// listeners that nobody may reach, a file that anybody may read, a backend of
// another vendor in the middle of a stream.
class Installation {
 public:
  // Null: a failure was added, or there is no ffmpeg and the test has to skip.
  static std::unique_ptr<Installation> Make(bool reduced);
  ~Installation();

  // A host whose backend does `deed` while it is loaded: "all", names of
  // attempts, which the zygote makes itself, or "none".
  std::unique_ptr<Host> StartHost(const std::string& deed,
                                  const Deadlines& deadlines = {}) const;
  // The stream of the device "escape".
  Result<VideoDecoder> Open(Host& host, const std::string& option = "",
                            const std::string& value = "",
                            uint32_t threads = 1) const;
  // Opens, decodes it all, and returns why it ended. Frames other than
  // ffmpeg's are failures.
  Status Decode(Host& host, const std::string& option,
                const std::string& value) const;

  // Nothing that was attacked was harmed.
  void ExpectUnharmed();

  const Targets& targets() const { return targets_; }

 private:
  Installation() = default;
  bool Prepare(bool reduced);
  bool StartSibling();

  Targets targets_;
  std::string directory_;
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
