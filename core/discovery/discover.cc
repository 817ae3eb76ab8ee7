// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/discover.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "core/base/bounded_file.h"
#include "core/base/record_hash.h"
#include "core/base/status_macros.h"
#include "core/base/text.h"
#include "core/discovery/installed_files.h"
#include "core/discovery/plugin_file.h"
#include "core/discovery/start_choice.h"

namespace bulkhead::discovery {
namespace {

using Standing = BackendCandidate::Standing;

constexpr size_t kMaxSymbolBytes = 256;

Result<ipc::UniqueFd> OpenDirectory(const std::string& path) {
  ipc::UniqueFd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd) return fd;
  return Status(Code::kBackendUnavailable,
                path + ": " + std::generic_category().message(errno));
}

Result<Manifest> ReadManifest(int directory, const Distribution& distribution,
                              const EntryPoint& entry_point,
                              Diagnostics& diagnostics) {
  const Result<std::string> text =
      ReadFileBeneath(directory, distribution.dist_info + "/bulkhead.toml");
  if (!text && text.error().code() != Code::kNotFound) return text.error();
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

// Sets everything that is read from the distribution's files.
Status Complete(const Distribution& distribution, RecordIndex& index,
                Diagnostics& diagnostics, BackendCandidate& candidate) {
  const EntryPoint& entry_point = candidate.entry_point;
  if (entry_point.attr.empty() || entry_point.attr.size() > kMaxSymbolBytes ||
      entry_point.attr.find('.') != std::string::npos) {
    return Status(Code::kInvalidArgument,
                  "the value " + Quoted(entry_point.value) +
                      " names no symbol: it should read module:symbol");
  }
  ASSIGN_OR_RETURN(const ipc::UniqueFd directory,
                   OpenDirectory(distribution.directory));
  ASSIGN_OR_RETURN(
      candidate.manifest,
      ReadManifest(directory.get(), distribution, entry_point, diagnostics));
  const AbiVersions abi = candidate.manifest.abi.value_or(kBackendAbi);
  if (abi.oldest > kBackendAbi.newest || abi.newest < kBackendAbi.oldest) {
    return Status(Code::kUnsupported,
                  "it is built for " + InWords(abi) +
                      " of the interface for backends; this Bulkhead has " +
                      InWords(kBackendAbi) +
                      ": install releases of both that fit");
  }
  ASSIGN_OR_RETURN(const PluginFile plugin,
                   OpenPluginFile(directory.get(), entry_point.module));
  candidate.plugin_path = plugin.path;
  struct stat object = {};
  if (fstat(plugin.fd.get(), &object) != 0) {
    return Status(
        Code::kBackendUnavailable,
        Quoted(plugin.path) + ": " + std::generic_category().message(errno));
  }
  candidate.plugin_identity = IdentityOf(object);

  using Record = std::optional<std::vector<RecordedFile>>;
  ASSIGN_OR_RETURN(const Record record,
                   ReadRecord(directory.get(), distribution, diagnostics));
  ASSIGN_OR_RETURN(candidate.visible_paths,
                   VisiblePaths(directory.get(), distribution, record,
                                plugin.path, object, index, diagnostics));
  candidate.own_clips = FindOwnClips(
      directory.get(), distribution.dist_info, candidate.manifest,
      candidate.visible_paths, object,
      distribution.dist_info_path() + "/bulkhead.toml", diagnostics);
  for (const RecordedFile& file :
       record.value_or(std::vector<RecordedFile>())) {
    if (file.path == plugin.path) candidate.plugin_hash = file.hash;
  }
  if (candidate.plugin_hash.empty()) return Status();
  if (auto hash = RecordHash::Parse(candidate.plugin_hash); !hash) {
    return Status(hash.error().code(), "RECORD's hash of " +
                                           Quoted(plugin.path) + ": " +
                                           hash.error().message());
  }
  return Status();
}

// Assigns each name of a backend or a device to the first who wants it.
class Claims {
 public:
  // Breaks a candidate whose name is taken; otherwise gives it the devices that
  // are free.
  void Settle(BackendCandidate& candidate, Diagnostics& diagnostics) {
    const EntryPoint& entry_point = candidate.entry_point;
    // A disabled backend must not take names from those that are in use.
    if (candidate.standing == Standing::kDisabled) return;
    const auto [first, is_new] =
        backends_.try_emplace(candidate.name(), entry_point.file);
    if (!is_new) {
      candidate.standing = Standing::kBroken;
      candidate.reason = "a backend of this name is defined by " +
                         first->second + ", which comes first";
      return;
    }
    for (const std::string& device : candidate.manifest.devices) {
      const auto [holder, is_free] =
          devices_.try_emplace(device, candidate.name());
      if (is_free) {
        candidate.devices.push_back(device);
        continue;
      }
      diagnostics.push_back(
          {Diagnostic::Severity::kWarning, entry_point.file, entry_point.line,
           "the device " + device + " is that of the backend " +
               holder->second + ", which comes first; this one is " +
               candidate.name() + "/" + device});
    }
  }

 private:
  std::map<std::string, std::string> backends_;  // Name to file.
  std::map<std::string, std::string> devices_;   // Device to backend.
};

bool Offers(const BackendCandidate& backend, const DeviceName& device) {
  if (device.backend.empty()) {
    // A disabled backend has no devices, but the caller may have meant one.
    const std::vector<std::string>& names =
        backend.standing == Standing::kDisabled ? backend.manifest.devices
                                                : backend.devices;
    return std::find(names.begin(), names.end(), device.name) != names.end();
  }
  const std::vector<std::string>& all = backend.manifest.devices;
  return backend.name() == device.backend &&
         std::find(all.begin(), all.end(), device.name) != all.end();
}

// Appends "NAME (WHY)" to a list.
void AddReason(const std::string& name, const std::string& why,
               std::string& list) {
  list += (list.empty() ? "" : ", ") + name + " (" + why + ")";
}

std::string WhatThereIs(const Discovery& discovery,
                        const FailureOf& failure_of) {
  std::string known;
  std::string disabled;
  std::string failed;
  for (const BackendCandidate& backend : discovery.backends) {
    const std::string failure =
        backend.usable() && failure_of ? failure_of(backend) : "";
    if (backend.standing == Standing::kDisabled) {
      AddReason(backend.name(), backend.reason, disabled);
    } else if (!backend.usable() || !failure.empty()) {
      AddReason(backend.name(), backend.usable() ? failure : backend.reason,
                failed);
    } else {
      for (const std::string& device : backend.manifest.devices) {
        known += (known.empty() ? "" : ", ") + CallersName(backend, device);
      }
    }
  }
  std::string text = known.empty() ? "none is known" : "known: " + known;
  if (!disabled.empty()) text += "; disabled backends: " + disabled;
  if (!failed.empty()) text += "; failed backends: " + failed;
  text += "; searched:";
  for (const SearchedPlace& place : discovery.places) {
    text += (&place == &discovery.places.front() ? " " : ", ") +
            place.directory.path + " (" + place.outcome + ")";
  }
  return text;
}

// Turns entry points into candidates, in order of precedence.
class Finder {
 public:
  Finder(const Selection& selection, const std::vector<ExplicitLoad>& loads)
      : selection_(selection), loads_(loads) {}

  // Adds the backends of a distribution and returns how many there are.
  // `wanted` restricts them to those that one explicit load chooses.
  int Add(const Distribution& distribution, bool built_in,
          const ExplicitLoad* wanted = nullptr) {
    int found = 0;
    distributions_.insert(distribution.dist_info_path());
    RecordIndex& index =
        indices_.try_emplace(distribution.directory, distribution.directory)
            .first->second;
    for (const EntryPoint& entry_point : distribution.entry_points) {
      if (entry_point.group != kBackendGroup) continue;
      if (!IsPlainName(entry_point.name)) {
        Report(Diagnostic::Severity::kError, entry_point,
               "ignored: " + Quoted(entry_point.name) +
                   " cannot name a backend: use letters, digits, \"_\", "
                   "\"-\" and \".\"");
        continue;
      }
      BackendCandidate candidate;
      candidate.entry_point = entry_point;
      candidate.directory = distribution.directory;
      candidate.dist_info = distribution.dist_info_path();
      candidate.built_in = built_in;
      candidate.manifest.devices = {entry_point.name};
      if (Status status =
              Complete(distribution, index, result_.diagnostics, candidate);
          !status.ok()) {
        candidate.standing = Standing::kBroken;
        candidate.reason = status.message();
      }
      const auto loads = [&](const ExplicitLoad& load) {
        return load.Means(candidate.dist_info, candidate.name(),
                          candidate.plugin_path);
      };
      if (wanted != nullptr && !loads(*wanted)) continue;
      const bool loaded = std::any_of(loads_.begin(), loads_.end(), loads);
      if (auto rule =
              selection_.RuleAgainst(entry_point.name, built_in || loaded)) {
        candidate.standing = Standing::kDisabled;
        candidate.reason = *std::move(rule);
      }
      ChooseStart(candidate);
      names_.push_back(candidate.name());
      Settle(std::move(candidate));
      ++found;
    }
    return found;
  }

  bool Has(const Distribution& distribution) const {
    return distributions_.contains(distribution.dist_info_path());
  }

  Discovery Finish(Diagnostics diagnostics,
                   std::vector<SearchedPlace> places) && {
    WarnOfUnknownNames(selection_, names_, result_.diagnostics);
    diagnostics.insert(diagnostics.end(), result_.diagnostics.begin(),
                       result_.diagnostics.end());
    result_.diagnostics = std::move(diagnostics);
    result_.places = std::move(places);
    return std::move(result_);
  }

 private:
  void ChooseStart(BackendCandidate& candidate) {
    StartChoice choice = discovery::ChooseStart(candidate.name(),
                                                candidate.manifest, selection_);
    candidate.start = choice.start;
    candidate.start_rule = std::move(choice.rule);
    if (choice.warning.empty()) return;
    Report(Diagnostic::Severity::kWarning, candidate.entry_point,
           std::move(choice.warning));
  }

  void Report(Diagnostic::Severity severity, const EntryPoint& entry_point,
              std::string message) {
    result_.diagnostics.push_back(
        {severity, entry_point.file, entry_point.line, std::move(message)});
  }

  void Settle(BackendCandidate candidate) {
    claims_.Settle(candidate, result_.diagnostics);
    if (!candidate.usable()) {
      const bool broken = candidate.standing == Standing::kBroken;
      Report(
          broken ? Diagnostic::Severity::kError : Diagnostic::Severity::kNote,
          candidate.entry_point,
          "the backend " + candidate.name() +
              " is not used: " + candidate.reason);
    }
    result_.backends.push_back(std::move(candidate));
  }

  const Selection& selection_;
  const std::vector<ExplicitLoad>& loads_;
  Claims claims_;
  std::set<std::string> distributions_;
  std::map<std::string, RecordIndex> indices_;  // By directory.
  std::vector<std::string> names_;              // Of all backends.
  Discovery result_;
};

}  // namespace

bool BackendCandidate::operator==(const BackendCandidate& other) const {
  const auto key = [](const BackendCandidate& backend) {
    // The equality of entry points ignores where they come from.
    const EntryPoint& from = backend.entry_point;
    return std::tie(from, from.distribution, from.version, from.file, from.line,
                    backend.manifest, backend.directory, backend.plugin_path,
                    backend.plugin_hash, backend.plugin_identity,
                    backend.visible_paths, backend.own_clips, backend.devices,
                    backend.standing, backend.reason);
  };
  return key(*this) == key(other);
}

Discovery Discover(const Scan& scan, const Selection& selection,
                   const std::vector<ExplicitLoad>& loads) {
  Finder finder(selection, loads);
  std::vector<SearchedPlace> places = scan.places;
  std::vector<int> backends(places.size());
  for (const Distribution& distribution : scan.distributions) {
    const SearchedPlace& place = places[distribution.place];
    backends[distribution.place] +=
        finder.Add(distribution, place.directory.built_in);
  }
  for (size_t i = 0; i < backends.size(); ++i) {
    if (!places[i].searched) continue;
    places[i].outcome += ", " + std::to_string(backends[i]) +
                         (backends[i] == 1 ? " backend" : " backends");
  }
  Diagnostics diagnostics = scan.diagnostics;
  for (const ExplicitLoad& load : loads) {
    const Scan loaded = ScanPluginPath({{load.directory, "loaded explicitly"}});
    for (const Distribution& distribution : loaded.distributions) {
      if (!finder.Has(distribution) &&
          load.MayMean(distribution.dist_info_path())) {
        finder.Add(distribution, false, &load);
      }
    }
  }
  return std::move(finder).Finish(std::move(diagnostics), std::move(places));
}

Status Unavailable(const BackendCandidate& backend) {
  if (backend.standing == Standing::kBroken) {
    return Status(Code::kBackendUnavailable,
                  LoadFailureMessage(backend.entry_point, backend.reason));
  }
  return Status(Code::kBackendUnavailable, "the backend " + backend.name() +
                                               " is not available: it is " +
                                               backend.reason);
}

std::string CallersName(const BackendCandidate& backend,
                        const std::string& device) {
  const std::string bare = device.substr(0, device.find(':'));
  const auto& own = backend.devices;
  return std::find(own.begin(), own.end(), bare) != own.end()
             ? device
             : backend.name() + "/" + device;
}

Result<const BackendCandidate*> FindBackend(const Discovery& discovery,
                                            const DeviceName& device,
                                            const FailureOf& failure_of) {
  const BackendCandidate* unusable = nullptr;
  for (const BackendCandidate& backend : discovery.backends) {
    if (!Offers(backend, device)) continue;
    if (backend.usable()) return &backend;
    // A backend in force explains more than one that somebody switched off.
    if (unusable == nullptr || unusable->standing == Standing::kDisabled) {
      unusable = &backend;
    }
  }
  if (unusable != nullptr) return Unavailable(*unusable);
  return Status(Code::kNotFound, "there is no device " +
                                     Quoted(device.ToString()) + "; " +
                                     WhatThereIs(discovery, failure_of));
}

Result<OpenedBackend> OpenBackend(const BackendCandidate& backend) {
  OpenedBackend opened;
  ASSIGN_OR_RETURN(opened.directory, OpenDirectory(backend.directory));
  ASSIGN_OR_RETURN(opened.plugin, OpenRegularFileBeneath(opened.directory.get(),
                                                         backend.plugin_path));
  return opened;
}

std::string LoadFailureMessage(const EntryPoint& entry_point,
                               const std::string& cause) {
  const std::string distribution =
      entry_point.distribution +
      (entry_point.version.empty() ? "" : " " + entry_point.version);
  return "Failed to load the backend extension: " + entry_point.name + " (" +
         distribution + ", " + entry_point.file + "): " + cause +
         ". You can disable extension autoloading with " +
         std::string(kAutoloadVariable) + "=0.";
}

}  // namespace bulkhead::discovery
