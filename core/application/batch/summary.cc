// SPDX-License-Identifier: Apache-2.0
#include "core/application/batch/summary.h"

#include <bulkhead/damage.h>

#include <algorithm>
#include <cstdio>
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

std::string Decimal(double number, int digits) {
  char text[64];
  (void)std::snprintf(text, sizeof(text), "%.*f", digits, number);
  return text;
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
  return std::to_string(results_) + "/" + std::to_string(files_) + " files, " +
         Decimal(seconds > 0 ? static_cast<double>(frames_) / seconds : 0, 0) +
         " frames/s, " + std::to_string(failed_) + " failed, " +
         std::to_string(losses_.size()) + " lost";
}

std::vector<std::string> Summary::Lines(const std::string& of_missing) const {
  const double seconds = Seconds();
  std::vector<std::string> lines = {
      std::to_string(results_) + " of " + std::to_string(files_) +
      " files have results, " + std::to_string(earlier_) +
      " of them from earlier runs; " + std::to_string(frames_) + " frames in " +
      Decimal(seconds, 2) + " s, " +
      Decimal(static_cast<double>(frames_) / seconds, 0) + " frames/s"};
  if (failed_ > 0) {
    lines.push_back(std::to_string(failed_) + " failed");
    if (copies_of_poison_ > 0) {
      lines.back() += ", " + std::to_string(copies_of_poison_) +
                      " of them copies of a file that kills workers";
    }
    const size_t shown = std::min(kShownFailures, earlier_failures_.size());
    for (size_t i = 0; i < shown; ++i) {
      lines.push_back("in an earlier run: " + MessageOf(earlier_failures_[i]));
    }
    if (shown < earlier_failures_.size()) {
      lines.push_back("and " +
                      std::to_string(earlier_failures_.size() - shown) +
                      " more in earlier runs: see manifest.jsonl");
    }
  }
  if (damaged_ > 0) {
    lines.push_back(std::to_string(damaged_) + " decoded with damage");
  }
  if (noted_ > 0) {
    lines.push_back(std::to_string(noted_) + " decoded with notes alone");
  }
  if (restarts_ > 0) {
    lines.push_back("workers were replaced " + std::to_string(restarts_) +
                    " times");
  }
  if (results_ < files_) {
    lines.push_back(std::to_string(files_ - results_) + " have no result" +
                    of_missing);
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
