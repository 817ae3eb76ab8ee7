// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/claims.h"

#include "core/discovery/reserved_names.h"

namespace bulkhead::discovery {
namespace {

using Standing = BackendCandidate::Standing;

// Returns FILE:LINE of the operator's grant that gives a reserved name to the
// object of `candidate`, or an empty string. The hash in RECORD is enough here,
// since each start compares the object with that hash.
std::string GrantOfName(const BackendCandidate& candidate,
                        const std::vector<grants::Grant>& grants) {
  for (const grants::Grant& grant : grants) {
    if (grant.reserved_name && grant.backend == candidate.name() &&
        (grant.hash.empty() || grant.hash == candidate.plugin_hash)) {
      return grant.file + ":" + std::to_string(grant.line);
    }
  }
  return "";
}

}  // namespace

void Claims::Settle(BackendCandidate& candidate, Diagnostics& diagnostics) {
  const EntryPoint& entry_point = candidate.entry_point;
  // A disabled backend must not take names from backends that are in use.
  if (candidate.standing == Standing::kDisabled) return;
  const std::string granted =
      candidate.built_in ? "" : GrantOfName(candidate, grants_);
  const bool may_take_reserved = candidate.built_in || !granted.empty();
  if (IsReservedBackend(candidate.name()) && !may_take_reserved) {
    candidate.standing = Standing::kBroken;
    candidate.reason =
        NameIsReserved(candidate.name()) +
        "; or, if this one is to be used in place of Bulkhead's own, write "
        "to grants.toml, each on a line of its own: [[grant]], backend = \"" +
        candidate.name() + "\", " +
        (candidate.plugin_hash.empty()
             ? "any_hash = true"
             : "hash = \"" + candidate.plugin_hash + "\"") +
        ", reserved_name = true";
    return;
  }
  // If the name is not new, an earlier backend has it.
  const auto [first, is_new] =
      backends_.try_emplace(candidate.name(), entry_point.file);
  if (is_new && !granted.empty()) granted_[candidate.name()] = granted;
  if (const auto by = granted_.find(candidate.name());
      !is_new && candidate.built_in && by != granted_.end()) {
    candidate.standing = Standing::kDisabled;
    candidate.reason = "replaced by " + first->second + ", to which " +
                       by->second + " grants the name";
    return;
  }
  if (!is_new) {
    candidate.standing = Standing::kBroken;
    candidate.reason = "a backend of this name is defined by " + first->second +
                       ", which comes first";
    return;
  }
  for (const std::string& device : candidate.manifest.devices) {
    if (device == kReservedDevice && !may_take_reserved) {
      diagnostics.push_back(
          {Diagnostic::Severity::kWarning, entry_point.file, entry_point.line,
           "the device " + device +
               " is that of a backend that comes with Bulkhead; this one "
               "is " +
               candidate.name() + "/" + device});
      continue;
    }
    const auto [holder, is_free] =
        devices_.try_emplace(device, candidate.name());
    if (is_free) {
      candidate.devices.push_back(device);
      continue;
    }
    diagnostics.push_back(
        {Diagnostic::Severity::kWarning, entry_point.file, entry_point.line,
         "the device " + device + " is that of the backend " + holder->second +
             ", which comes first; this one is " + candidate.name() + "/" +
             device});
  }
}

}  // namespace bulkhead::discovery
