// SPDX-License-Identifier: Apache-2.0
#include "core/crashes/crash_store.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/status_macros.h"
#include "core/crashes/crash_json.h"

namespace bulkhead::crashes {
namespace {

constexpr std::string_view kPrefix = "crash-";
constexpr std::string_view kSuffix = ".json";
constexpr size_t kDigits = 9;
// A file with the highest number of all records that were removed by Clear().
constexpr char kCleared[] = "cleared";
constexpr size_t kMaxNames = 4'096;
// Limits the attempts to find a free number, since other processes may take the
// same ones.
constexpr int kMaxTries = 64;

std::string NameOf(uint64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(kPrefix) + std::string(kDigits - digits.size(), '0') +
         digits + std::string(kSuffix);
}

std::optional<uint64_t> ToNumber(std::string_view digits_untrusted) {
  uint64_t number = 0;
  const char* const end = digits_untrusted.data() + digits_untrusted.size();
  const auto read = std::from_chars(digits_untrusted.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end || number == 0 ||
      number > CrashStore::kMaxNumber) {
    return std::nullopt;
  }
  return number;
}

std::optional<uint64_t> NumberOf(std::string_view name_untrusted) {
  if (name_untrusted.size() != kPrefix.size() + kDigits + kSuffix.size()) {
    return std::nullopt;
  }
  const auto number = ToNumber(name_untrusted.substr(kPrefix.size(), kDigits));
  return number && NameOf(*number) == name_untrusted ? number : std::nullopt;
}

// Returns the numbers of the records, ascending.
std::vector<uint64_t> NumbersIn(const StateDirectory& directory) {
  std::vector<uint64_t> numbers;
  for (const std::string& name :
       directory.List(std::string(kPrefix), kMaxNames)) {
    if (const auto number = NumberOf(name)) numbers.push_back(*number);
  }
  return numbers;
}

uint64_t LastCleared(const StateDirectory& directory) {
  const auto text = directory.Read(kCleared, kDigits);
  return text ? ToNumber(*text).value_or(0) : 0;
}

}  // namespace

Result<CrashStore::Directory> CrashStore::Open() const {
  if (!enabled()) {
    return Status(Code::kNotFound, "there is no state directory");
  }
  // A state directory that must not be trusted makes the folder in it
  // untrusted, too.
  ASSIGN_OR_RETURN(const Directory above, Directory::Open(state_directory_));
  return Directory::Open(PathOf(""));
}

Status CrashStore::CheckKeeps() const {
  if (!enabled()) return Status();
  // If the folder does not exist yet, the state directory decides.
  RETURN_IF_ERROR(Directory::CheckKeeps(state_directory_));
  return Directory::CheckKeeps(PathOf(""));
}

std::string CrashStore::PathOf(const std::string& name) const {
  return state_directory_ + "/crashes" + (name.empty() ? "" : "/" + name);
}

Result<uint64_t> CrashStore::Add(Crash crash) const {
  if (!enabled()) {
    return Status(Code::kNotFound, "there is no state directory");
  }
  ASSIGN_OR_RETURN(const Directory above,
                   Directory::OpenOrCreate(state_directory_));
  ASSIGN_OR_RETURN(const Directory directory,
                   Directory::OpenOrCreate(PathOf("")));
  uint64_t last = LastCleared(directory);
  for (int tries = 0; tries < kMaxTries && last < kMaxNumber; ++tries) {
    const std::vector<uint64_t> numbers = NumbersIn(directory);
    if (!numbers.empty()) last = std::max(last, numbers.back());
    if (last >= kMaxNumber) break;
    crash.number = ++last;
    const std::string text = ToText(crash, kMaxBytes);
    if (text.size() > kMaxBytes) break;
    ASSIGN_OR_RETURN(const bool added,
                     directory.AddSoon(NameOf(crash.number), text));
    if (!added) continue;  // Another process has taken the number.
    // There is one record more than in `numbers`. The oldest beyond the limit
    // are removed; another process may have done so already.
    for (size_t n = 0; n + kMaxRecords <= numbers.size(); ++n) {
      (void)directory.Remove(NameOf(numbers[n]));
    }
    return crash.number;
  }
  return Status(Code::kResourceExhausted,
                "no record of a crash can be added to " + PathOf(""));
}

Status CrashStore::SetOutcome(uint64_t number,
                              const std::string& outcome) const {
  ASSIGN_OR_RETURN(const Directory directory, Open());
  ASSIGN_OR_RETURN(Crash crash, ReadFrom(directory, NameOf(number)));
  crash.outcome = outcome;
  return directory.WriteSoon(NameOf(number), ToText(crash, kMaxBytes));
}

Status CrashStore::AddUnrecorded(uint64_t number, uint64_t count) const {
  ASSIGN_OR_RETURN(const Directory directory, Open());
  ASSIGN_OR_RETURN(Crash crash, ReadFrom(directory, NameOf(number)));
  crash.unrecorded += count;
  return directory.WriteSoon(NameOf(number), ToText(crash, kMaxBytes));
}

Result<Crash> CrashStore::ReadFrom(const Directory& directory,
                                   const std::string& name) const {
  ASSIGN_OR_RETURN(const std::string text, directory.Read(name, kMaxBytes));
  auto crash = ParseCrash(text);
  if (crash && NumberOf(name) == crash->number) return crash;
  return Status(Code::kBadInput, PathOf(name) + " is no record of a crash");
}

Result<CrashList> CrashStore::ReadAll() const {
  CrashList list;
  if (const Status kept = CheckKeeps(); !kept.ok()) {
    list.diagnostics.push_back({Diagnostic::Severity::kWarning, PathOf(""), 0,
                                "no record can be kept: " + kept.message()});
  }
  const auto directory = Open();
  if (!directory) {
    if (directory.error().code() == Code::kNotFound) return list;
    return directory.error();
  }
  for (const std::string& name :
       directory->List(std::string(kPrefix), kMaxNames)) {
    auto crash = ReadFrom(*directory, name);
    if (crash) {
      list.crashes.push_back(*std::move(crash));
    } else if (crash.error().code() != Code::kNotFound) {
      list.diagnostics.push_back({Diagnostic::Severity::kWarning, PathOf(name),
                                  0, "it is no record of a crash; remove it"});
    }
  }
  return list;
}

Result<Crash> CrashStore::Read(uint64_t number) const {
  const auto none = [number] {
    return Status(Code::kNotFound,
                  "there is no record of a crash " + std::to_string(number) +
                      "; `bulkhead crashes` lists those there are");
  };
  if (number == 0 || number > kMaxNumber) return none();
  const auto directory = Open();
  auto crash = directory ? ReadFrom(*directory, NameOf(number))
                         : Result<Crash>(directory.error());
  if (!crash && crash.error().code() == Code::kNotFound) return none();
  return crash;
}

Status CrashStore::Clear() const {
  const auto directory = Open();
  if (!directory) {
    return directory.error().code() == Code::kNotFound ? Status()
                                                       : directory.error();
  }
  const std::vector<uint64_t> numbers = NumbersIn(*directory);
  // After the highest possible number, numbers start again from 1.
  if (!numbers.empty() && numbers.back() < kMaxNumber) {
    RETURN_IF_ERROR(directory->Write(kCleared, std::to_string(numbers.back())));
  }
  for (const std::string& name :
       directory->List(std::string(kPrefix), kMaxNames)) {
    RETURN_IF_ERROR(directory->Remove(name));
  }
  return Status();
}

}  // namespace bulkhead::crashes
