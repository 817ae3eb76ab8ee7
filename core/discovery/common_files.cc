// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/common_files.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <functional>
#include <system_error>
#include <utility>

#include "core/base/bounded_file.h"
#include "core/base/record_hash.h"
#include "core/base/status_macros.h"
#include "core/base/text.h"
#include "core/discovery/package_file_opening.h"
#include "core/discovery/plugin_file.h"

namespace bulkhead::discovery {
namespace {

constexpr size_t kMaxSymbolBytes = 256;

Result<Manifest> ReadManifest(CommonFiles& files,
                              const Distribution& distribution,
                              const EntryPoint& entry_point,
                              Diagnostics& diagnostics) {
  ASSIGN_OR_RETURN(const std::optional<std::string> text, files.ManifestText());
  if (!text) {
    Manifest manifest;
    manifest.devices = {entry_point.name};
    return manifest;
  }
  ParsedManifest parsed =
      ParseManifest(*text, distribution.dist_info_path() + "/bulkhead.toml",
                    entry_point.name);
  diagnostics.insert(diagnostics.end(), parsed.diagnostics.begin(),
                     parsed.diagnostics.end());
  if (!parsed.manifest) return Status(Code::kUnsupported, parsed.refusal);
  return *std::move(parsed.manifest);
}

std::string InWords(const AbiVersions& versions) {
  const std::string newest = std::to_string(versions.newest);
  return versions.oldest == versions.newest
             ? "version " + newest
             : "versions " + std::to_string(versions.oldest) + " to " + newest;
}

// Returns the digest of RECORD with one more row. The digest only shows that
// RECORD has changed: it is not cryptographic, and no trust depends on it.
size_t Combined(size_t digest, const RecordedFile& row) {
  const std::hash<std::string> hash;
  return digest * 31 + hash(row.path) * 7 + hash(row.hash) + 1;
}

}  // namespace

Result<ipc::UniqueFd> OpenDirectory(const std::string& path) {
  ipc::UniqueFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd) return fd;
  return Status(Code::kBackendUnavailable,
                path + ": " + std::generic_category().message(errno));
}

Result<int> CommonFiles::Directory() {
  if (!directory_) directory_ = OpenDirectory(distribution_.directory);
  if (!*directory_) return directory_->error();
  return (*directory_)->get();
}

Result<std::optional<std::string>> CommonFiles::ManifestText() {
  if (manifest_) return *manifest_;
  ASSIGN_OR_RETURN(const int directory, Directory());
  auto text = ReadFileBeneath(
      directory, distribution_.dist_info + "/bulkhead.toml", kMaxManifestBytes);
  ++work_.files;
  // Remembers the text, or that there is none, or the failure to read it.
  if (text) {
    work_.bytes += text->size();
    manifest_ = std::optional(*std::move(text));
  } else if (text.error().code() == Code::kNotFound) {
    manifest_ = std::optional<std::string>();
  } else {
    manifest_ = text.error();
  }
  return *manifest_;
}

Result<const std::vector<RecordedFile>*> CommonFiles::Rows(
    Diagnostics& diagnostics) {
  if (!record_) {
    ASSIGN_OR_RETURN(const int directory, Directory());
    record_ = ReadRecord(directory, distribution_, diagnostics,
                         kMaxBackendsRecordBytes);
    ++work_.files;
    if (*record_ && record_->value()) {
      const size_t rows = record_->value()->size();
      work_.rows += rows;
      if (rows > kMaxBackendsRecordRows) {
        record_ = Result<Record>(
            Status(Code::kResourceExhausted, RecordTooLong(rows)));
      }
    }
  }
  if (!*record_) return record_->error();
  const Record& record = record_->value();
  return record ? &*record : nullptr;
}

Status Complete(const Distribution& distribution, CommonFiles& files,
                Diagnostics& diagnostics, BackendCandidate& candidate) {
  const EntryPoint& entry_point = candidate.entry_point;
  if (entry_point.attr.empty() || entry_point.attr.size() > kMaxSymbolBytes ||
      entry_point.attr.find('.') != std::string::npos) {
    return Status(Code::kInvalidArgument,
                  "the value " + Quoted(entry_point.value) +
                      " names no symbol: it should read module:symbol");
  }
  ASSIGN_OR_RETURN(const int directory, files.Directory());
  ASSIGN_OR_RETURN(candidate.manifest,
                   ReadManifest(files, distribution, entry_point, diagnostics));
  const AbiVersions abi = candidate.manifest.abi.value_or(kBackendAbi);
  if (abi.oldest > kBackendAbi.newest || abi.newest < kBackendAbi.oldest) {
    return Status(Code::kUnsupported,
                  "it is built for " + InWords(abi) +
                      " of the interface for backends; this Bulkhead has " +
                      InWords(kBackendAbi) +
                      ": install releases of both that fit");
  }
  ASSIGN_OR_RETURN(const PluginFile plugin,
                   OpenPluginFile(directory, entry_point.module));
  candidate.plugin_path = plugin.path;
  struct stat object = {};
  if (fstat(plugin.fd.get(), &object) != 0) {
    return Status(
        Code::kBackendUnavailable,
        Quoted(plugin.path) + ": " + std::generic_category().message(errno));
  }
  candidate.plugin_identity = IdentityOf(object);

  // Here only the object itself has to pass the rules of package_files.h. The
  // package's other files are examined when the backend is started.
  ASSIGN_OR_RETURN(const ipc::UniqueFd checked,
                   OpenPackageFile(directory, plugin.path, object));
  ASSIGN_OR_RETURN(const std::vector<RecordedFile>* const rows,
                   files.Rows(diagnostics));
  candidate.own_clips = FindOwnClips(
      directory, distribution.dist_info, candidate.manifest, rows, object,
      distribution.dist_info_path() + "/bulkhead.toml", diagnostics);
  if (rows == nullptr) return Status();
  bool listed = false;
  for (const RecordedFile& row : *rows) {
    candidate.record_digest = Combined(candidate.record_digest, row);
    if (row.path == plugin.path) {
      listed = true;
      candidate.plugin_hash = row.hash;
    } else if (!row.path.starts_with(distribution.dist_info + "/")) {
      ++candidate.files_beside;
    }
  }
  if (!listed) return Status(Code::kNotFound, RecordLacks(plugin.path));
  if (candidate.plugin_hash.empty()) return Status();
  if (auto hash = RecordHash::Parse(candidate.plugin_hash); !hash) {
    return Status(hash.error().code(), "RECORD's hash of " +
                                           Quoted(plugin.path) + ": " +
                                           hash.error().message());
  }
  return Status();
}

}  // namespace bulkhead::discovery
