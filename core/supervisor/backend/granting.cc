// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/granting.h"

#include <algorithm>
#include <utility>

#include "core/grants/ioctl_families.h"
#include "core/supervisor/sandbox/granted_paths.h"

namespace bulkhead::backend {
namespace {

using discovery::BackendCandidate;
using grants::Grant;
using grants::Permissions;

enum class Verdict { kCounts, kAnotherFile, kUnknown };

std::string Algorithm(const std::string& hash) {
  return hash.substr(0, hash.find('='));
}

// Returns whether the grant is for the object of `candidate`.
Verdict Judge(const Grant& grant, const BackendCandidate& candidate,
              const HashVerdicts& verdicts) {
  if (grant.hash.empty() || grant.hash == candidate.plugin_hash) {
    return Verdict::kCounts;
  }
  if (const auto known = verdicts.find(grant.hash); known != verdicts.end()) {
    return known->second ? Verdict::kCounts : Verdict::kAnotherFile;
  }
  // Different hashes of one algorithm are of different files.
  return !candidate.plugin_hash.empty() &&
                 Algorithm(grant.hash) == Algorithm(candidate.plugin_hash)
             ? Verdict::kAnotherFile
             : Verdict::kUnknown;
}

std::string Joined(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) {
    joined += (joined.empty() ? "" : ", ") + text;
  }
  return joined;
}

Diagnostic OfAnotherFile(const Grant& grant,
                         const BackendCandidate& candidate) {
  return {Diagnostic::Severity::kWarning, grant.file, grant.line,
          "the grant counts for nothing: it is for another file than the "
          "backend " +
              candidate.name() + " has now, " + candidate.directory + "/" +
              candidate.plugin_path +
              "; if you trust that one too: bulkhead "
              "grant " +
              candidate.name() + " " + ToArguments(grant.permissions)};
}

Diagnostic NotGranted(const BackendCandidate& candidate,
                      const Permissions& missing) {
  return {Diagnostic::Severity::kNote, candidate.dist_info + "/bulkhead.toml",
          0,
          "the backend " + candidate.name() + " asks for " +
              Joined(ToTexts(missing)) +
              ", which nobody granted; to grant it: bulkhead grant " +
              candidate.name() + " " + ToArguments(missing)};
}

}  // namespace

Granting GrantTo(const BackendCandidate& candidate,
                 const grants::Grants& grants, const HashVerdicts& verdicts) {
  const Permissions& asked = candidate.manifest.permissions;
  Granting granting;
  Permissions granted;
  Permissions perhaps;
  for (const Grant& grant : grants.grants) {
    if (grant.backend != candidate.name()) continue;
    // Such a grant allows the use of a reserved name, and gives no permission.
    if (grant.reserved_name && grant.permissions.empty()) continue;
    switch (Judge(grant, candidate, verdicts)) {
      case Verdict::kCounts:
        Add(grant.permissions, granted);
        break;
      case Verdict::kAnotherFile:
        granting.diagnostics.push_back(OfAnotherFile(grant, candidate));
        continue;
      case Verdict::kUnknown:
        Add(grant.permissions, perhaps);
        granting.unverified.push_back(grant.hash);
        break;
    }
    const Permissions beyond = Beyond(grant.permissions, asked);
    if (beyond.empty()) continue;
    granting.diagnostics.push_back(
        {Diagnostic::Severity::kNote, grant.file, grant.line,
         "grants more than the backend " + candidate.name() +
             " asks for, which does not count: " + Joined(ToTexts(beyond))});
  }
  granting.effective = Intersect(asked, granted);
  granting.pending = Intersect(asked, perhaps);
  const Permissions missing =
      Missing(Missing(asked, granting.effective), granting.pending);
  if (!missing.empty()) {
    granting.diagnostics.push_back(NotGranted(candidate, missing));
  }
  return granting;
}

sandbox::Grants Resolve(const grants::Effective& effective,
                        std::vector<std::string>& problems) {
  sandbox::Grants found;
  for (const std::string& path : effective.read) {
    auto readable = sandbox::ResolveReadable(path);
    if (readable) {
      found.paths.push_back(*std::move(readable));
    } else {
      problems.push_back(readable.error().message());
    }
  }
  for (const grants::DevicePattern& pattern : effective.devices) {
    for (sandbox::GrantedPath& device : sandbox::ResolveDevices(
             pattern.asked,
             [&](const std::string& path) { return pattern.Matches(path); },
             problems)) {
      if (std::find(found.paths.begin(), found.paths.end(), device) ==
          found.paths.end()) {
        found.paths.push_back(std::move(device));
      }
    }
  }
  for (const std::string& name : effective.ioctls) {
    const grants::IoctlFamily* family = grants::FindIoctlFamily(name);
    if (family == nullptr) continue;
    found.ioctl_types.insert(found.ioctl_types.end(), family->types.begin(),
                             family->types.end());
  }
  found.address_space_bytes = effective.memory_bytes;
  found.tasks = effective.threads;
  return found;
}

std::vector<std::string> GrantedTexts(const Granting& granting) {
  std::vector<std::string> texts = ToTexts(granting.effective);
  for (const std::string& text : ToTexts(granting.pending)) {
    if (std::find(texts.begin(), texts.end(), text) != texts.end()) continue;
    texts.push_back(text + " (if its file has the hash that was granted)");
  }
  return texts;
}

std::vector<std::string> DescribeGrants(const BackendCandidate& candidate,
                                        const Granting& granting,
                                        sandbox::Reach reach,
                                        const grants::Effective* started_with,
                                        Diagnostics& diagnostics) {
  // Grants to files that cannot be used are nobody's concern.
  if (!candidate.usable()) return GrantedTexts(granting);
  diagnostics.insert(diagnostics.end(), granting.diagnostics.begin(),
                     granting.diagnostics.end());
  const std::string manifest = candidate.dist_info + "/bulkhead.toml";
  std::vector<std::string> problems;
  for (const auto& path : Resolve(granting.effective, problems).paths) {
    std::string obstacle = sandbox::ObstacleTo(path, reach);
    if (!obstacle.empty()) problems.push_back(std::move(obstacle));
  }
  for (const std::string& problem : problems) {
    diagnostics.push_back(
        {Diagnostic::Severity::kWarning, manifest, 0,
         "the backend " + candidate.name() +
             " does not get all that was granted: " + problem});
  }
  if (!started_with) return GrantedTexts(granting);
  if (granting.effective != *started_with) {
    diagnostics.push_back({Diagnostic::Severity::kNote, manifest, 0,
                           "the grants of the backend " + candidate.name() +
                               " have changed since it was started; they "
                               "count from its next start"});
  }
  return ToTexts(*started_with);
}

}  // namespace bulkhead::backend
