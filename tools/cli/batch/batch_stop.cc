// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/batch/batch_stop.h"

#include <signal.h>

#include <atomic>
#include <utility>

namespace bulkhead::cli::batch {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

// The state that the signal handler reads.
std::atomic<const BatchStop*> g_stop{nullptr};
std::atomic<bool> g_requested{false};

void HandleSignal(int) {
  if (const BatchStop* stop = g_stop) stop->Request();
}

}  // namespace

Result<std::unique_ptr<BatchStop>> BatchStop::Create(size_t threads) {
  std::vector<Cancellation> cancellations;
  for (size_t i = 0; i < threads; ++i) {
    Result<Cancellation> cancellation = Cancellation::Create();
    if (!cancellation) return cancellation.error();
    cancellations.push_back(*std::move(cancellation));
  }
  return std::unique_ptr<BatchStop>(new BatchStop(std::move(cancellations)));
}

BatchStop::BatchStop(std::vector<Cancellation> cancellations)
    : cancellations_(std::move(cancellations)) {
  g_requested = false;
  g_stop = this;
  for (const int signal : kSignals) {
    struct sigaction old;
    sigaction(signal, nullptr, &old);
    if (old.sa_handler == SIG_IGN) continue;
    struct sigaction action = {};
    action.sa_handler = HandleSignal;
    // With SA_RESETHAND, a second signal has its default action: it kills.
    action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
    sigaction(signal, &action, nullptr);
  }
}

BatchStop::~BatchStop() {
  for (const int number : kSignals) {
    struct sigaction action;
    sigaction(number, nullptr, &action);
    if (action.sa_handler == HandleSignal) signal(number, SIG_DFL);
  }
  g_stop = nullptr;
}

bool BatchStop::requested() const { return g_requested; }

void BatchStop::Request() const {
  g_requested = true;
  for (const Cancellation& cancellation : cancellations_) cancellation.Cancel();
}

}  // namespace bulkhead::cli::batch
