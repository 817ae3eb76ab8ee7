// SPDX-License-Identifier: Apache-2.0
#include "core/include/bulkhead/entry_point.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace bulkhead {
namespace {

auto Key(const EntryPoint& entry_point) {
  return std::tie(entry_point.name, entry_point.value, entry_point.group);
}

template <typename T>
bool Allows(const std::optional<T>& wanted, const T& actual) {
  return !wanted || *wanted == actual;
}

}  // namespace

std::string NormalizedName(std::string_view name) {
  std::string normalized;
  bool separator = false;
  for (const char c : name) {
    if (c == '-' || c == '_' || c == '.') {
      separator = true;
      continue;
    }
    if (std::exchange(separator, false)) normalized += '-';
    normalized += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  if (separator) normalized += '-';
  return normalized;
}

bool EntryPoint::Matches(const EntryPointQuery& query) const {
  return Allows(query.name, name) && Allows(query.value, value) &&
         Allows(query.group, group) && Allows(query.module, module) &&
         Allows(query.attr, attr) && Allows(query.extras, extras) &&
         (!query.distribution ||
          NormalizedName(*query.distribution) == NormalizedName(distribution));
}

bool EntryPoint::operator==(const EntryPoint& other) const {
  return Key(*this) == Key(other);
}

std::strong_ordering EntryPoint::operator<=>(const EntryPoint& other) const {
  return Key(*this) <=> Key(other);
}

EntryPoints EntryPoints::Select(const EntryPointQuery& query) const {
  std::vector<EntryPoint> selected;
  std::copy_if(entries_.begin(), entries_.end(), std::back_inserter(selected),
               [&](const EntryPoint& entry) { return entry.Matches(query); });
  return EntryPoints(std::move(selected));
}

std::set<std::string> EntryPoints::Names() const {
  std::set<std::string> names;
  for (const EntryPoint& entry : entries_) names.insert(entry.name);
  return names;
}

std::set<std::string> EntryPoints::Groups() const {
  std::set<std::string> groups;
  for (const EntryPoint& entry : entries_) groups.insert(entry.group);
  return groups;
}

Result<EntryPoint> EntryPoints::Named(std::string_view name) const {
  for (const EntryPoint& entry : entries_) {
    if (entry.name == name) return entry;
  }
  std::string names;
  for (const std::string& known : Names()) {
    names += (names.empty() ? "" : ", ") + known;
  }
  return Status(Code::kNotFound,
                "there is no entry point \"" + std::string(name) + "\"; " +
                    (names.empty() ? "none was selected" : "known: " + names));
}

}  // namespace bulkhead
