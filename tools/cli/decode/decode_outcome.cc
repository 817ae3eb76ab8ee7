// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/decode/decode_outcome.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "tools/cli/terminal.h"

namespace bulkhead::cli {
namespace {

using Json = nlohmann::ordered_json;

template <typename Value>
Json OrNull(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

Json WordsOrNull(const std::string& words) {
  return words.empty() ? Json() : Json(words);
}

const char* NameOf(OnCorrupt on_corrupt) {
  switch (on_corrupt) {
    case OnCorrupt::kError:
      return "error";
    case OnCorrupt::kSkip:
      return "skip";
    case OnCorrupt::kNearest:
      return "nearest";
    case OnCorrupt::kShow:
      return "show";
  }
  return "";
}

std::string WordsOf(const std::string& backend_says) {
  if (backend_says.empty()) return "";
  return fmt::format("; the backend says: \"{}\"", backend_says);
}

std::string Describe(const DamagedRange& range) {
  std::string text = fmt::format("{} packets yielded no frame", range.frames);
  if (range.first_frame) {
    text = fmt::format("frames {} to {} are damaged, {:.3f} s to {:.3f} s",
                       *range.first_frame, *range.last_frame,
                       range.begin_seconds, range.end_seconds);
  }
  if (range.first_byte) {
    text += fmt::format(", bytes from {} to {}", *range.first_byte,
                        *range.last_byte);
  }
  return text + WordsOf(range.backend_says);
}

std::string Describe(const DamagedSamples& damage) {
  std::string text =
      fmt::format("samples {} to {} are damaged, {:.3f} s to {:.3f} s",
                  damage.first_sample, damage.first_sample + damage.samples - 1,
                  damage.begin_seconds, damage.end_seconds);
  if (damage.first_byte) {
    text += fmt::format(", bytes from {} to {}", *damage.first_byte,
                        damage.last_byte.value_or(*damage.first_byte));
  }
  if (damage.estimated) text += "; their number is an estimate";
  return text + WordsOf(damage.backend_says);
}

bool HasFewerThanHeader(const FileOutcome& outcome) {
  return outcome.frame_count && outcome.frame_count_from_header &&
         *outcome.frame_count < *outcome.frame_count_from_header;
}

Json FactsOf(const DamagedRange& range) {
  const bool placed = range.first_frame.has_value();
  return Json{
      {"frames", range.frames},
      {"first_frame", OrNull(range.first_frame)},
      {"last_frame", OrNull(range.last_frame)},
      {"begin_seconds", placed ? Json(range.begin_seconds) : Json()},
      {"end_seconds", placed ? Json(range.end_seconds) : Json()},
      {"first_byte", OrNull(range.first_byte)},
      {"last_byte", OrNull(range.last_byte)},
      {"backend_says", WordsOrNull(range.backend_says)},
  };
}

Json FactsOf(const DamagedSamples& damage) {
  return Json{
      {"samples", damage.samples},
      {"first_sample", damage.first_sample},
      {"begin_seconds", damage.begin_seconds},
      {"end_seconds", damage.end_seconds},
      {"first_byte", OrNull(damage.first_byte)},
      {"last_byte", OrNull(damage.last_byte)},
      {"backend_says", WordsOrNull(damage.backend_says)},
      {"estimated", damage.estimated},
  };
}

}  // namespace

std::string DescribeWork(const FileOutcome& outcome, bool audio) {
  if (audio) return fmt::format("audio in {:.2f} s", outcome.seconds);
  return fmt::format("{} frames in {:.2f} s, {:.0f} frames/s", outcome.frames,
                     outcome.seconds,
                     outcome.seconds > 0
                         ? static_cast<double>(outcome.frames) / outcome.seconds
                         : 0);
}

void SayRecoveries(const DecodeJob& job, const RecoveryStats& recovery) {
  if (recovery.restarts == 0) return;
  Say(fmt::format("{}the worker was replaced {} time{}; last cause: {}",
                  job.several ? job.file + ": " : "", recovery.restarts,
                  recovery.restarts == 1 ? "" : "s", recovery.last_cause));
}

void SayDamage(const DecodeJob& job, const FileOutcome& outcome) {
  const std::string file = job.several ? job.file + ": " : "";
  const bool skipped = job.video.on_corrupt == OnCorrupt::kSkip;
  for (const DamagedRange& range : outcome.damage) {
    Say(file + Describe(range) + (skipped ? "; left out" : ""));
  }
  for (const DamagedSamples& damage : outcome.damaged_samples) {
    Say(file + Describe(damage) + (skipped ? "; silence" : ""));
  }
  if (!HasFewerThanHeader(outcome)) return;
  Say(fmt::format(
      "{}the stream has {} frames, but the header tells of {}: the "
      "file is cut off, or contains frames that are not to be shown",
      file, *outcome.frame_count, *outcome.frame_count_from_header));
}

Json FactsOf(const DecodeJob& job, const FileOutcome& outcome) {
  Json error;
  if (!outcome.status.ok()) {
    error = {{"code", CodeName(outcome.status.code())},
             {"message", outcome.status.message()}};
  }
  Json damage = Json::array();
  for (const DamagedRange& range : outcome.damage) {
    damage.push_back(FactsOf(range));
  }
  for (const DamagedSamples& samples : outcome.damaged_samples) {
    damage.push_back(FactsOf(samples));
  }
  return Json{
      {"file", job.file},
      {"error", error},
      {"frames", job.audio ? Json() : Json(outcome.frames)},
      {"frame_count", OrNull(outcome.frame_count)},
      {"frame_count_from_header", OrNull(outcome.frame_count_from_header)},
      {"on_corrupt", NameOf(job.video.on_corrupt)},
      {"damage", damage},
      {"seconds", outcome.seconds},
      {"restarts", outcome.recovery.restarts},
      {"last_cause", outcome.recovery.last_cause},
  };
}

}  // namespace bulkhead::cli
