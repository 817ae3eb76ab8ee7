// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/decode/decode_outcome.h"

#include <bulkhead/damage.h>
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/application/decoding/outcome.h"
#include "core/crashes/crash_json.h"
#include "tools/cli/decode/damage_words.h"
#include "tools/cli/facts.h"
#include "tools/cli/terminal.h"

namespace bulkhead::cli::decode {
namespace {

using Json = nlohmann::ordered_json;
using decoding::OrNull;

}  // namespace

std::string DescribeWork(const decoding::Outcome& outcome, bool audio) {
  if (audio) return fmt::format("audio in {:.2f} s", outcome.seconds);
  const uint64_t frames = outcome.frames.value_or(0);
  return fmt::format(
      "{} frames in {:.2f} s, {:.0f} frames/s", frames, outcome.seconds,
      outcome.seconds > 0 ? static_cast<double>(frames) / outcome.seconds : 0);
}

void SayRecoveries(const decoding::Job& job, const RecoveryStats& recovery) {
  if (recovery.failover) {
    Say((job.several ? job.file + ": " : "") + recovery.failover->text);
  }
  if (recovery.restarts == 0) return;
  Say(fmt::format("{}the worker was replaced {} time{}; last cause: {}",
                  job.several ? job.file + ": " : "", recovery.restarts,
                  recovery.restarts == 1 ? "" : "s", recovery.last_cause));
}

void SayDamage(const decoding::Job& job, const decoding::Outcome& outcome) {
  const std::string file = job.several ? job.file + ": " : "";
  const bool skipped = job.video.on_corrupt == OnCorrupt::kSkip;
  for (const DamagedRange& range : outcome.damage) {
    if (range.kind == DamageKind::kNote) continue;
    Say(file + DescribeDamage(range) + (skipped ? "; left out" : ""));
  }
  for (const DamagedSamples& damage : outcome.damaged_samples) {
    if (damage.kind == DamageKind::kNote) continue;
    Say(file + DescribeDamage(damage) + (skipped ? "; silence" : ""));
  }
  if (!outcome.lacks_frames) return;
  Say(fmt::format(
      "{}: the stream has {} frames, but the header counts {}: the file has "
      "lost some; get the whole one",
      job.file, *outcome.frame_count, *outcome.frame_count_from_header));
}

void SayNotes(const decoding::Job& job, const decoding::Outcome& outcome) {
  for (const auto& lines : {NotesIn(job.file, outcome.damage),
                            NotesIn(job.file, outcome.damaged_samples)}) {
    for (const std::string& line : lines) Say(line);
  }
}

Json FactsOf(const decoding::Job& job, const decoding::Outcome& outcome) {
  const Json error =
      outcome.status.ok() ? Json() : cli::FactsOf(outcome.status);
  Json damage = Json::array();
  for (const DamagedRange& range : outcome.damage) {
    damage.push_back(decoding::FactsOf(range));
  }
  for (const DamagedSamples& samples : outcome.damaged_samples) {
    damage.push_back(decoding::FactsOf(samples));
  }
  return Json{
      {"file", job.file},
      {"error", error},
      {"frames", job.audio ? Json() : Json(outcome.frames.value_or(0))},
      {"frame_count", OrNull(outcome.frame_count)},
      {"frame_count_from_header", OrNull(outcome.frame_count_from_header)},
      {"on_corrupt", crashes::NameOf(job.video.on_corrupt)},
      {"damage", damage},
      {"seconds", outcome.seconds},
      {"restarts", outcome.recovery.restarts},
      {"last_cause", outcome.recovery.last_cause},
      {"failover", decoding::FactsOf(outcome.recovery.failover)},
  };
}

}  // namespace bulkhead::cli::decode
