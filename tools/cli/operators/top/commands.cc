// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/top/commands.h"

#include <fmt/format.h>

#include <utility>

#include "tools/cli/operators/top/command_name.h"

namespace bulkhead::cli::top {

Commands::~Commands() {
  if (thread_.joinable()) thread_.join();
}

std::string Commands::Start(int host_pid, const std::string& backend,
                            BackendCommand command) {
  if (running_) return "wait for the outcome of: " + doing_;
  if (thread_.joinable()) thread_.join();
  doing_ =
      fmt::format("{} {} in process {}", NameOf(command), backend, host_pid);
  running_ = true;
  thread_ = std::thread([this, host_pid, backend, command, doing = doing_] {
    const Status status = CommandBackend(host_pid, backend, command);
    {
      const std::lock_guard lock(mutex_);
      outcome_ = status.ok() ? "done: " + doing
                             : "failed: " + doing + ": " + status.message();
    }
    running_ = false;
    wake_.Signal();
  });
  return "asked to " + doing_;
}

std::optional<std::string> Commands::TakeOutcome() {
  const std::lock_guard lock(mutex_);
  return std::exchange(outcome_, std::nullopt);
}

}  // namespace bulkhead::cli::top
