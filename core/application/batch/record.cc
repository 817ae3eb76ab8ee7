// SPDX-License-Identifier: Apache-2.0
#include "core/application/batch/record.h"

#include <bulkhead/version.h>
#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <filesystem>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/base/text.h"

namespace bulkhead::batch {
namespace {

using decoding::OrNull;

// Returns the text with \xHH for each byte that is not UTF-8, and for each
// character `escaped`.
std::string Escaped(std::string_view text, std::optional<char> escaped) {
  constexpr size_t kMostBytes = 4;
  std::string result;
  while (!text.empty()) {
    // The shortest prefix that is valid UTF-8 is one character.
    size_t bytes = 1;
    while (bytes <= kMostBytes && !IsValidUtf8(text.substr(0, bytes))) {
      ++bytes;
    }
    if (bytes > kMostBytes || text.front() == escaped) {
      result += fmt::format("\\x{:02x}", static_cast<uint8_t>(text.front()));
      bytes = 1;
    } else {
      result += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return result;
}

// Returns the record as it would be read back. This can differ from `record`,
// since LineOf() replaces bytes that are not UTF-8.
Record AsWritten(const Record& record) { return Record::parse(LineOf(record)); }

constexpr char kRecordSuffix[] = ".json";
constexpr size_t kMostNameBytes = NAME_MAX;

size_t NameBytesOf(const Item& item) {
  return std::filesystem::path(item.output + kRecordSuffix)
      .filename()
      .string()
      .size();
}

std::string RecordOf(const Item& item) {
  // The name with the hash cannot be that of another record, since no output is
  // in .batch.
  const std::string name = NameBytesOf(item) <= kMostNameBytes
                               ? item.output
                               : ".batch/" + Sha256Of(item.output);
  return ".batch/manifest/" + name + kRecordSuffix;
}

std::string PoisonOf(const std::string& sha256) {
  return ".batch/poison/" + sha256 + ".json";
}

// The deepest nesting that is accepted. Our records have less: their damage is
// a list of objects.
constexpr int kDeepest = 16;

bool HasText(const Record& object_untrusted, const char* key) {
  return object_untrusted.contains(key) && object_untrusted[key].is_string();
}

// Returns whether a record has all keys that this library reads, with values of
// the types it expects. Another user of the directory may have written it.
bool IsSound(const Record& record_untrusted) {
  if (!record_untrusted.is_object()) return false;
  for (const char* key : {"input", "bytes", "modified_ns", "sha256", "options",
                          "output", "error", "damage"}) {
    if (!record_untrusted.contains(key)) return false;
  }
  const auto is_count = [&](const char* key) {
    return record_untrusted.contains(key) &&
           record_untrusted[key].is_number_unsigned();
  };
  const bool has_frames =
      record_untrusted.contains("frames") &&
      (record_untrusted["frames"].is_null() || is_count("frames"));
  const Record& sha256 = record_untrusted["sha256"];
  const Record& error = record_untrusted["error"];
  const Record& damage = record_untrusted["damage"];
  const bool has_error =
      error.is_object() && HasText(error, "code") && HasText(error, "message");
  return HasText(record_untrusted, "input") && is_count("restarts") &&
         has_frames && (sha256.is_null() || sha256.is_string()) &&
         (error.is_null() || has_error) && damage.is_array() &&
         std::all_of(damage.begin(), damage.end(), [](const Record& range) {
           return range.is_object() &&
                  (!range.contains("kind") || HasText(range, "kind"));
         });
}

std::optional<Record> ReadRecord(const Directory& directory,
                                 const std::string& relative) {
  const auto text = directory.Read(relative);
  return text ? ParseRecord(*text) : std::nullopt;
}

// Returns whether the user's `device` means the device `name` of `backend`:
// "openreg:1" is one device, and "openreg" means each device of the backend.
// Both may have "BACKEND/" before them.
bool IsDevice(const std::string& name, const std::string& backend,
              std::string device) {
  if (device.starts_with(backend + "/")) device.erase(0, backend.size() + 1);
  return name == device || name.starts_with(device + ":");
}

// Returns the text with the first occurrences of `from` replaced by `to`. Their
// number is bounded, since another user may have written a long text with a
// name of one letter.
std::string Replaced(std::string_view text, std::string_view from,
                     std::string_view to) {
  constexpr int kMostNames = 16;
  std::string result;
  for (int i = 0; i < kMostNames && !from.empty(); ++i) {
    const size_t at = text.find(from);
    if (at == text.npos) break;
    result.append(text.substr(0, at)).append(to);
    text.remove_prefix(at + from.size());
  }
  return result.append(text);
}

}  // namespace

std::string LineOf(const Record& record) {
  return record.dump(-1, ' ', true, Record::error_handler_t::replace) + "\n";
}

std::optional<Record> ParseRecord(const std::string& line_untrusted) {
  // LineOf() recurses as deeply as the record is nested, so a hostile record
  // could overflow the stack.
  bool too_deep = false;
  const auto look = [&](int depth, Record::parse_event_t, Record&) {
    too_deep = too_deep || depth > kDeepest;
    return !too_deep;
  };
  Record record_untrusted = Record::parse(line_untrusted, look, false);
  if (too_deep || !IsSound(record_untrusted)) return std::nullopt;
  return record_untrusted;
}

std::string TextOf(std::string_view path) { return Escaped(path, '\\'); }

Result<Record> MakersForRecords(Host& host, const std::string& device) {
  const Result<BackendReport> report = host.Backends();
  if (!report) return report.error();
  for (const BackendInfo& backend : report->backends) {
    for (const DeviceInfo& info : backend.devices) {
      if (!IsDevice(info.name, backend.name, device)) continue;
      return Record{{"versions",
                     {{"bulkhead", LibraryVersion()},
                      {"backend", backend.distribution + " " + backend.version},
                      {"device", info.description}}},
                    {"sandbox_tier", SandboxTierName(backend.tier)}};
    }
  }
  return Status(Code::kNotFound, "there is no device " + device);
}

Record MakeRecord(const Item& item, const std::string& path,
                  const FileStamp& stamp,
                  const std::optional<std::string>& sha256,
                  const Recipe& recipe, const decoding::Outcome& outcome,
                  const std::optional<uint64_t>& output_bytes) {
  Record record{{"input", TextOf(item.input)},
                {"bytes", OrNull(stamp.bytes)},
                {"modified_ns", OrNull(stamp.modified_ns)},
                {"sha256", OrNull(sha256)},
                {"options", recipe.options}};
  record.update(recipe.makers);
  const bool has_output = outcome.status.ok() && recipe.has_output;
  record["output"] = has_output ? Record(TextOf(item.output)) : Record();
  record["output_bytes"] = OrNull(output_bytes);
  record["error"] = nullptr;
  if (!outcome.status.ok()) {
    record["error"] = {
        {"code", CodeName(outcome.status.code())},
        {"message", Replaced(Escaped(outcome.status.message(), std::nullopt),
                             Escaped(path, std::nullopt), TextOf(item.input))}};
  }
  record["frames"] = OrNull(outcome.frames);
  record["frame_count"] = OrNull(outcome.frame_count);
  record["frame_count_from_header"] = OrNull(outcome.frame_count_from_header);
  record["damage"] = Record::array();
  for (const DamagedRange& range : outcome.damage) {
    record["damage"].push_back(decoding::FactsOf(range));
  }
  for (const DamagedSamples& samples : outcome.damaged_samples) {
    record["damage"].push_back(decoding::FactsOf(samples));
  }
  record["restarts"] = outcome.recovery.restarts;
  record["failover"] = decoding::FactsOf(outcome.recovery.failover);
  return AsWritten(record);
}

Status CheckNames(const Item& item, const std::string& suffix) {
  const size_t bytes = NameBytesOf(item);
  if (bytes <= kMostNameBytes) return Status();
  const std::string added = "." + suffix + kRecordSuffix;
  return Status(
      Code::kBadInput,
      fmt::format("{}: its name is too long: with {}, which its record adds, "
                  "it has {} bytes, and a name can have {}; rename the file, "
                  "to {} bytes at most",
                  item.input, added, bytes, kMostNameBytes,
                  kMostNameBytes - added.size()));
}

Code CodeNamed(std::string_view name) {
  for (uint16_t i = 0; i <= static_cast<uint16_t>(Code::kCancelled); ++i) {
    const Code code = static_cast<Code>(i);
    if (name == CodeName(code)) return code;
  }
  return Code::kInternal;
}

Code CodeOf(const Record& record) {
  const Record& error = record.at("error");
  if (error.is_null()) return Code::kOk;
  return CodeNamed(error.is_object() ? error.value("code", "") : "");
}

std::optional<Record> Records::Find(const Item& item,
                                    const FileStamp& stamp) const {
  std::optional<Record> record = ReadRecord(directory_, RecordOf(item));
  if (!record || !stamp.bytes || (*record)["sha256"].is_null()) {
    return std::nullopt;
  }
  const Record wanted{{"input", TextOf(item.input)},
                      {"bytes", OrNull(stamp.bytes)},
                      {"modified_ns", OrNull(stamp.modified_ns)},
                      {"options", options_}};
  const Record written = AsWritten(wanted);
  for (const auto& [key, value] : written.items()) {
    if ((*record)[key] != value) return std::nullopt;
  }
  if (!(*record)["output"].is_null()) {
    const auto bytes = directory_.SizeOf(item.output);
    if (!bytes) return std::nullopt;
    const Record then = record->value("output_bytes", Record());
    if (!then.is_null() && then != *bytes) return std::nullopt;
  }
  return record;
}

bool Records::Has(const Item& item) const {
  return directory_.Has(RecordOf(item));
}

void Records::Remove(const Item& item) const {
  directory_.Remove(RecordOf(item));
}

Status Records::Write(const Item& item, const Record& record,
                      const std::string& writer) const {
  return directory_.Write("record-" + writer, RecordOf(item), LineOf(record));
}

std::optional<Record> Records::FindPoison(const Item& item,
                                          const FileStamp& stamp,
                                          const std::string& sha256) const {
  auto record = ReadRecord(directory_, PoisonOf(sha256));
  if (!record || (*record)["options"] != options_) return std::nullopt;
  if (CodeOf(*record) != Code::kPoisonedInput) return std::nullopt;
  const std::string input = TextOf(item.input);
  (*record)["error"]["message"] =
      Replaced((*record)["error"].value("message", ""),
               (*record)["input"].get<std::string>(), input);
  (*record)["input"] = input;
  (*record)["bytes"] = OrNull(stamp.bytes);
  (*record)["modified_ns"] = OrNull(stamp.modified_ns);
  (*record)["restarts"] = 0;  // It was not decoded.
  return record;
}

Result<bool> Records::WritePoison(const Record& record,
                                  const std::string& writer) const {
  const std::string sha256 = record.at("sha256").get<std::string>();
  // A record for other options says nothing about these options, so it is
  // replaced.
  const auto known = ReadRecord(directory_, PoisonOf(sha256));
  if (known && (*known)["options"] != options_) {
    directory_.Remove(PoisonOf(sha256));
  }
  return directory_.WriteNew("poison-" + writer, PoisonOf(sha256),
                             LineOf(record));
}

}  // namespace bulkhead::batch
