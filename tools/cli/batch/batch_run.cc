// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/batch/batch_run.h"

#include <string>
#include <thread>
#include <utility>

namespace bulkhead::cli::batch {
namespace {

constexpr int kAttempts = 3;

}  // namespace

Status BatchRun::Run(const std::vector<bulkhead::batch::Item>& items,
                     size_t threads) {
  for (const bulkhead::batch::Item& item : items)
    queue_.push_back({.item = item});
  std::vector<std::thread> workers;
  for (size_t i = 0; i < threads; ++i) {
    workers.emplace_back([this, i] { Work(i); });
  }
  for (std::thread& worker : workers) worker.join();
  if (end_.ok() && stop_.requested()) {
    return Status(Code::kCancelled,
                  "stopped; the same command does what is missing");
  }
  return end_;
}

void BatchRun::Work(size_t thread) {
  // A thread may end while other threads still work. If one of them puts its
  // task back into the queue, it takes the task again itself.
  while (auto task = Take()) Try(*std::move(task), thread);
}

std::optional<BatchRun::Task> BatchRun::Take() {
  const std::lock_guard lock(mutex_);
  if (queue_.empty() || stop_.requested()) return std::nullopt;
  Task task = std::move(queue_.front());
  queue_.pop_front();
  return task;
}

void BatchRun::Try(Task task, size_t thread) {
  const std::string& input = task.item.input;
  bulkhead::batch::Attempt attempt(directory_, records_, recipe_, task.item,
                                   input, std::to_string(thread));
  // A verdict without decoding, for example for contents that kill workers.
  const auto known = attempt.Begin([this] { return stop_.requested(); });
  if (known) return TakeVerdict(std::move(task), *known);
  if (stop_.requested()) return;
  decoding::Job job = job_;
  job.video.cancellation = stop_.cancellation(thread);
  if (job.audio) job.audio->cancellation = stop_.cancellation(thread);
  // nullopt if the job was cancelled; the task then gets no result.
  const auto verdict = attempt.Decode(host_, std::move(job));
  if (verdict) TakeVerdict(std::move(task), *verdict);
}

void BatchRun::TakeVerdict(Task task, const bulkhead::batch::Verdict& verdict) {
  switch (verdict.kind) {
    case bulkhead::batch::Verdict::Kind::kResult:
      return report_.CountResult(verdict);
    case bulkhead::batch::Verdict::Kind::kLoss:
      return Lose(std::move(task), verdict.status);
    case bulkhead::batch::Verdict::Kind::kEnd:
      return End(verdict.status);
  }
}

void BatchRun::Lose(Task task, const Status& status) {
  if (++task.attempts < kAttempts) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(task));
    return;
  }
  report_.CountLoss(task.item, status);
}

void BatchRun::End(const Status& status) {
  {
    const std::lock_guard lock(mutex_);
    if (end_.ok()) end_ = status;
  }
  stop_.Request();
}

}  // namespace bulkhead::cli::batch
