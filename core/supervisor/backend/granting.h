// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/discovery/discover.h"
#include "core/grants/grants.h"
#include "core/grants/permissions.h"
#include "core/include/bulkhead/diagnostic.h"
#include "core/supervisor/sandbox/policy.h"

namespace bulkhead::backend {

// Functions that combine the permissions that a backend asks for with those
// that an operator granted to it.
//
// A grant may name the hash of one shared object, and then counts for that
// object alone. If RECORD (the distribution's list of its files) has a hash of
// the same algorithm, the two hashes are compared. That is enough, since every
// start compares RECORD's hash with the file. Without such a hash, the start
// hashes the file itself, which takes time.

// Maps each granted hash that was compared with the object to true if the
// object has that hash.
using HashVerdicts = std::map<std::string, bool>;

// The permissions of one backend, divided by whether their grants were checked.
struct Granting {
  // The permissions that count: asked for and granted.
  grants::Effective effective;
  // Further permissions, which count only if the object turns out to have the
  // hash that their grant names.
  grants::Effective pending;
  std::vector<std::string> unverified;  // the hashes of `pending`
  // Remarks for operators: grants that do not count, and permissions that the
  // backend asks for and nobody granted, with the command that grants them.
  Diagnostics diagnostics;
};

// Returns which of the grants count for the backend. `verdicts` has the hashes
// that were compared with its object.
Granting GrantTo(const discovery::BackendCandidate& candidate,
                 const grants::Grants& grants, const HashVerdicts& verdicts);

// Returns in words the permissions `effective` and `pending`.
std::vector<std::string> GrantedTexts(const Granting& granting);

// Returns in words the permissions of a backend. A running backend has those in
// `started_with`. If `started_with` is null, the backend does not run, and the
// permissions of its next start are returned. Adds to `diagnostics` what
// operators should know: grants that do not count, paths that the backend
// cannot get (`reach`: which files its sandbox can open), and grants that
// changed since the start.
std::vector<std::string> DescribeGrants(
    const discovery::BackendCandidate& candidate, const Granting& granting,
    sandbox::Reach reach, const grants::Effective* started_with,
    Diagnostics& diagnostics);

// Resolves the permissions to the paths, devices and limits that exist on this
// machine. Adds to `problems` a sentence about each permission that the backend
// does not get.
sandbox::Grants Resolve(const grants::Effective& effective,
                        std::vector<std::string>& problems);

}  // namespace bulkhead::backend
