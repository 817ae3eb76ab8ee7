// SPDX-License-Identifier: Apache-2.0
//
// Fuzzes the reader of grants.toml, and the changes that `bulkhead grant` and
// `bulkhead revoke` make to such a file. The input is the file.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/device_name.h"
#include "core/base/record_hash.h"
#include "core/base/text.h"
#include "core/grants/grants.h"
#include "core/grants/permissions.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/permissions_check.h"
#include "tools/grant_editing/grant_text.h"

namespace {

using bulkhead::IsValidUtf8;
using bulkhead::RecordHash;
using bulkhead::grant_editing::WithGrant;
using bulkhead::grant_editing::WithoutGrant;
using bulkhead::grants::Grant;
using bulkhead::grants::ParseGrants;
using bulkhead::grants::Permissions;

const std::string kFile = "/etc/bulkhead/grants.toml";

bool SameButForPlace(const Grant& a, const Grant& b) {
  return a.backend == b.backend && a.hash == b.hash &&
         a.permissions == b.permissions;
}

std::vector<Grant> OfOthers(std::string_view text, const std::string& backend) {
  auto all = ParseGrants(text, kFile).grants;
  std::erase_if(all,
                [&](const Grant& grant) { return grant.backend == backend; });
  return all;
}

void ExpectOthersKept(std::string_view before, std::string_view after,
                      const std::string& backend) {
  const auto a = OfOthers(before, backend);
  const auto b = OfOthers(after, backend);
  FUZZ_CHECK(
      std::equal(a.begin(), a.end(), b.begin(), b.end(), SameButForPlace));
}

void CheckGrant(const Grant& grant, size_t lines) {
  FUZZ_CHECK(bulkhead::IsPlainName(grant.backend));
  FUZZ_CHECK(grant.hash.empty() || RecordHash::Parse(grant.hash));
  FUZZ_CHECK(grant.file == kFile);
  FUZZ_CHECK(grant.line >= 1 && grant.line <= lines);
  CheckPermissions(grant.permissions);
}

void CheckAdding(std::string_view text, const std::string& backend,
                 const std::string& hash) {
  Permissions more;
  FUZZ_CHECK(AddPermission("read=/usr/share/acme", more).ok());
  FUZZ_CHECK(AddPermission("threads=7", more).ok());
  const auto edited = WithGrant(text, backend, hash, more);
  if (!edited) return;
  ExpectOthersKept(text, *edited, backend);
  const auto grants = ParseGrants(*edited, kFile).grants;
  FUZZ_CHECK(std::any_of(grants.begin(), grants.end(), [&](const Grant& grant) {
    return grant.backend == backend && grant.hash == hash &&
           Beyond(more, grant.permissions).empty();
  }));
}

void CheckRemoving(std::string_view text, const Grant& grant) {
  const auto revoked = WithoutGrant(text, grant.backend, std::nullopt);
  if (revoked) {
    ExpectOthersKept(text, *revoked, grant.backend);
    FUZZ_CHECK(OfOthers(*revoked, grant.backend).size() ==
               ParseGrants(*revoked, kFile).grants.size());
  }
  if (const auto less = WithoutGrant(text, grant.backend, grant.permissions)) {
    ExpectOthersKept(text, *less, grant.backend);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = ParseGrants(text, kFile);
  const size_t lines =
      1 + static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  FUZZ_CHECK(parsed.grants.size() <= 1000);
  for (const Grant& grant : parsed.grants) CheckGrant(grant, lines);
  FUZZ_CHECK(parsed.diagnostics.size() <= 100);
  for (const auto& diagnostic : parsed.diagnostics) {
    FUZZ_CHECK(diagnostic.file == kFile && diagnostic.line <= lines);
    FUZZ_CHECK(!diagnostic.message.empty());
    FUZZ_CHECK(diagnostic.message.size() < 2000);
    FUZZ_CHECK(IsValidUtf8(diagnostic.message));
  }
  CheckAdding(text, "newcomer", "");
  if (parsed.grants.empty()) return 0;
  const Grant& first = parsed.grants.front();
  CheckAdding(text, first.backend, first.hash);
  CheckRemoving(text, first);
  return 0;
}
