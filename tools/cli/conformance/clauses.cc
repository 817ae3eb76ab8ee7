// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/conformance/clauses.h"

#include <algorithm>
#include <iterator>

namespace bulkhead::cli::conformance {
namespace {

struct Clause {
  std::string_view id;
  std::string_view words;
};

constexpr Clause kClauses[] = {
#include "tools/cli/conformance/clauses.inc"
};

}  // namespace

std::string_view ClauseWords(std::string_view id) {
  const Clause* clause =
      std::find_if(std::begin(kClauses), std::end(kClauses),
                   [id](const Clause& each) { return each.id == id; });
  return clause == std::end(kClauses) ? std::string_view() : clause->words;
}

std::string ClauseNamedIn(std::string_view message) {
  constexpr std::string_view kBefore = "against its clause ";
  const size_t found = message.find(kBefore);
  if (found == std::string_view::npos) return "";
  const std::string_view rest = message.substr(found + kBefore.size());
  const std::string id(rest.substr(0, rest.find_first_of(",; ")));
  return ClauseWords(id).empty() ? "" : id;
}

}  // namespace bulkhead::cli::conformance
