// SPDX-License-Identifier: Apache-2.0
#include "tools/install/wheel.h"

#include <sys/utsname.h>

#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "core/base/bounded_file.h"
#include "core/base/text.h"
#include "core/discovery/distribution.h"
#include "core/discovery/package_version.h"
#include "core/include/bulkhead/entry_point.h"
#include "tools/install/archive.h"
#include "tools/install/record.h"
#include "tools/install/wheel_name.h"

namespace bulkhead::install {
namespace {

constexpr unsigned kWheelMajor = 1;
constexpr unsigned kWheelMinor = 0;

std::string_view FirstPart(std::string_view path) {
  return path.substr(0, path.find('/'));
}

Result<std::string> FindDistInfo(const Archive& archive) {
  std::set<std::string> found;
  for (const Archive::Entry& entry : archive.entries()) {
    const std::string_view first = FirstPart(entry.path);
    if (first.ends_with(discovery::kDistInfoSuffix)) found.emplace(first);
  }
  if (found.size() == 1) return *found.begin();
  std::string names;
  for (const std::string& name : found) names += " " + Quoted(name);
  return Status(Code::kBadInput,
                "it has to have one NAME-VERSION.dist-info" +
                    (found.empty() ? ", not none" : ", not" + names));
}

Status ValidateDistInfo(const std::string& dist_info, const WheelName& name) {
  // The file name of a wheel has "_" where a local version has "-".
  const std::optional<discovery::FolderName> folder =
      discovery::ParseFolderName(dist_info);
  if (folder && NormalizedName(folder->name) == NormalizedName(name.name) &&
      discovery::CompareVersions(folder->version, name.version) == 0) {
    return Status();
  }
  return Status(Code::kBadInput, Quoted(dist_info) +
                                     " is not the name and version in the "
                                     "wheel's file name: was it renamed?");
}

std::optional<unsigned> Number(std::string_view text) {
  unsigned value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// Checks the Wheel-Version in `text`, the contents of the file WHEEL. `file` is
// the wheel, for a diagnostic.
Status ValidateWheelVersion(const std::string& file, std::string_view text,
                            Diagnostics& diagnostics) {
  constexpr std::string_view kKey = "Wheel-Version:";
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.starts_with(kKey)) continue;
    const std::string_view version = Trimmed(line.substr(kKey.size()));
    const size_t dot = version.find('.');
    const auto major = Number(version.substr(0, dot));
    const auto minor = dot == std::string_view::npos
                           ? std::nullopt
                           : Number(version.substr(dot + 1));
    if (!major || !minor) {
      return Status(Code::kBadInput, Quoted(version) + " is no Wheel-Version");
    }
    if (*major != kWheelMajor) {
      return Status(Code::kUnsupported,
                    "its Wheel-Version is " + std::string(version) +
                        ", this Bulkhead knows 1: get a newer Bulkhead");
    }
    if (*minor > kWheelMinor) {
      diagnostics.push_back({Diagnostic::Severity::kWarning, file, 0,
                             "Wheel-Version " + std::string(version) +
                                 " is newer than 1.0, the one known: "
                                 "something in it may be left out"});
    }
    return Status();
  }
  return Status(Code::kBadInput, "WHEEL has no Wheel-Version");
}

// Checks that `lines` lists every file of the wheel, each with size and hash,
// and lists no other file. RECORD and its signatures need no line.
Status ValidateRecord(const Archive& archive, const std::string& dist_info,
                      const std::map<std::string, RecordLine>& lines) {
  const auto exempt = [&](const std::string& path) {
    return path == dist_info + "/RECORD" || path == dist_info + "/RECORD.jws" ||
           path == dist_info + "/RECORD.p7s";
  };
  for (const Archive::Entry& entry : archive.entries()) {
    if (exempt(entry.path)) continue;
    const auto line = lines.find(entry.path);
    if (line == lines.end()) {
      return Status(Code::kBadInput,
                    Quoted(entry.path) + " is not listed in RECORD");
    }
    if (!line->second.algorithm || !line->second.size) {
      return Status(Code::kBadInput,
                    Quoted(entry.path) + " has no hash or size in RECORD");
    }
  }
  for (const auto& [path, line] : lines) {
    if (!exempt(path) && archive.Find(path) == nullptr) {
      return Status(Code::kBadInput, Quoted(path) +
                                         " is listed in RECORD, but the wheel "
                                         "does not have it");
    }
  }
  return Status();
}

// The path of an entry after installation.
struct Target {
  std::string path;  // Empty if the entry is left out.
  // The category of NAME-VERSION.data, such as "scripts", that is left out.
  std::string left_out;
};

// Returns the target of the entry `path`. Fails with kBadInput if the target
// would be outside of the distribution.
Result<Target> TargetOf(const std::string& path, const std::string& dist_info) {
  const std::string data =
      dist_info.substr(0,
                       dist_info.size() - discovery::kDistInfoSuffix.size()) +
      ".data/";
  if (!path.starts_with(data)) return Target{path, ""};
  const std::string below = path.substr(data.size());
  const size_t slash = below.find('/');
  const std::string category = below.substr(0, slash);
  const bool spread = category == "purelib" || category == "platlib";
  if (slash == std::string::npos || !spread) return Target{"", category};
  Target target{below.substr(slash + 1), ""};
  if (Status status = ValidatePath(target.path); !status.ok()) return status;
  if (FirstPart(target.path).ends_with(discovery::kDistInfoSuffix)) {
    return Status(Code::kBadInput,
                  Quoted(path) + " goes into a dist-info folder");
  }
  return target;
}

// Copies an entry to `file` and verifies it.
Status StageEntry(const Archive& archive, const Archive::Entry& entry,
                  Result<StagedFile> file) {
  if (!file) return file.error();
  Status status = archive.Read(
      entry, [&](std::span<const char> bytes) { return file->Append(bytes); });
  return status.ok() ? file->Finish() : status;
}

// Verifies all entries, and copies to `staging` those that are installed.
Status StageEntries(const Archive& archive, const std::string& wheel,
                    const std::map<std::string, RecordLine>& lines, int staging,
                    Staged& staged) {
  std::set<std::string> targets, left_out;
  for (const Archive::Entry& entry : archive.entries()) {
    const std::string in_dist_info =
        entry.path.starts_with(staged.dist_info + "/")
            ? entry.path.substr(staged.dist_info.size() + 1)
            : "";
    const auto found = lines.find(entry.path);
    // Skips RECORD and its signatures: ValidateRecord() has refused every other
    // file without a hash.
    if (found == lines.end() || !found->second.algorithm) continue;
    RecordLine line = found->second;
    Result<Target> target = TargetOf(entry.path, staged.dist_info);
    if (!target) return target.error();

    if (target->path.empty() || IsReplacedOnInstall(in_dist_info)) {
      if (target->path.empty()) left_out.insert(target->left_out);
      Status status =
          StageEntry(archive, entry, StagedFile::Discarded(std::move(line)));
      if (!status.ok()) return status;
      continue;
    }
    line.path = target->path;
    if (!targets.insert(line.path).second) {
      return Status(Code::kBadInput,
                    Quoted(line.path) + " would be installed twice");
    }
    Status status = StageEntry(
        archive, entry, StagedFile::Create(staging, line, entry.executable));
    if (!status.ok()) return status;
    staged.files.push_back(std::move(line));
  }
  for (const std::string& category : left_out) {
    staged.diagnostics.push_back(
        {Diagnostic::Severity::kWarning, wheel, 0,
         "its " + Quoted(category) +
             " files are left out: a plugin directory has no place for them"});
  }
  return Status();
}

// Stages the wheel as StageWheel() says. StageWheel() then adds the wheel's
// name to errors.
Result<Staged> Stage(const std::string& path, int staging) {
  const Result<WheelName> name =
      ParseWheelName(path.substr(path.rfind('/') + 1));
  if (!name) return name.error();
  utsname system;
  uname(&system);
  if (Status status = ValidatePlatform(*name, system.machine); !status.ok()) {
    return status;
  }
  const Result<Archive> archive = Archive::Open(path);
  if (!archive) return archive.error();

  Staged staged;
  const Result<std::string> dist_info = FindDistInfo(*archive);
  if (!dist_info) return dist_info.error();
  staged.dist_info = *dist_info;
  if (Status status = ValidateDistInfo(staged.dist_info, *name); !status.ok()) {
    return status;
  }
  const Result<std::string> about =
      archive->ReadText(staged.dist_info + "/WHEEL", kMaxMetadataBytes);
  if (!about) return about.error();
  Status status = ValidateWheelVersion(path, *about, staged.diagnostics);
  if (!status.ok()) return status;

  const Result<std::string> record =
      archive->ReadText(staged.dist_info + "/RECORD", kMaxRecordBytes);
  if (!record) return record.error();
  Result<std::vector<RecordLine>> parsed = ParseRecord(*record);
  if (!parsed) return parsed.error();
  std::map<std::string, RecordLine> lines;
  for (RecordLine& line : *parsed) {
    std::string key = line.path;
    lines.emplace(std::move(key), std::move(line));
  }
  status = ValidateRecord(*archive, staged.dist_info, lines);
  if (!status.ok()) return status;
  status = StageEntries(*archive, path, lines, staging, staged);
  if (!status.ok()) return status;
  return staged;
}

}  // namespace

Result<Staged> StageWheel(const std::string& path, int staging) {
  Result<Staged> staged = Stage(path, staging);
  if (staged) return staged;
  const std::string& message = staged.error().message();
  const std::string name = Quoted(path.substr(path.rfind('/') + 1));
  // Some messages name the file already.
  if (message.starts_with(name) || message.starts_with(Quoted(path))) {
    return staged.error();
  }
  return staged.error().WithContext(name);
}

}  // namespace bulkhead::install
