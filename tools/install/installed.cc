// SPDX-License-Identifier: Apache-2.0
#include "tools/install/installed.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "core/base/text.h"
#include "core/discovery/package_version.h"
#include "tools/install/record.h"

namespace bulkhead::install {
namespace {

namespace fs = std::filesystem;
using Version = Installed::Version;

// Reads the files of `version` from its RECORD, if it has one.
void ReadFiles(int directory_fd, Version& version) {
  const auto record = discovery::ReadRecord(directory_fd, version.distribution,
                                            version.diagnostics);
  if (!record || !*record) return;
  version.has_record = true;
  for (const discovery::RecordedFile& file : **record) {
    const std::string first = file.path.substr(0, file.path.find('/'));
    if (first == version.distribution.dist_info) continue;
    const bool another = first.ends_with(discovery::kDistInfoSuffix);
    if (!another && ValidatePath(file.path).ok()) {
      version.files.push_back(file.path);
      continue;
    }
    version.diagnostics.push_back(
        {Diagnostic::Severity::kWarning,
         version.distribution.dist_info_path() + "/RECORD", 0,
         "left alone: " + Quoted(file.path) +
             (another ? " is another distribution's" : " is no valid path")});
  }
}

}  // namespace

Result<discovery::Distribution> Describe(int directory_fd,
                                         const std::string& directory,
                                         const std::string& dist_info,
                                         Diagnostics& diagnostics) {
  Result<discovery::Distribution> read = discovery::ReadDistribution(
      directory_fd, directory, dist_info, /*plain=*/false, diagnostics);
  if (read) {
    discovery::ReadMetadata(directory_fd, /*plain=*/false, *read, diagnostics);
  }
  return read;
}

Installed Installed::Read(int directory_fd, const std::string& directory) {
  std::set<std::string> folders;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end;
       it.increment(error)) {
    const std::string name = it->path().filename();
    if (name.ends_with(discovery::kDistInfoSuffix) && ValidatePath(name).ok()) {
      folders.insert(name);
    }
  }
  Installed installed;
  for (const std::string& folder : folders) {
    Diagnostics ignored;
    Result<discovery::Distribution> distribution =
        Describe(directory_fd, directory, folder, ignored);
    if (!distribution) continue;
    Version version{*std::move(distribution), false, {}, {}};
    ReadFiles(directory_fd, version);
    installed.versions_.push_back(std::move(version));
    const size_t index = installed.versions_.size() - 1;
    for (const std::string& file : installed.versions_.back().files) {
      installed.owners_.emplace(file, index);
    }
  }
  return installed;
}

std::vector<const Version*> Installed::Named(
    const std::string& normalized_name) const {
  std::vector<const Version*> named;
  for (const Version& version : versions_) {
    if (version.distribution.normalized_name == normalized_name) {
      named.push_back(&version);
    }
  }
  std::stable_sort(
      named.begin(), named.end(), [](const Version* a, const Version* b) {
        return discovery::CompareVersions(a->distribution.version,
                                          b->distribution.version) > 0;
      });
  return named;
}

std::vector<std::string> Installed::Names() const {
  std::set<std::string> names;
  for (const Version& version : versions_) {
    names.insert(version.distribution.name);
  }
  return {names.begin(), names.end()};
}

std::optional<std::string> Installed::OwnerOtherThan(
    const std::string& normalized_name, const std::string& path) const {
  const auto [begin, end] = owners_.equal_range(path);
  for (auto it = begin; it != end; ++it) {
    const discovery::Distribution& owner = versions_[it->second].distribution;
    if (owner.normalized_name != normalized_name) {
      return owner.name + " " + owner.version;
    }
  }
  return std::nullopt;
}

}  // namespace bulkhead::install
