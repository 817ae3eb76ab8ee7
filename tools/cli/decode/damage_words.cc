// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/decode/damage_words.h"

#include <bulkhead/damage.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace bulkhead::cli::decode {
namespace {

std::string DescribeBytes(const std::optional<int64_t>& first,
                          const std::optional<int64_t>& last) {
  if (!first) return "";
  if (last.value_or(*first) == *first) return fmt::format(", byte {}", *first);
  return fmt::format(", bytes from {} to {}", *first, *last);
}

std::string DescribeNumbers(const char* what, uint64_t first, uint64_t last) {
  return first == last
             ? fmt::format("{} {} is damaged", what, first)
             : fmt::format("{}s {} to {} are damaged", what, first, last);
}

// Returns the cause of damage: the sign that showed it, and the message of the
// library or backend about it. For `several` frames, it is the cause of the
// first.
std::string DescribeCause(DamageSign sign, bool several,
                          const std::string& says) {
  std::string text =
      fmt::format("{}{}", several ? ": first, " : ": ", DamageSignText(sign));
  if (says.empty()) return text;
  const char* const who =
      sign == DamageSign::kStopped ? "libavformat" : "the backend";
  return text + fmt::format("; {} says: \"{}\"", who, says);
}

template <typename Damage>
std::vector<std::string> NotesOf(std::string file,
                                 const std::vector<Damage>& damage) {
  // A line feed in the name of the file must not break a note into two lines.
  std::replace(file.begin(), file.end(), '\n', '?');
  std::vector<std::string> lines;
  size_t more = 0;
  for (const Damage& note : damage) {
    if (note.kind != DamageKind::kNote) continue;
    if (lines.size() == kMostNotes) {
      ++more;
      continue;
    }
    const std::optional<double> seconds = note.begin_seconds;
    lines.push_back(
        fmt::format("{}: note: {}{}{}", file, DamageSignText(note.sign),
                    seconds ? fmt::format(", {:.3f} s", *seconds) : "",
                    DescribeBytes(note.first_byte, note.last_byte)));
  }
  if (more > 0) {
    lines.push_back(fmt::format("{}: {} more note{}; --json lists {}", file,
                                more, more == 1 ? "" : "s",
                                more == 1 ? "it" : "them"));
  }
  return lines;
}

}  // namespace

std::string DescribeDamage(const DamagedRange& range) {
  // The first two texts are for frames without numbers.
  std::string text = fmt::format("{} packet{} yielded no frame", range.frames,
                                 range.frames == 1 ? "" : "s");
  if (range.not_in_index) {
    text = fmt::format("about {} frame{} missing at the end, not in the index",
                       range.frames, range.frames == 1 ? " is" : "s are");
  }
  if (range.first_frame) {
    text = DescribeNumbers("frame", *range.first_frame, *range.last_frame);
  }
  if (range.begin_seconds && range.end_seconds) {
    text += fmt::format(", {:.3f} s to {:.3f} s", *range.begin_seconds,
                        *range.end_seconds);
  }
  return text + DescribeBytes(range.first_byte, range.last_byte) +
         DescribeCause(range.sign, range.first_frame != range.last_frame,
                       range.backend_says);
}

std::string DescribeDamage(const DamagedSamples& damage) {
  return fmt::format("{}, {:.3f} s to {:.3f} s",
                     DescribeNumbers("sample", damage.first_sample,
                                     damage.first_sample + damage.samples - 1),
                     damage.begin_seconds, damage.end_seconds) +
         DescribeBytes(damage.first_byte, damage.last_byte) +
         DescribeCause(damage.sign, damage.first_byte != damage.last_byte,
                       damage.backend_says) +
         (damage.estimated ? "; their number is an estimate" : "");
}

std::vector<std::string> NotesIn(const std::string& file,
                                 const std::vector<DamagedRange>& damage) {
  return NotesOf(file, damage);
}

std::vector<std::string> NotesIn(const std::string& file,
                                 const std::vector<DamagedSamples>& damage) {
  return NotesOf(file, damage);
}

}  // namespace bulkhead::cli::decode
