// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/blame/quarantine_records.h"

#include <sys/stat.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "core/base/clean_text.h"
#include "core/base/digest.h"
#include "core/base/state_directory.h"
#include "core/base/status_macros.h"
#include "core/base/toml.h"

namespace bulkhead::blame {
namespace {

constexpr size_t kMaxBytes = 16'384;
constexpr size_t kMaxReasonBytes = 2'048;
constexpr size_t kMaxDiagnostics = 16;
constexpr char kPrefix[] = "quarantine-";

std::string NameOf(const std::string& path) {
  Digest digest(HashAlgorithm::kSha256);
  digest.Append(path);
  return kPrefix + digest.Finish();
}

std::string ToText(const QuarantineRecord& record) {
  const toml::table table{
      {"backend", record.backend},
      {"path", record.path},
      {"bytes", record.bytes},
      {"modified_ns", record.modified_ns},
      {"hash", record.hash},
      {"libraries_ns", record.libraries_ns},
      {"code", static_cast<int64_t>(record.code)},
      {"reason", CleanText(record.reason, kMaxReasonBytes)},
  };
  std::ostringstream text;
  text << table << '\n';
  return text.str();
}

std::optional<QuarantineRecord> Parse(const std::string& text_untrusted) {
  if (HasTooManyTomlDots(text_untrusted)) return std::nullopt;
  const toml::parse_result parsed = toml::parse(text_untrusted);
  if (!parsed) return std::nullopt;
  const toml::table& table = parsed.table();
  const auto backend = table["backend"].value<std::string>();
  const auto path = table["path"].value<std::string>();
  const auto bytes = table["bytes"].value<int64_t>();
  const auto modified_ns = table["modified_ns"].value<int64_t>();
  const auto hash = table["hash"].value<std::string>();
  const auto code = table["code"].value<int64_t>();
  const auto reason = table["reason"].value<std::string>();
  if (!backend || !path || !bytes || !modified_ns || !hash || !code ||
      !reason) {
    return std::nullopt;
  }
  const bool misbehaved =
      *code == static_cast<int64_t>(Code::kBackendMisbehaved);
  return QuarantineRecord{
      .backend = CleanText(*backend, kMaxReasonBytes),
      .path = *path,
      .bytes = *bytes,
      .modified_ns = *modified_ns,
      .hash = *hash,
      .libraries_ns = table["libraries_ns"].value_or(int64_t{0}),
      .code = misbehaved ? Code::kBackendMisbehaved : Code::kBackendUnavailable,
      .reason = CleanText(*reason, kMaxReasonBytes)};
}

int64_t ModifiedNs(const struct stat& info) {
  return int64_t{info.st_mtim.tv_sec} * 1'000'000'000 + info.st_mtim.tv_nsec;
}

std::optional<QuarantineRecord> ReadRecord(const StateDirectory& directory,
                                           const std::string& name) {
  const auto text = directory.Read(name, kMaxBytes);
  return text ? Parse(*text) : std::nullopt;
}

void RemoveOutdated(const StateDirectory& directory) {
  for (const std::string& name :
       directory.List(kPrefix, QuarantineRecords::kMaxRecords)) {
    const auto record = ReadRecord(directory, name);
    if (!record || !MayHold(*record)) (void)directory.Remove(name);
  }
}

}  // namespace

int64_t LibrariesChangedNs() {
  struct stat info;
  return ::stat("/etc/ld.so.cache", &info) == 0 ? ModifiedNs(info) : 0;
}

bool MayHold(const QuarantineRecord& record) {
  struct stat info;
  return ::stat(record.path.c_str(), &info) == 0 &&
         info.st_size == record.bytes &&
         ModifiedNs(info) == record.modified_ns &&
         LibrariesChangedNs() == record.libraries_ns;
}

std::optional<QuarantineRecord> QuarantineRecords::Find(
    const std::string& path) {
  if (directory_.empty()) return std::nullopt;
  const auto directory = StateDirectory::Open(directory_);
  const auto text = directory ? directory->Read(NameOf(path), kMaxBytes)
                              : Result<std::string>(directory.error());
  if (!text) {
    if (text.error().code() != Code::kNotFound) {
      Note(directory_, text.error().message());
    }
    return std::nullopt;
  }
  auto record = Parse(*text);
  if (!record || record->path != path) {
    Note(directory_ + "/" + NameOf(path),
         "is no record of a quarantine of " + path + " and does not count");
    return std::nullopt;
  }
  return record;
}

Status QuarantineRecords::Add(const QuarantineRecord& record) {
  if (directory_.empty()) return Status();
  Status added = Write(record);
  if (!added.ok()) {
    Note(record.path,
         "its quarantine is forgotten with this process: " + added.message());
  }
  return added;
}

Status QuarantineRecords::Write(const QuarantineRecord& record) const {
  const std::string text = ToText(record);
  // TOML cannot hold every path. A record that is read back with another path
  // would never be found.
  const auto read_again = Parse(text);
  if (!read_again || read_again->path != record.path) {
    return Status(Code::kUnsupported, "its path is not text");
  }
  ASSIGN_OR_RETURN(const StateDirectory directory,
                   StateDirectory::OpenOrCreate(directory_));
  const auto count = [&] {
    return directory.List(kPrefix, kMaxRecords).size();
  };
  if (count() >= kMaxRecords) RemoveOutdated(directory);
  if (count() >= kMaxRecords) {
    return Status(Code::kResourceExhausted,
                  "there are too many records in " + directory_);
  }
  return directory.Write(NameOf(record.path), text);
}

Status QuarantineRecords::Lift(const std::string& path) {
  if (directory_.empty()) return Status();
  const auto directory = StateDirectory::Open(directory_);
  if (directory) return directory->Remove(NameOf(path));
  return directory.error().code() == Code::kNotFound ? Status()
                                                     : directory.error();
}

std::vector<QuarantineRecord> QuarantineRecords::All() const {
  std::vector<QuarantineRecord> all;
  if (directory_.empty()) return all;
  const auto directory = StateDirectory::Open(directory_);
  if (!directory) return all;
  for (const std::string& name : directory->List(kPrefix, kMaxRecords)) {
    auto record = ReadRecord(*directory, name);
    if (record && name == NameOf(record->path) && MayHold(*record)) {
      all.push_back(*std::move(record));
    }
  }
  return all;
}

bool QuarantineRecords::LiftNamed(const std::string& name) {
  bool lifted = false;
  for (const QuarantineRecord& record : All()) {
    if (record.backend == name) lifted |= Lift(record.path).ok();
  }
  return lifted;
}

void QuarantineRecords::Note(const std::string& file,
                             const std::string& message) {
  const Diagnostic diagnostic{Diagnostic::Severity::kWarning, file, 0, message};
  const bool known = std::any_of(
      diagnostics_.begin(), diagnostics_.end(), [&](const Diagnostic& other) {
        return other.file == file && other.message == message;
      });
  if (known) return;
  if (diagnostics_.size() >= kMaxDiagnostics) {
    diagnostics_.erase(diagnostics_.begin());
  }
  diagnostics_.push_back(diagnostic);
}

}  // namespace bulkhead::blame
