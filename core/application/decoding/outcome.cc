// SPDX-License-Identifier: Apache-2.0
#include "core/application/decoding/outcome.h"

#include <string>

namespace bulkhead::decoding {
namespace {

using Json = nlohmann::ordered_json;

Json WordsOrNull(const std::string& words) {
  return words.empty() ? Json() : Json(words);
}

}  // namespace

Json FactsOf(const DamagedRange& range) {
  return Json{
      {"kind", DamageKindName(range.kind)},
      {"sign", DamageSignName(range.sign)},
      {"frames", range.frames},
      {"first_frame", OrNull(range.first_frame)},
      {"last_frame", OrNull(range.last_frame)},
      {"begin_seconds", OrNull(range.begin_seconds)},
      {"end_seconds", OrNull(range.end_seconds)},
      {"first_byte", OrNull(range.first_byte)},
      {"last_byte", OrNull(range.last_byte)},
      {"backend_says", WordsOrNull(range.backend_says)},
      {"not_in_index", range.not_in_index},
  };
}

Json FactsOf(const std::optional<Failover>& failover) {
  if (!failover) return Json();
  static constexpr const char* kProofs[] = {"nothing_before", "same",
                                            "different", "none"};
  return Json{
      {"from", failover->from},
      {"to", failover->to},
      {"frame", failover->frame},
      {"proof", kProofs[static_cast<size_t>(failover->proof)]},
      {"compared", failover->compared},
      {"cause", Json{{"code", CodeName(failover->cause.code())},
                     {"message", failover->cause.message()}}},
  };
}

Json FactsOf(const DamagedSamples& damage) {
  return Json{
      {"kind", DamageKindName(damage.kind)},
      {"sign", DamageSignName(damage.sign)},
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

}  // namespace bulkhead::decoding
