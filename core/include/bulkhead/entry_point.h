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

// Lower case, with each run of "-", "_" and "." made one "-" (PEP 503).
// Distributions whose normalized names are equal are the same one.
std::string NormalizedName(std::string_view name);

// What to select: every member that is set must be equal.
struct EntryPointQuery {
  std::optional<std::string> name;
  std::optional<std::string> value;
  std::optional<std::string> group;
  std::optional<std::string> module;
  std::optional<std::string> attr;
  std::optional<std::vector<std::string>> extras;
  // As its METADATA spells it or any other spelling of the same name.
  std::optional<std::string> distribution;
};

// One line of an installed distribution's entry_points.txt: a name by which it
// offers one of its objects. A plain value; nothing of it has been loaded. To
// load the backend that it names: Host::LoadBackend.
//
// Two are equal, and ordered, by name, value and group, as in Python; where
// they come from is no part of that.
struct EntryPoint {
  std::string name;
  std::string value;  // As written, trimmed: "module:attr [extras]".
  std::string group;
  std::string module;
  std::string attr;  // Empty: the module itself.
  std::vector<std::string> extras;
  std::string distribution;  // Its Name, as its METADATA spells it.
  std::string version;
  std::string file;
  uint32_t line = 0;

  bool Matches(const EntryPointQuery& query) const;

  bool operator==(const EntryPoint& other) const;
  std::strong_ordering operator<=>(const EntryPoint& other) const;
};

// Some entry points, in the order in which they were found. Immutable.
//
//   EntryPoints scripts = all.Select({.group = "console_scripts"});
//   for (const std::string& name : scripts.Names()) ...
//   Result<EntryPoint> torchrun = scripts.Named("torchrun");
class EntryPoints {
 public:
  EntryPoints() = default;
  explicit EntryPoints(std::vector<EntryPoint> entries)
      : entries_(std::move(entries)) {}

  EntryPoints Select(const EntryPointQuery& query) const;
  std::set<std::string> Names() const;
  std::set<std::string> Groups() const;
  // The first of that name. kNotFound lists the names there are.
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
