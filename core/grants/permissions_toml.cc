// SPDX-License-Identifier: Apache-2.0
#include "core/grants/permissions_toml.h"

#include <algorithm>
#include <cstdint>

#include "core/base/text.h"

namespace bulkhead::grants {
namespace {

// A key of the table, and the kind of permission that it holds.
struct Key {
  std::string_view toml;
  std::string_view kind;  // As AddPermission takes it.
  bool is_list;
};

constexpr Key kKeys[] = {
    {"devices", "device", true},   {"read", "read", true},
    {"ioctls", "ioctl", true},     {"memory_bytes", "memory", false},
    {"threads", "threads", false},
};

void ReadList(const Key& key, const toml::node& node, const ReportEntry& report,
              Permissions& permissions) {
  const toml::array* array = node.as_array();
  if (array == nullptr) {
    return report(node.source(), std::string(key.toml) +
                                     " is left out: it should be an array of "
                                     "strings");
  }
  for (const toml::node& element : *array) {
    const toml::value<std::string>* text = element.as_string();
    const Status added =
        text == nullptr
            ? Status(Code::kInvalidArgument, "it should be a string")
            : AddPermission(key.kind, text->get(), permissions);
    if (!added.ok()) {
      report(element.source(), "an entry of " + std::string(key.toml) +
                                   " is left out: " + added.message());
    }
  }
}

void ReadAmount(const Key& key, const toml::node& node,
                const ReportEntry& report, Permissions& permissions) {
  const toml::value<int64_t>* number = node.as_integer();
  const Status added =
      number == nullptr
          ? Status(Code::kInvalidArgument, "it should be an integer")
          : AddPermission(key.kind, std::to_string(number->get()), permissions);
  if (!added.ok()) {
    report(node.source(),
           std::string(key.toml) + " is left out: " + added.message());
  }
}

}  // namespace

Permissions ReadPermissions(const toml::table& table,
                            std::span<const std::string_view> other_keys,
                            const ReportEntry& report) {
  Permissions permissions;
  for (const Key& key : kKeys) {
    const toml::node* node = table.get(key.toml);
    if (node == nullptr) continue;
    (key.is_list ? ReadList : ReadAmount)(key, *node, report, permissions);
  }
  for (const auto& [name, node] : table) {
    const std::string_view text = name.str();
    const auto is = [&](const Key& key) { return key.toml == text; };
    if (std::any_of(std::begin(kKeys), std::end(kKeys), is) ||
        std::find(other_keys.begin(), other_keys.end(), text) !=
            other_keys.end()) {
      continue;
    }
    report(name.source(),
           text.find("write") == std::string_view::npos
               ? "unknown permission " + Quoted(text) + " is ignored"
               : Quoted(text) +
                     " is ignored: writing can neither be asked for nor be "
                     "granted");
  }
  return permissions;
}

std::string AtColumn(const toml::source_region& where,
                     const std::string& message) {
  return where.begin.line == 0
             ? message
             : "column " + std::to_string(where.begin.column) + ": " + message;
}

}  // namespace bulkhead::grants
