// SPDX-License-Identifier: Apache-2.0
#include "core/application/batch/summary.h"

#include <bulkhead/damage.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace bulkhead::batch {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

// The number of earlier runs' failures that Lines() shows.
constexpr size_t kShownFailures = 10;

std::string MessageOf(const Record& record) {
  const Record& error = record.at("error");
  return error.is_object() ? error.value("message", "") : "";
}

// Returns true if the damage of a record is more than notes. Records of old
// releases have damage without a kind, and no notes.
bool HasDamage(const Record& record) {
  const Record& damage = record.at("damage");
  return std::any_of(damage.begin(), damage.end(), [](const auto& range) {
    return range.value("kind", "") != DamageKindName(DamageKind::kNote);
  });
}

}  // namespace

Summary::Summary(uint64_t files) : files_(files), start_(Clock::now()) {}

void Summary::CountEarlier(const Record& record) {
  ++earlier_;
  Count(record);
  const Code code = CodeOf(record);
  if (code == Code::kOk) return;
  if (code == Code::kPoisonedInput && record.at("sha256").is_string() &&
      !poison_.insert(record.at("sha256").get<std::string>()).second) {
    ++copies_of_poison_;
  } else {
    earlier_failures_.push_back(record);
  }
}

std::string Summary::CountResult(const Record& record, bool copy_of_poison) {
  Count(record);
  restarts_ += record.at("restarts").get<uint64_t>();
  const Code code = CodeOf(record);
  if (code == Code::kPoisonedInput && record.at("sha256").is_string()) {
    // poison_ may have the hash even if Verdict::copy_of_poison is false: dask
    // repeats an attempt if the process died before it returned the result.
    const std::string sha256 = record.at("sha256").get<std::string>();
    copy_of_poison = copy_of_poison || !poison_.insert(sha256).second;
  }
  if (copy_of_poison) {
    ++copies_of_poison_;
    return "";
  }
  if (record.at("frames").is_number()) {
    frames_ += record.at("frames").get<uint64_t>();
  }
  if (code == Code::kOk) return "";
  failures_.push_back(record);
  return MessageOf(record);
}

void Summary::CountLoss(const Item& item, const Status& status) {
  losses_.push_back({item.input, status});
  codes_.insert(status.code());
}

void Summary::Count(const Record& record) {
  ++results_;
  const Code code = CodeOf(record);
  if (code != Code::kOk) {
    ++failed_;
    codes_.insert(code);
  } else if (HasDamage(record)) {
    ++damaged_;
  } else if (!record.at("damage").empty()) {
    ++noted_;
  }
}

double Summary::Seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

std::string Summary::ProgressLine() const {
  const double seconds = Seconds();
  return fmt::format("{}/{} files, {:.0f} frames/s, {} failed, {} lost",
                     results_, files_,
                     seconds > 0 ? static_cast<double>(frames_) / seconds : 0.0,
                     failed_, losses_.size());
}

std::vector<std::string> Summary::Lines(const std::string& of_missing) const {
  const double seconds = Seconds();
  std::vector<std::string> lines = {fmt::format(
      "{} of {} files have results, {} of them from earlier runs; {} frames in "
      "{:.2f} s, {:.0f} frames/s",
      results_, files_, earlier_, frames_, seconds,
      static_cast<double>(frames_) / seconds)};
  if (failed_ > 0) {
    lines.push_back(fmt::format("{} failed", failed_));
    if (copies_of_poison_ > 0) {
      lines.back() +=
          fmt::format(", {} of them copies of a file that kills workers",
                      copies_of_poison_);
    }
    const size_t shown = std::min(kShownFailures, earlier_failures_.size());
    for (size_t i = 0; i < shown; ++i) {
      lines.push_back("in an earlier run: " + MessageOf(earlier_failures_[i]));
    }
    if (shown < earlier_failures_.size()) {
      lines.push_back(
          fmt::format("and {} more in earlier runs: see manifest.jsonl",
                      earlier_failures_.size() - shown));
    }
  }
  if (damaged_ > 0) {
    lines.push_back(fmt::format("{} decoded with damage", damaged_));
  }
  if (noted_ > 0) {
    lines.push_back(fmt::format("{} decoded with notes alone", noted_));
  }
  if (restarts_ > 0) {
    lines.push_back(fmt::format("workers were replaced {} times", restarts_));
  }
  if (results_ < files_) {
    lines.push_back(
        fmt::format("{} have no result{}", files_ - results_, of_missing));
  }
  return lines;
}

Json Summary::Facts() const {
  Json failures = Json::array();
  Json poison = Json::array();
  const auto add = [&](const Record& record, bool earlier) {
    failures.push_back({{"input", record.at("input")},
                        {"sha256", record.at("sha256")},
                        {"code", CodeName(CodeOf(record))},
                        {"message", MessageOf(record)},
                        {"from_earlier_run", earlier}});
    if (CodeOf(record) == Code::kPoisonedInput) {
      poison.push_back(record.at("sha256"));
    }
  };
  for (const Record& record : earlier_failures_) add(record, true);
  for (const Record& record : failures_) add(record, false);
  Json losses = Json::array();
  for (const Loss& loss : losses_) {
    losses.push_back({{"input", TextOf(loss.input)},
                      {"code", CodeName(loss.status.code())},
                      {"message", loss.status.message()}});
  }
  return Json{{"files", files_},
              {"results", results_},
              {"from_earlier_runs", earlier_},
              {"failed", failed_},
              {"damaged", damaged_},
              {"noted", noted_},
              {"restarts", restarts_},
              {"frames", frames_},
              {"seconds", Seconds()},
              {"failures", failures},
              {"poison", poison},
              {"copies_of_poison", copies_of_poison_},
              {"lost", losses}};
}

}  // namespace bulkhead::batch
