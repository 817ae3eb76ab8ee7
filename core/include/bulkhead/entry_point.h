// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bulkhead/status.h"

namespace bulkhead {

// Returns `name` in lower case, with each run of "-", "_" and "." replaced by
// one "-" (PEP 503). Two distributions with the same normalized name are the
// same distribution.
std::string NormalizedName(std::string_view name);

// A query for entry points. An entry point matches if it equals every member
// that is set.
struct EntryPointQuery {
  std::optional<std::string> name = {};
  std::optional<std::string> value = {};
  std::optional<std::string> group = {};
  std::optional<std::string> module = {};
  std::optional<std::string> attr = {};
  std::optional<std::vector<std::string>> extras = {};
  // The name of the distribution, in any spelling with the same NormalizedName.
  std::optional<std::string> distribution = {};
};

// One line of an installed distribution's entry_points.txt: the name under
// which the distribution offers one of its objects. A plain value that loads
// nothing; Host::LoadBackend loads the backend that an entry point names.
//
// As in Python, two entry points are equal, and ordered, by name, value and
// group; the place they come from does not count.
struct EntryPoint {
  std::string name;
  std::string value;  // As written, trimmed: "module:attr [extras]".
  std::string group;
  std::string module;
  std::string attr;  // Empty: the module itself is the object.
  std::vector<std::string> extras;
  std::string distribution;  // The Name as METADATA spells it.
  std::string version;
  std::string file;   // Path of the entry_points.txt.
  uint32_t line = 0;  // Line in `file`, from 1.

  bool Matches(const EntryPointQuery& query) const;

  bool operator==(const EntryPoint& other) const;
  std::strong_ordering operator<=>(const EntryPoint& other) const;
};

// A list of entry points, in the order in which they were found. Immutable, so
// const calls are safe from any number of threads.
//
//     EntryPoints scripts = all.Select({.group = "console_scripts"});
//     for (const std::string& name : scripts.Names()) Show(name);
//     Result<EntryPoint> torchrun = scripts.Named("torchrun");
class EntryPoints {
 public:
  EntryPoints() = default;
  explicit EntryPoints(std::vector<EntryPoint> entries)
      : entries_(std::move(entries)) {}

  // Returns the entry points that match, in the same order.
  EntryPoints Select(const EntryPointQuery& query) const;
  std::set<std::string> Names() const;
  std::set<std::string> Groups() const;
  // Returns the first entry point of that name. kNotFound if there is none; the
  // message lists the names there are.
  Result<EntryPoint> Named(std::string_view name) const;

  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }

  bool operator==(const EntryPoints&) const = default;

 private:
  std::vector<EntryPoint> entries_;
};

}  // namespace bulkhead
