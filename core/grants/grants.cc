// SPDX-License-Identifier: Apache-2.0
#include "core/grants/grants.h"

#include <optional>
#include <utility>

#include "core/base/device_name.h"
#include "core/base/record_hash.h"
#include "core/base/text.h"
#include "core/base/toml.h"
#include "core/grants/permissions_toml.h"

namespace bulkhead::grants {
namespace {

constexpr size_t kMaxGrants = 1000;
// The most diagnostics of a file. Every report to an operator has all of them.
constexpr size_t kMaxDiagnostics = 100;
constexpr std::string_view kOwnKeys[] = {"backend", "hash", "any_hash",
                                         "reserved_name"};

// Reads a parsed grants.toml and collects grants and problems.
class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  void Read(const toml::table& document) {
    for (const auto& [key, node] : document) {
      if (key.str() != "grant") {
        Report(Diagnostic::Severity::kWarning, key.source(),
               Quoted(key.str()) + " is ignored: there is only [[grant]]");
        continue;
      }
      const toml::array* array = node.as_array();
      if (array == nullptr || array->size() > kMaxGrants) {
        Report(Diagnostic::Severity::kError, node.source(),
               "grants are written as [[grant]], and at most " +
                   std::to_string(kMaxGrants) + " of them");
        continue;
      }
      for (const toml::node& element : *array) ReadElement(element);
    }
  }

  void Report(Diagnostic::Severity severity, const toml::source_region& where,
              const std::string& message) {
    if (result_.diagnostics.size() >= kMaxDiagnostics) return;
    result_.diagnostics.push_back(
        {severity, file_, where.begin.line, AtColumn(where, message)});
  }

  Grants Finish() && { return std::move(result_); }

 private:
  void ReadElement(const toml::node& node) {
    const toml::table* table = node.as_table();
    if (table == nullptr) {
      return Refuse(node.source(), "a grant is a table: [[grant]]");
    }
    const auto backend = (*table)["backend"].value_exact<std::string>();
    if (!backend || !IsPlainName(*backend)) {
      return Refuse(node.source(),
                    "the grant is ignored: backend should be the "
                    "name of a backend, as `bulkhead backends` shows it");
    }
    const auto hash = HashOf(*table);
    if (!hash) return;
    Grant grant{.backend = *backend,
                .hash = *hash,
                .file = file_,
                .line = node.source().begin.line};
    if (const toml::node* reserved = table->get("reserved_name")) {
      const auto value = reserved->value_exact<bool>();
      grant.reserved_name = value.value_or(false);
      if (!value) {
        Report(Diagnostic::Severity::kWarning, reserved->source(),
               "reserved_name is ignored: it should be true or false");
      }
    }
    grant.permissions = ReadPermissions(
        *table, kOwnKeys, [&](const auto& where, const std::string& message) {
          Report(Diagnostic::Severity::kWarning, where, message);
        });
    result_.grants.push_back(std::move(grant));
  }

  // Returns the hash of a grant, an empty string for any_hash, or nullopt if
  // the grant was refused.
  std::optional<std::string> HashOf(const toml::table& table) {
    const toml::node* any = table.get("any_hash");
    const toml::node* hash = table.get("hash");
    const bool is_any = any != nullptr && any->value_exact<bool>() == true;
    if (hash == nullptr) {
      if (is_any) return "";
      Refuse(table.source(),
             "the grant is ignored: it has no hash of the backend's "
             "shared object; `bulkhead grant` writes it, or say any_hash = "
             "true if any file of that name may have this");
      return std::nullopt;
    }
    const auto text = hash->value_exact<std::string>();
    const Status valid =
        !text ? Status(Code::kInvalidArgument, "hash should be a string")
        : any != nullptr ? Status(Code::kInvalidArgument,
                                  "it has both hash and any_hash; remove one")
                         : HashIsValid(*text);
    if (valid.ok()) return text;
    Refuse(hash->source(), "the grant is ignored: " + valid.message());
    return std::nullopt;
  }

  static Status HashIsValid(const std::string& text) {
    const auto parsed = RecordHash::Parse(text);
    return parsed ? Status() : parsed.error();
  }

  void Refuse(const toml::source_region& where, const std::string& message) {
    Report(Diagnostic::Severity::kError, where, message);
  }

  const std::string& file_;
  Grants result_;
};

}  // namespace

Grants ParseGrants(std::string_view text_untrusted, const std::string& file) {
  Reader reader(file);
  if (HasTooManyTomlDots(text_untrusted)) {
    reader.Report(Diagnostic::Severity::kError, {},
                  "grants nothing: it has more than " +
                      std::to_string(kMaxTomlDots) + " dots");
    return std::move(reader).Finish();
  }
  const toml::parse_result parsed = toml::parse(text_untrusted);
  if (parsed) {
    reader.Read(parsed.table());
  } else {
    reader.Report(Diagnostic::Severity::kError, parsed.error().source(),
                  "grants nothing until this error is repaired: " +
                      Quoted(parsed.error().description()));
  }
  return std::move(reader).Finish();
}

}  // namespace bulkhead::grants
