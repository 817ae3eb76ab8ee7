// SPDX-License-Identifier: Apache-2.0
#include "core/application/batch/attempt.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "core/application/decoding/decode_audio.h"
#include "core/application/decoding/decode_file.h"
#include "core/application/writers/output_pattern.h"

namespace bulkhead::batch {
namespace {

Verdict WithoutRecord(Verdict::Kind kind, Status status) {
  return {.kind = kind, .status = std::move(status)};
}

}  // namespace

bool IsLoss(Code code) {
  return code == Code::kBackendLost || code == Code::kDeadlineExceeded ||
         code == Code::kResourceExhausted || code == Code::kBackendUnavailable;
}

Attempt::Attempt(const Directory& directory, const Records& records,
                 const Recipe& recipe, Item item, std::string path,
                 std::string writer)
    : directory_(directory),
      records_(records),
      recipe_(recipe),
      item_(std::move(item)),
      path_(std::move(path)),
      writer_(std::move(writer)) {}

std::optional<Verdict> Attempt::Begin(const std::function<bool()>& stopped) {
  stamp_ = StampOf(path_);
  if (Status status = CheckNames(item_, recipe_.suffix); !status.ok()) {
    decoding::Outcome outcome{.status = std::move(status)};
    if (recipe_.has_frames) outcome.frames = 0;
    return Keep(MakeRecord(item_, item_.input, stamp_, std::nullopt, recipe_,
                           outcome, std::nullopt),
                false);
  }
  if (stamp_.bytes) {
    Result<std::string> hash = Sha256OfFile(path_, stopped);
    if (hash) sha256_ = *std::move(hash);
  }
  if (!sha256_) return std::nullopt;
  auto poison = records_.FindPoison(item_, stamp_, *sha256_);
  if (!poison) return std::nullopt;
  // An earlier run may have left an output, and a failed input has none.
  directory_.Remove(item_.output);
  return Keep(*std::move(poison), true);
}

std::optional<Verdict> Attempt::Decode(Host& host, decoding::Job job) {
  job.file = path_;
  job.output = output();
  if (job.format == "png") {
    std::error_code error;
    std::filesystem::remove_all(job.output, error);
    if (!error) std::filesystem::create_directory(job.output, error);
    if (error) {
      return WithoutRecord(
          Verdict::Kind::kEnd,
          Status(Code::kInvalidArgument,
                 "cannot create " + job.output + ": " + error.message()));
    }
    // Adds the directory after parsing, since a percent sign in its name must
    // not be read as a placeholder.
    job.pattern = writers::OutputPattern::Parse("%06d.png").value();
    bool before = true;
    job.pattern.Rewrite([&](const std::string& part) {
      return std::exchange(before, false) ? job.output + "/" : part;
    });
  }
  const decoding::Outcome outcome =
      job.audio ? decoding::DecodeAudio(host, Source(path_), job, nullptr)
                : decoding::DecodeFile(host, Source(path_), job, nullptr);
  if (outcome.status.code() == Code::kCancelled) return std::nullopt;
  return Finish(outcome);
}

Verdict Attempt::Finish(const decoding::Outcome& outcome) {
  const Status& status = outcome.status;
  if (!(StampOf(path_) == stamp_)) {
    return WithoutRecord(
        Verdict::Kind::kLoss,
        Status(Code::kInvalidArgument,
               TextOf(item_.input) + " was changed while it was decoded"));
  }
  if (status.code() == Code::kSandboxUnavailable || outcome.output_failed) {
    return WithoutRecord(Verdict::Kind::kEnd, status);
  }
  if (IsLoss(status.code())) return WithoutRecord(Verdict::Kind::kLoss, status);
  // Removes the old record first, so that it never describes the new output.
  records_.Remove(item_);
  std::optional<uint64_t> output_bytes;
  if (!status.ok()) {
    directory_.Remove(item_.output);
  } else if (recipe_.has_output) {
    Status published = directory_.Publish(writer_, item_.output);
    if (!published.ok()) {
      return WithoutRecord(Verdict::Kind::kEnd, std::move(published));
    }
    output_bytes = directory_.SizeOf(item_.output);
  }
  Verdict verdict = Keep(
      MakeRecord(item_, path_, stamp_, sha256_, recipe_, outcome, output_bytes),
      false);
  if (verdict.kind == Verdict::Kind::kResult && sha256_ &&
      status.code() == Code::kPoisonedInput) {
    Result<bool> first = records_.WritePoison(verdict.record, writer_);
    if (!first) return WithoutRecord(Verdict::Kind::kEnd, first.error());
    verdict.copy_of_poison = !*first;
  }
  return verdict;
}

Verdict Attempt::Keep(Record record, bool copy_of_poison) const {
  Status written = records_.Write(item_, record, writer_);
  if (!written.ok())
    return WithoutRecord(Verdict::Kind::kEnd, std::move(written));
  return {.record = std::move(record), .copy_of_poison = copy_of_poison};
}

}  // namespace bulkhead::batch
