// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/batch/batch_run.h"

#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "tools/cli/batch/content_hash.h"
#include "tools/cli/decode/decode_audio.h"
#include "tools/cli/decode/decode_outcome.h"

namespace bulkhead::cli {
namespace {

constexpr int kAttempts = 3;

bool IsLoss(Code code) {
  return code == Code::kBackendLost || code == Code::kDeadlineExceeded ||
         code == Code::kResourceExhausted || code == Code::kBackendUnavailable;
}

}  // namespace

Status BatchRun::Run(const std::vector<BatchItem>& items, size_t threads) {
  for (const BatchItem& item : items) queue_.push_back({.item = item});
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
  // A task that another thread puts back is taken by that thread, if all others
  // have ended.
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
  const std::string name = std::to_string(thread);
  const FileStamp stamp = StampOf(task.item.input);
  if (Status status = CheckNames(task.item, recipe_.job.format); !status.ok()) {
    DecodeJob job = recipe_.job;
    job.file = task.item.input;
    const BatchRecord record = MakeRecord(
        task.item, stamp, std::nullopt, recipe_.options, recipe_.makers, job,
        Failure(std::move(status)), std::nullopt);
    Keep(task.item, record, name);
    report_.CountResult(record, false);
    return;
  }
  std::optional<std::string> sha256;
  if (stamp.bytes) {
    Result<std::string> hash =
        Sha256OfFile(task.item.input, [this] { return stop_.requested(); });
    if (hash) sha256 = *std::move(hash);
  }
  if (stop_.requested()) return;
  if (sha256) {
    if (auto poison = records_.FindPoison(task.item, stamp, *sha256)) {
      directory_.Remove(task.item.output);
      Keep(task.item, *poison, name);
      report_.CountResult(*poison, true);
      return;
    }
  }
  DecodeJob job = recipe_.job;
  job.file = task.item.input;
  job.output = directory_.Unfinished(name);
  job.video.cancellation = stop_.cancellation(thread);
  if (job.audio) job.audio->cancellation = stop_.cancellation(thread);
  if (job.format == "png") {
    std::error_code error;
    std::filesystem::remove_all(job.output, error);
    std::filesystem::create_directory(job.output, error);
    if (error) {
      return End(Status(Code::kInvalidArgument, "cannot create " + job.output +
                                                    ": " + error.message()));
    }
    // The number stands at the beginning of the names.
    bool before = true;
    job.pattern.Rewrite([&](const std::string& part) {
      return std::exchange(before, false) ? job.output + "/" : part;
    });
  }
  FileOutcome outcome = job.audio
                            ? DecodeAudio(host_, job, Progress::Shown::kNever)
                            : DecodeFile(host_, job, Progress::Shown::kNever);
  if (!(StampOf(task.item.input) == stamp)) {
    return Lose(std::move(task),
                Status(Code::kInvalidArgument,
                       job.file + " was changed while it was decoded"));
  }
  outcome.status = InWordsOfTheCommand(outcome.status);
  TakeOutcome(std::move(task), stamp, sha256, job, std::move(outcome), name);
}

void BatchRun::TakeOutcome(Task task, const FileStamp& stamp,
                           const std::optional<std::string>& sha256,
                           const DecodeJob& job, FileOutcome outcome,
                           const std::string& name) {
  const Status& status = outcome.status;
  if (status.code() == Code::kCancelled) return;
  // Only a message of a writer names the output of this thread.
  if (status.code() == Code::kSandboxUnavailable ||
      status.message().find(job.output) != std::string::npos) {
    return End(status);
  }
  if (IsLoss(status.code())) return Lose(std::move(task), status);
  const BatchItem& item = task.item;
  records_.Remove(item);
  std::optional<uint64_t> output_bytes;
  if (!status.ok()) {
    directory_.Remove(item.output);
  } else if (job.format != "null") {
    Status published = directory_.Publish(name, item.output);
    if (!published.ok()) return End(published);
    output_bytes = directory_.SizeOf(item.output);
  }
  const BatchRecord record =
      MakeRecord(item, stamp, sha256, recipe_.options, recipe_.makers, job,
                 outcome, output_bytes);
  Keep(item, record, name);
  bool told_before = false;
  if (status.code() == Code::kPoisonedInput && sha256) {
    Result<bool> first = records_.WritePoison(record, name);
    if (!first) return End(first.error());
    told_before = !*first;
  }
  report_.CountResult(record, told_before);
}

void BatchRun::Lose(Task task, const Status& status) {
  if (++task.attempts < kAttempts) {
    const std::lock_guard lock(mutex_);
    queue_.push_back(std::move(task));
    return;
  }
  report_.CountLoss(task.item, status);
}

void BatchRun::Keep(const BatchItem& item, const BatchRecord& record,
                    const std::string& name) {
  Status written = records_.Write(item, record, name);
  if (!written.ok()) End(written);
}

void BatchRun::End(const Status& status) {
  {
    const std::lock_guard lock(mutex_);
    if (end_.ok()) end_ = status;
  }
  stop_.Request();
}

}  // namespace bulkhead::cli
