// SPDX-License-Identifier: Apache-2.0
#include "tests/chaos/fault.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <sstream>
#include <string_view>

namespace bulkhead::tests {
namespace {

template <typename Value>
struct Name {
  const char* name;
  Value value;
};

constexpr Name<Step> kSteps[] = {
    {"load", Step::kLoad},       {"probe", Step::kProbe},
    {"open", Step::kOpen},       {"packet", Step::kPacket},
    {"picture", Step::kPicture}, {"flush", Step::kFlush},
    {"end", Step::kEnd},         {"close", Step::kClose},
};

constexpr Name<Deed> kDeeds[] = {
    {"segfault", Deed::kSegfault},
    {"abort", Deed::kAbort},
    {"terminate", Deed::kTerminate},
    {"exit", Deed::kExit},
    {"hang", Deed::kHang},
    {"spin", Deed::kSpin},
    {"stop", Deed::kStop},
    {"slow", Deed::kSlow},
    {"throw", Deed::kThrow},
    {"take_memory", Deed::kTakeMemory},
    {"hoard", Deed::kHoard},
    {"crowd", Deed::kCrowd},
    {"need", Deed::kNeed},
    {"need_or_abort", Deed::kNeedOrAbort},
    {"hide_memory", Deed::kHideMemory},
    {"take_descriptors", Deed::kTakeDescriptors},
    {"leak", Deed::kLeak},
    {"reserve", Deed::kReserve},
    {"reserve_later", Deed::kReserveLater},
    {"fill", Deed::kFill},
    {"say", Deed::kSay},
    {"error", Deed::kError},
    {"null", Deed::kNull},
    {"none", Deed::kNone},
    {"many", Deed::kMany},
    {"stranger", Deed::kStranger},
    {"nameless", Deed::kNameless},
    {"twice", Deed::kTwice},
    {"pts", Deed::kPts},
    {"no_pts", Deed::kNoPts},
    {"no_format", Deed::kNoFormat},
    {"unknown_format", Deed::kUnknownFormat},
    {"empty", Deed::kEmpty},
    {"huge", Deed::kHuge},
    {"other", Deed::kOther},
    {"narrow", Deed::kNarrow},
    {"flip", Deed::kFlip},
    {"stray", Deed::kStray},
};

template <typename Value, size_t kCount>
bool Find(const Name<Value> (&names)[kCount], std::string_view name,
          Value* value) {
  const auto found =
      std::find_if(std::begin(names), std::end(names),
                   [&](const auto& n) { return n.name == name; });
  if (found == std::end(names)) return false;
  *value = found->value;
  return true;
}

template <typename Number>
bool ParseNumber(std::string_view text, Number* number) {
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

// Splits "NAME" or "NAME:NUMBER".
bool Split(std::string_view text, std::string_view* name,
           std::optional<int64_t>* number) {
  const size_t colon = text.find(':');
  *name = text.substr(0, colon);
  if (colon == std::string_view::npos) return true;
  number->emplace();
  return ParseNumber(text.substr(colon + 1), &**number);
}

// Parses "1,3-5".
bool ParseRanges(std::string_view text, std::vector<Fault::Range>* ranges) {
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(','));
    text.remove_prefix(std::min(item.size() + 1, text.size()));
    const size_t dash = item.find('-');
    Fault::Range range;
    if (!ParseNumber(item.substr(0, dash), &range.first)) return false;
    range.second = range.first;
    if (dash != std::string_view::npos &&
        !ParseNumber(item.substr(dash + 1), &range.second)) {
      return false;
    }
    ranges->push_back(range);
  }
  return !ranges->empty();
}

bool ParseWord(std::string_view word, Fault* fault) {
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos) return false;
  const std::string_view key = word.substr(0, equals);
  const std::string_view value = word.substr(equals + 1);
  std::string_view name;
  if (key == "at") {
    return Split(value, &name, &fault->number) &&
           Find(kSteps, name, &fault->at);
  }
  if (key == "do") {
    std::optional<int64_t> argument;
    if (!Split(value, &name, &argument)) return false;
    fault->argument = argument.value_or(0);
    return Find(kDeeds, name, &fault->deed);
  }
  if (key == "lives") return ParseRanges(value, &fault->lives);
  if (key == "workers") return ParseRanges(value, &fault->workers);
  if (key == "chance") return ParseNumber(value, &fault->chance);
  if (key == "seed") return ParseNumber(value, &fault->seed);
  return false;
}

bool IsIn(const std::vector<Fault::Range>& ranges, uint64_t number) {
  return ranges.empty() ||
         std::any_of(ranges.begin(), ranges.end(), [&](const auto& range) {
           return range.first <= number && number <= range.second;
         });
}

// The finaliser of splitmix64: each bit of the result depends on each bit of
// the number.
uint64_t Mix(uint64_t number) {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

bool IsDrawn(const Fault& fault, const Life& life, uint64_t count) {
  if (fault.chance >= 1) return true;
  const uint64_t drawn = Mix(Mix(Mix(fault.seed) ^ life.of_stream) ^ count);
  return static_cast<double>(drawn >> 11) * 0x1p-53 < fault.chance;
}

}  // namespace

tl::expected<std::vector<Fault>, std::string> ParseFaults(
    const std::string& script) {
  std::vector<Fault> faults;
  std::istringstream lines(script);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find('#')));
    Fault fault;
    bool any = false;
    for (std::string word; words >> word; any = true) {
      if (!ParseWord(word, &fault)) {
        return tl::unexpected("no word of a fault: " + word + " in: " + line);
      }
    }
    if (any) faults.push_back(std::move(fault));
  }
  return faults;
}

const Fault* FindFault(const std::vector<Fault>& faults, const Life& life,
                       Step step, uint64_t count, int64_t number) {
  for (const Fault& fault : faults) {
    if (fault.at == step && (!fault.number || *fault.number == number) &&
        IsIn(fault.lives, life.of_stream) && IsIn(fault.workers, life.worker) &&
        IsDrawn(fault, life, count)) {
      return &fault;
    }
  }
  return nullptr;
}

}  // namespace bulkhead::tests
