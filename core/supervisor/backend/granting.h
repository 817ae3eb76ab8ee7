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

// Combines what a backend asks for and what an operator granted to it.
//
// A grant is for one shared object, by its hash. If RECORD has a hash of the
// same kind, the two are compared, since every start compares RECORD's hash
// with the file. Otherwise the file has to be read, which takes time and is
// done when the backend is started.

// Says for each hash that was checked whether the object has that hash.
using HashVerdicts = std::map<std::string, bool>;

struct Granting {
  grants::Effective effective;
  // The permissions that count too if the file has the granted hash.
  grants::Effective pending;
  std::vector<std::string> unverified;  // the hashes of `pending`
  // Says what the backend asks for and does not get, with the command that
  // grants it, and which grants do not count and why.
  Diagnostics diagnostics;
};

Granting GrantTo(const discovery::BackendCandidate& candidate,
                 const grants::Grants& grants, const HashVerdicts& verdicts);

// Returns the permissions that count, and those that count only if the file has
// the granted hash, in words.
std::vector<std::string> GrantedTexts(const Granting& granting);

// Returns the permissions of a backend as its report lists them: `started_with`
// if the backend runs, otherwise what its next start gets (null). Adds to
// `diagnostics` what operators should know: grants that do not count, paths
// that cannot be granted, and grants that changed since the start.
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
