// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/discover.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <tuple>
#include <utility>

#include "core/base/bounded_file.h"
#include "core/base/status_macros.h"
#include "core/base/text.h"
#include "core/discovery/claims.h"
#include "core/discovery/common_files.h"
#include "core/discovery/plugin_file.h"
#include "core/discovery/reading_bounds.h"
#include "core/discovery/start_choice.h"

namespace bulkhead::discovery {
namespace {

using Standing = BackendCandidate::Standing;

// Beyond this number of candidates, a backend that is excluded or refused
// becomes only a diagnostic.
constexpr size_t kMaxListed = kMaxBackendsOfAll;

// Returns whether a caller who asks for `device` means a device of `backend`.
bool Offers(const BackendCandidate& backend, const DeviceName& device) {
  if (device.backend.empty()) {
    // A disabled backend keeps no devices, but the caller may have meant a
    // device of its manifest.
    const std::vector<std::string>& names =
        backend.standing == Standing::kDisabled ? backend.manifest.devices
                                                : backend.devices;
    return std::find(names.begin(), names.end(), device.name) != names.end();
  }
  if (backend.name() != device.backend) return false;
  // The manifest of a disabled backend was not read, so it may have any device.
  const std::vector<std::string>& all = backend.manifest.devices;
  return backend.standing == Standing::kDisabled ||
         std::find(all.begin(), all.end(), device.name) != all.end();
}

// Appends "NAME (WHY)" to a list.
void AddReason(const std::string& name, const std::string& why,
               std::string& list) {
  list += (list.empty() ? "" : ", ") + name + " (" + why + ")";
}

// Returns a clause for the error "there is no such device": the devices that
// exist, the backends that are disabled or failed, and the searched places.
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
  Finder(const Selection& selection, const std::vector<ExplicitLoad>& loads,
         const std::vector<grants::Grant>& grants)
      : selection_(selection), loads_(loads), claims_(grants) {}

  // Adds the backends of a distribution, and returns how many were added. If
  // `wanted` is given, adds only the backends that this explicit load chooses.
  // If `refusal` is not empty, reads no file of the distribution; `refusal` is
  // the reason.
  int Add(const Distribution& distribution, bool built_in,
          const std::string& refusal, const ExplicitLoad* wanted = nullptr) {
    int found = 0;
    size_t count = 0;
    distributions_.insert(distribution.dist_info_path());
    CommonFiles files(distribution, result_.work);
    for (const EntryPoint& entry_point : distribution.entry_points) {
      if (entry_point.group != kBackendGroup) continue;
      if (!IsPlainName(entry_point.name)) {
        Report(Diagnostic::Severity::kError, entry_point,
               "ignored: " + Quoted(entry_point.name) +
                   " cannot name a backend: use letters, digits, \"_\", "
                   "\"-\" and \".\"");
        continue;
      }
      if (++count > kMaxBackendsOfOne) {
        Report(Diagnostic::Severity::kError, entry_point,
               "ignored, with those that follow: a distribution has at most " +
                   std::to_string(kMaxBackendsOfOne) + " backends");
        break;
      }
      found +=
          AddOne(distribution, entry_point, built_in, refusal, wanted, files);
    }
    return found;
  }

  // Returns whether the distribution was added.
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
  // Returns whether an explicit load may choose backends of the distribution.
  bool MayBeLoaded(const BackendCandidate& candidate) const {
    return std::any_of(loads_.begin(), loads_.end(), [&](const auto& load) {
      return load.MayChoose(candidate.dist_info);
    });
  }

  // Sets the path of an excluded candidate's shared object, without reading the
  // object. The path shows whether an explicit load chooses the candidate.
  void FindObject(CommonFiles& files, BackendCandidate& candidate) {
    if (!MayBeLoaded(candidate)) return;
    const auto directory = files.Directory();
    if (!directory) return;
    const auto object =
        OpenPluginFile(*directory, candidate.entry_point.module);
    if (object) candidate.plugin_path = object->path;
  }

  // Completes a candidate from its files, or makes it kBroken.
  void ReadFiles(const Distribution& distribution, const std::string& refusal,
                 CommonFiles& files, BackendCandidate& candidate) {
    Status status(Code::kResourceExhausted, refusal);
    if (refusal.empty()) {
      ++result_.work.backends;
      status = Complete(distribution, files, result_.diagnostics, candidate);
    }
    if (status.ok()) return;
    candidate.standing = Standing::kBroken;
    candidate.reason = status.message();
  }

  // Adds one backend, unless `wanted` does not choose it. Returns the number of
  // backends that were added.
  int AddOne(const Distribution& distribution, const EntryPoint& entry_point,
             bool built_in, const std::string& refusal,
             const ExplicitLoad* wanted, CommonFiles& files) {
    BackendCandidate candidate;
    candidate.entry_point = entry_point;
    candidate.directory = distribution.directory;
    candidate.dist_info = distribution.dist_info_path();
    candidate.built_in = built_in;
    candidate.manifest.devices = {entry_point.name};
    // If the operator excludes the backend, only its name is read. Whether an
    // explicit load chooses the backend shows when the path of its object is
    // known. Until then it is enough that a load may choose the distribution.
    auto rule = selection_.RuleAgainst(entry_point.name,
                                       built_in || MayBeLoaded(candidate));
    if (rule) {
      FindObject(files, candidate);
    } else {
      ReadFiles(distribution, refusal, files, candidate);
    }
    const auto loads = [&](const ExplicitLoad& load) {
      return load.Chooses(candidate.dist_info, candidate.name(),
                          candidate.plugin_path);
    };
    if (wanted != nullptr && !loads(*wanted)) return 0;
    if (result_.backends.size() >= kMaxListed && (rule || !refusal.empty())) {
      Report(Diagnostic::Severity::kError, entry_point,
             "the backend " + candidate.name() +
                 " is not used: " + (rule ? *rule : refusal));
      return 0;
    }
    if (!rule) {
      // Asked again: the path of the object is known now, so an explicit load
      // counts only if it chooses this backend.
      rule = selection_.RuleAgainst(
          entry_point.name,
          built_in || std::any_of(loads_.begin(), loads_.end(), loads));
    }
    if (rule) {
      candidate.standing = Standing::kDisabled;
      candidate.reason = *std::move(rule);
    }
    ChooseStart(candidate);
    names_.push_back(candidate.name());
    Settle(std::move(candidate));
    return 1;
  }

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
  std::vector<std::string> names_;  // The names of all backends.
  Discovery result_;
};

}  // namespace

bool BackendCandidate::operator==(const BackendCandidate& other) const {
  const auto key = [](const BackendCandidate& backend) {
    // operator== of entry points ignores the place they come from, so these
    // members are compared one by one.
    const EntryPoint& from = backend.entry_point;
    return std::tie(from, from.distribution, from.version, from.file, from.line,
                    backend.manifest, backend.directory, backend.plugin_path,
                    backend.plugin_hash, backend.plugin_identity,
                    backend.record_digest, backend.own_clips, backend.devices,
                    backend.standing, backend.reason);
  };
  return key(*this) == key(other);
}

Discovery Discover(const Scan& scan, const Selection& selection,
                   const std::vector<ExplicitLoad>& loads,
                   const std::vector<grants::Grant>& grants) {
  Finder finder(selection, loads, grants);
  const std::vector<std::string> refusals = Refusals(scan, selection, loads);
  std::vector<SearchedPlace> places = scan.places;
  std::vector<int> backends(places.size());
  for (size_t i = 0; i < scan.distributions.size(); ++i) {
    const Distribution& distribution = scan.distributions[i];
    const SearchedPlace& place = places[distribution.place];
    backends[distribution.place] +=
        finder.Add(distribution, place.directory.built_in, refusals[i]);
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
          load.MayChoose(distribution.dist_info_path())) {
        finder.Add(distribution, false, "", &load);
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
    // The reason of a broken backend explains more than the reason of a
    // disabled one.
    if (unusable == nullptr || unusable->standing == Standing::kDisabled) {
      unusable = &backend;
    }
  }
  if (unusable != nullptr) return Unavailable(*unusable);
  return Status(Code::kNotFound, "there is no device " +
                                     Quoted(device.ToString()) + "; " +
                                     WhatThereIs(discovery, failure_of));
}

Distribution DistributionOf(const BackendCandidate& backend) {
  Distribution distribution;
  distribution.directory = backend.directory;
  distribution.dist_info = backend.dist_info.substr(
      std::min(backend.directory.size() + 1, backend.dist_info.size()));
  if (const auto name = ParseFolderName(distribution.dist_info)) {
    distribution.normalized_name = NormalizedName(name->name);
  }
  return distribution;
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
