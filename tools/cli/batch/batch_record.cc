// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/batch/batch_record.h"

#include <bulkhead/version.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <filesystem>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/base/text.h"
#include "tools/cli/decode/decode_outcome.h"
#include "tools/cli/facts.h"

namespace bulkhead::cli {
namespace {

template <typename Value>
BatchRecord OrNull(const std::optional<Value>& value) {
  return value ? BatchRecord(*value) : BatchRecord();
}

std::string Line(const BatchRecord& record) {
  return record.dump(-1, ' ', true, BatchRecord::error_handler_t::replace) +
         "\n";
}

// Returns the text with \xHH for each byte that is not UTF-8, or is `escaped`.
std::string Escaped(std::string_view text, std::optional<char> escaped) {
  constexpr size_t kMostBytes = 4;
  std::string result;
  while (!text.empty()) {
    // The shortest valid beginning is one character.
    size_t bytes = 1;
    while (bytes <= kMostBytes &&
           !discovery::IsValidUtf8(text.substr(0, bytes))) {
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

// Returns the record as it is read back: bytes that are not UTF-8 are replaced.
BatchRecord AsWritten(const BatchRecord& record) {
  return BatchRecord::parse(Line(record));
}

constexpr char kRecordSuffix[] = ".json";
constexpr size_t kMostNameBytes = NAME_MAX;

size_t NameBytesOf(const BatchItem& item) {
  return std::filesystem::path(item.output + kRecordSuffix)
      .filename()
      .string()
      .size();
}

std::string RecordOf(const BatchItem& item) {
  // No output has a name below .batch.
  const std::string name = NameBytesOf(item) <= kMostNameBytes
                               ? item.output
                               : ".batch/" + Sha256Of(item.output);
  return ".batch/manifest/" + name + kRecordSuffix;
}

std::string PoisonOf(const std::string& sha256) {
  return ".batch/poison/" + sha256 + ".json";
}

bool HasText(const BatchRecord& object_untrusted, const char* key) {
  return object_untrusted.contains(key) && object_untrusted[key].is_string();
}

// Returns whether a record has what is read of records, of the kinds that it is
// read as. Whoever shares the directory may have written it.
bool IsSound(const BatchRecord& record_untrusted) {
  if (!record_untrusted.is_object()) return false;
  for (const char* key : {"input", "bytes", "modified_ns", "sha256", "options",
                          "output", "error", "damage"}) {
    if (!record_untrusted.contains(key)) return false;
  }
  const BatchRecord& sha256 = record_untrusted["sha256"];
  const BatchRecord& error = record_untrusted["error"];
  const BatchRecord& damage = record_untrusted["damage"];
  const bool has_error =
      error.is_object() && HasText(error, "code") && HasText(error, "message");
  return HasText(record_untrusted, "input") &&
         (sha256.is_null() || sha256.is_string()) &&
         (error.is_null() || has_error) && damage.is_array() &&
         std::all_of(
             damage.begin(), damage.end(), [](const BatchRecord& range) {
               return range.is_object() &&
                      (!range.contains("kind") || HasText(range, "kind"));
             });
}

std::optional<BatchRecord> ReadRecord(const BatchDirectory& directory,
                                      const std::string& relative) {
  const auto text = directory.Read(relative);
  if (!text) return std::nullopt;
  BatchRecord record = BatchRecord::parse(*text, nullptr, false);
  if (!IsSound(record)) return std::nullopt;
  return record;
}

// Returns true if `name` is the device that the user calls `device`, or the
// first of its devices.
bool IsDevice(const std::string& name, const std::string& backend,
              std::string device) {
  if (device.starts_with(backend + "/")) device.erase(0, backend.size() + 1);
  return name == device || name.starts_with(device + ":");
}

const char* NameOf(OnCorrupt on_corrupt) {
  static constexpr std::array kNames = {"error", "skip", "nearest", "show"};
  return kNames.at(static_cast<size_t>(on_corrupt));
}

void Replace(std::string& text, const std::string& from,
             const std::string& to) {
  if (from.empty()) return;
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;
       at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

}  // namespace

std::string TextOf(std::string_view path) { return Escaped(path, '\\'); }

BatchRecord OptionsForRecords(const DecodeOptions& options,
                              const GlobalOptions& global,
                              const std::string& format) {
  BatchRecord record{
      {"format", format},
      {"device", options.video.device.empty() ? "cpu" : options.video.device},
      {"on_corrupt", NameOf(options.video.on_corrupt)}};
  for (const auto& [name, value] :
       {std::pair{"on_failure", &options.video.on_failure},
        {"frames", &options.frames},
        {"at", &options.at},
        {"times", &options.times},
        {"fps", &options.fps},
        {"dtype", &options.dtype},
        {"pixel_format", &options.pixel_format},
        {"allow", &global.allow}}) {
    if (!value->empty()) record[name] = *value;
  }
  for (const auto& [name, values] :
       {std::pair{"transforms", &options.transform_words},
        {"options", &options.backend_options},
        {"allow_containers", &global.allow_containers},
        {"allow_codecs", &global.allow_codecs}}) {
    if (!values->empty()) record[name] = *values;
  }
  for (const auto& [name, value] :
       {std::pair{"stream", &options.video.stream_index},
        {"sample_rate", &options.sample_rate},
        {"channels", &options.channels}}) {
    if (*value) record[name] = **value;
  }
  for (const auto& [name, value] :
       {std::pair{"best_stream",
                  options.video.stream_choice == StreamChoice::kBest},
        {"audio", options.audio},
        {"no_autoscale", !options.video.autoscale}}) {
    if (value) record[name] = true;
  }
  if (options.video.threads != 1) record["threads"] = options.video.threads;
  return AsWritten(record);
}

Result<BatchRecord> MakersForRecords(Host& host, const std::string& device) {
  const Result<BackendReport> report = host.Backends();
  if (!report) return report.error();
  for (const BackendInfo& backend : report->backends) {
    for (const DeviceInfo& info : backend.devices) {
      if (!IsDevice(info.name, backend.name, device)) continue;
      return BatchRecord{
          {"versions",
           {{"bulkhead", LibraryVersion()},
            {"backend", backend.distribution + " " + backend.version},
            {"device", info.description}}},
          {"sandbox_tier", SandboxTierName(backend.tier)}};
    }
  }
  return Status(Code::kNotFound, "there is no device " + device);
}

BatchRecord MakeRecord(const BatchItem& item, const FileStamp& stamp,
                       const std::optional<std::string>& sha256,
                       const BatchRecord& options, const BatchRecord& makers,
                       const DecodeJob& job, const FileOutcome& outcome,
                       const std::optional<uint64_t>& output_bytes) {
  BatchRecord record{{"input", TextOf(item.input)},
                     {"bytes", OrNull(stamp.bytes)},
                     {"modified_ns", OrNull(stamp.modified_ns)},
                     {"sha256", OrNull(sha256)},
                     {"options", options}};
  record.update(makers);
  const bool has_output = outcome.status.ok() && job.format != "null";
  record["output"] =
      has_output ? BatchRecord(TextOf(item.output)) : BatchRecord();
  record["output_bytes"] = OrNull(output_bytes);
  const BatchRecord facts = FactsOf(job, outcome);
  for (const char* key :
       {"error", "frames", "frame_count", "frame_count_from_header", "damage",
        "restarts", "failover"}) {
    record[key] = facts.at(key);
  }
  if (!outcome.status.ok()) {
    std::string message = outcome.status.message();
    Replace(message, item.input, TextOf(item.input));
    record["error"]["message"] = Escaped(message, std::nullopt);
  }
  return AsWritten(record);
}

Status CheckNames(const BatchItem& item, const std::string& suffix) {
  const size_t bytes = NameBytesOf(item);
  if (bytes <= kMostNameBytes) return Status();
  const std::string added = "." + suffix + kRecordSuffix;
  return Status(
      Code::kBadInput,
      fmt::format(
          "{}: its name is too long: with {}, which its record adds, it "
          "has {} bytes, and a name can have {}; rename the file, to {} "
          "bytes at most",
          item.input, added, bytes, kMostNameBytes,
          kMostNameBytes - added.size()));
}

Code CodeOf(const BatchRecord& record) {
  const BatchRecord& error = record.at("error");
  if (error.is_null()) return Code::kOk;
  for (uint16_t i = 0; i <= static_cast<uint16_t>(Code::kCancelled); ++i) {
    const Code code = static_cast<Code>(i);
    if (error.is_object() && error.value("code", "") == CodeName(code)) {
      return code;
    }
  }
  return Code::kInternal;
}

std::optional<BatchRecord> BatchRecords::Find(const BatchItem& item,
                                              const FileStamp& stamp) const {
  std::optional<BatchRecord> record = ReadRecord(directory_, RecordOf(item));
  if (!record || !stamp.bytes || (*record)["sha256"].is_null()) {
    return std::nullopt;
  }
  const BatchRecord wanted{{"input", TextOf(item.input)},
                           {"bytes", OrNull(stamp.bytes)},
                           {"modified_ns", OrNull(stamp.modified_ns)},
                           {"options", options_}};
  const BatchRecord written = AsWritten(wanted);
  for (const auto& [key, value] : written.items()) {
    if ((*record)[key] != value) return std::nullopt;
  }
  if (!(*record)["output"].is_null()) {
    const auto bytes = directory_.SizeOf(item.output);
    if (!bytes) return std::nullopt;
    const BatchRecord then = record->value("output_bytes", BatchRecord());
    if (!then.is_null() && then != *bytes) return std::nullopt;
  }
  return record;
}

bool BatchRecords::Has(const BatchItem& item) const {
  return directory_.Has(RecordOf(item));
}

void BatchRecords::Remove(const BatchItem& item) const {
  directory_.Remove(RecordOf(item));
}

Status BatchRecords::Write(const BatchItem& item, const BatchRecord& record,
                           const std::string& writer) const {
  return directory_.Write("record-" + writer, RecordOf(item), Line(record));
}

std::optional<BatchRecord> BatchRecords::FindPoison(
    const BatchItem& item, const FileStamp& stamp,
    const std::string& sha256) const {
  auto record = ReadRecord(directory_, PoisonOf(sha256));
  if (!record || (*record)["options"] != options_) return std::nullopt;
  if (CodeOf(*record) != Code::kPoisonedInput) return std::nullopt;
  const std::string input = TextOf(item.input);
  std::string message = (*record)["error"].value("message", "");
  Replace(message, (*record)["input"].get<std::string>(), input);
  (*record)["error"]["message"] = message;
  (*record)["input"] = input;
  (*record)["bytes"] = OrNull(stamp.bytes);
  (*record)["modified_ns"] = OrNull(stamp.modified_ns);
  (*record)["restarts"] = 0;  // It was not decoded.
  return record;
}

Result<bool> BatchRecords::WritePoison(const BatchRecord& record,
                                       const std::string& writer) const {
  const std::string sha256 = record.at("sha256").get<std::string>();
  // What was poison with other options says nothing of these.
  const auto known = ReadRecord(directory_, PoisonOf(sha256));
  if (known && (*known)["options"] != options_) {
    directory_.Remove(PoisonOf(sha256));
  }
  return directory_.WriteNew("poison-" + writer, PoisonOf(sha256),
                             Line(record));
}

}  // namespace bulkhead::cli
