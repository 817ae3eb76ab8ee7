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

namespace bulkhead::supervisor {

// Brings together what a backend asks for and what an operator granted to it.
//
// A grant is for one shared object, by its hash. Where RECORD has a hash of the
// same kind the two are compared, since a start compares RECORD's with the
// file itself; otherwise the file has to be read, which takes its time and is
// done when the backend is started.

// Whether the object has that hash, as far as somebody has looked.
using HashVerdicts = std::map<std::string, bool>;

struct Granting {
  grants::Effective effective;
  // What it has besides if its file has the hash that was granted.
  grants::Effective pending;
  std::vector<std::string> unverified;  // those hashes
  // What it asks for and does not get, with the command that grants it; grants
  // that do not count, and why.
  Diagnostics diagnostics;
};

Granting GrantTo(const discovery::BackendCandidate& candidate,
                 const grants::Grants& grants, const HashVerdicts& verdicts);

// Returns the permissions that count, and those that count only if the file has
// the granted hash, in words.
std::vector<std::string> GrantedTexts(const Granting& granting);

// Returns the permissions of a backend as its report lists them: `started_with`
// if the backend runs, otherwise those of its next start (null). Adds to
// `diagnostics` what operators should know: grants that do not count, paths
// that cannot be granted, and grants that changed since the start.
std::vector<std::string> DescribeGrants(
    const discovery::BackendCandidate& candidate, const Granting& granting,
    bool own_uid, const grants::Effective* started_with,
    Diagnostics& diagnostics);

// What of it is there. `problems` are sentences about the rest, which the
// backend does not get.
sandbox::Grants Resolve(const grants::Effective& effective,
                        std::vector<std::string>& problems);

}  // namespace bulkhead::supervisor
