// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/batch/batch_report.h"

#include <bulkhead/damage.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "tools/cli/facts.h"
#include "tools/cli/terminal.h"

namespace bulkhead::cli {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr std::chrono::milliseconds kRedraw{100};
constexpr std::chrono::milliseconds kNextLine{1'000};
// A carriage return, and the sequence that erases to the end of the line.
constexpr char kStartOfLine[] = "\r\x1b[K";
// The failures of earlier runs that people are shown.
constexpr size_t kShownFailures = 10;

std::string MessageOf(const BatchRecord& record) {
  const BatchRecord& error = record.at("error");
  return error.is_object() ? error.value("message", "") : "";
}

// Returns true if the damage of a record is more than notes. What older
// releases wrote had no kind and no notes.
bool HasDamage(const BatchRecord& record) {
  const BatchRecord& damage = record.at("damage");
  return std::any_of(damage.begin(), damage.end(), [](const auto& range) {
    return range.value("kind", "") != DamageKindName(DamageKind::kNote);
  });
}

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

BatchReport::BatchReport(uint64_t files, Progress::Shown shown, bool quiet)
    : files_(files),
      on_terminal_(StderrIsTerminal()),
      shown_(shown == Progress::Shown::kAlways ||
             (shown == Progress::Shown::kOnTerminals && on_terminal_)),
      quiet_(quiet),
      start_(Clock::now()),
      drawn_(start_) {}

void BatchReport::CountEarlier(const BatchRecord& record) {
  const std::lock_guard lock(mutex_);
  ++earlier_;
  Count(record);
  const Code code = CodeOf(record);
  if (code == Code::kOk) return;
  if (code == Code::kPoisonedInput &&
      !poison_.insert(record.at("sha256").get<std::string>()).second) {
    ++copies_of_poison_;
  } else {
    earlier_failures_.push_back(record);
  }
}

void BatchReport::CountResult(const BatchRecord& record, bool told_before) {
  const std::lock_guard lock(mutex_);
  Count(record);
  if (!told_before && record.at("frames").is_number()) {
    frames_ += record.at("frames").get<uint64_t>();
  }
  restarts_ += record.at("restarts").get<uint64_t>();
  const Code code = CodeOf(record);
  if (told_before) {
    ++copies_of_poison_;
  } else if (code != Code::kOk) {
    failures_.push_back(record);
    if (code == Code::kPoisonedInput && record.at("sha256").is_string()) {
      poison_.insert(record.at("sha256").get<std::string>());
    }
    SayAbove("bulkhead: " + MessageOf(record));
  }
  Draw(false);
}

void BatchReport::CountLoss(const BatchItem& item, const Status& status) {
  const std::lock_guard lock(mutex_);
  losses_.push_back({item.input, status});
  exit_code_ = WorseExitCode(exit_code_, ExitCodeFor(status.code()));
  SayAbove("bulkhead: " + status.message());
  Draw(false);
}

void BatchReport::FinishProgress() {
  const std::lock_guard lock(mutex_);
  if (on_terminal_ && shown_) {
    std::fputs(kStartOfLine, stderr);
  } else {
    Draw(true);
  }
}

void BatchReport::Count(const BatchRecord& record) {
  ++results_;
  const Code code = CodeOf(record);
  if (code != Code::kOk) {
    ++failed_;
    exit_code_ = WorseExitCode(exit_code_, ExitCodeFor(code));
  } else if (HasDamage(record)) {
    ++damaged_;
  } else if (!record.at("damage").empty()) {
    ++noted_;
  }
}

void BatchReport::SayAbove(const std::string& line) {
  if (on_terminal_ && shown_) std::fputs(kStartOfLine, stderr);
  Say(line);
}

void BatchReport::Draw(bool now) {
  const Clock::time_point time = Clock::now();
  if (!shown_) return;
  if (!now && time - drawn_ < (on_terminal_ ? kRedraw : kNextLine)) return;
  drawn_ = time;
  if (on_terminal_) {
    std::fputs((kStartOfLine + ProgressLine()).c_str(), stderr);
  } else {
    Say(ProgressLine());
  }
}

std::string BatchReport::ProgressLine() const {
  const double seconds = SecondsSince(start_);
  return fmt::format("{}/{} files, {:.0f} frames/s, {} failed, {} lost",
                     results_, files_,
                     seconds > 0 ? static_cast<double>(frames_) / seconds : 0,
                     failed_, losses_.size());
}

void BatchReport::SayEarlierFailures() const {
  const size_t shown = std::min(kShownFailures, earlier_failures_.size());
  for (size_t i = 0; i < shown; ++i) {
    Say("in an earlier run: " + MessageOf(earlier_failures_[i]));
  }
  if (shown < earlier_failures_.size()) {
    Say(fmt::format("and {} more in earlier runs: see manifest.jsonl",
                    earlier_failures_.size() - shown));
  }
}

void BatchReport::SaySummary(bool ended) const {
  if (quiet_) return;
  const std::lock_guard lock(mutex_);
  const double seconds = SecondsSince(start_);
  Say(
      fmt::format("{} of {} files have results, {} of them from earlier runs; "
                  "{} frames in {:.2f} s, {:.0f} frames/s",
                  results_, files_, earlier_, frames_, seconds,
                  static_cast<double>(frames_) / seconds));
  if (failed_ > 0) {
    Say(fmt::format("{} failed{}", failed_,
                    copies_of_poison_ == 0
                        ? ""
                        : fmt::format(", {} of them copies of a file that "
                                      "kills workers",
                                      copies_of_poison_)));
    SayEarlierFailures();
  }
  if (damaged_ > 0) Say(fmt::format("{} decoded with damage", damaged_));
  if (noted_ > 0) Say(fmt::format("{} decoded with notes alone", noted_));
  if (restarts_ > 0) {
    Say(fmt::format("workers were replaced {} times", restarts_));
  }
  if (results_ < files_) {
    Say(fmt::format("{} have no result{}", files_ - results_,
                    ended ? ": an error has ended the run"
                          : "; the same command tries them again"));
  }
}

Json BatchReport::Facts(const BatchShard& shard) const {
  const std::lock_guard lock(mutex_);
  Json failures = Json::array();
  Json poison = Json::array();
  const auto add = [&](const BatchRecord& record, bool earlier) {
    failures.push_back({{"input", record.at("input")},
                        {"sha256", record.at("sha256")},
                        {"code", CodeName(CodeOf(record))},
                        {"message", MessageOf(record)},
                        {"from_earlier_run", earlier}});
    if (CodeOf(record) == Code::kPoisonedInput) {
      poison.push_back(record.at("sha256"));
    }
  };
  for (const BatchRecord& record : earlier_failures_) add(record, true);
  for (const BatchRecord& record : failures_) add(record, false);
  Json losses = Json::array();
  for (const Loss& loss : losses_) {
    losses.push_back({{"input", TextOf(loss.input)},
                      {"code", CodeName(loss.status.code())},
                      {"message", loss.status.message()}});
  }
  return Json{{"shard", fmt::format("{}/{}", shard.number, shard.count)},
              {"files", files_},
              {"results", results_},
              {"from_earlier_runs", earlier_},
              {"failed", failed_},
              {"damaged", damaged_},
              {"noted", noted_},
              {"restarts", restarts_},
              {"frames", frames_},
              {"seconds", SecondsSince(start_)},
              {"failures", failures},
              {"poison", poison},
              {"copies_of_poison", copies_of_poison_},
              {"lost", losses}};
}

}  // namespace bulkhead::cli
