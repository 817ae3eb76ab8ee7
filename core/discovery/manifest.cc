// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/manifest.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/base/device_name.h"
#include "core/base/text.h"
#include "core/base/toml.h"
#include "core/discovery/distribution.h"
#include "core/grants/permissions_toml.h"

namespace bulkhead::discovery {
namespace {

constexpr size_t kMaxDevices = 64;
constexpr size_t kMaxCodecs = 1024;
constexpr size_t kMaxDiagnostics = 100;
constexpr size_t kMaxClipPathBytes = 256;

bool IsMd5(std::string_view text) {
  return text.size() == 32 &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool IsKnownKeyOfClip(std::string_view key) {
  return key == "clip" || key == "md5";
}

// Reads the keys of a parsed bulkhead.toml. Each function reads one key and
// leaves the default if the key is missing. An error refuses the backend.
class Reader {
 public:
  Reader(const std::string& file, ParsedManifest& result)
      : file_(file), result_(result) {}

  void Report(Diagnostic::Severity severity, const toml::source_region& where,
              const std::string& message) {
    const uint32_t line = where.begin.line;
    const std::string text = grants::AtColumn(where, message);
    if (severity == Diagnostic::Severity::kError && result_.refusal.empty()) {
      result_.refusal =
          line > 0 ? "bulkhead.toml, line " + std::to_string(line) + ", " + text
                   : "bulkhead.toml " + text;
    }
    if (result_.diagnostics.size() < kMaxDiagnostics) {
      result_.diagnostics.push_back({severity, file_, line, text});
    }
  }

  // Returns the value of `key`, or null if it is missing or not of type T.
  template <typename T>
  const toml::value<T>* Find(const toml::table& table, std::string_view key,
                             const std::string& type) {
    const toml::node* node = table.get(key);
    if (node == nullptr) return nullptr;
    if (const toml::value<T>* value = node->as<T>()) return value;
    Report(Diagnostic::Severity::kError, node->source(),
           std::string(key) + " should be " + type);
    return nullptr;
  }

  // Returns whether the value of `key` is the word `second`. A missing key
  // means `first`; any other value is an error.
  bool IsSecondOf(const toml::table& table, std::string_view key,
                  std::string_view first, std::string_view second) {
    const auto* value = Find<std::string>(table, key, "a string");
    if (value == nullptr || value->get() == first) return false;
    if (value->get() == second) return true;
    Report(Diagnostic::Severity::kError, value->source(),
           std::string(key) + " is " + Quoted(value->get()) +
               " but should be " + Quoted(first) + " or " + Quoted(second));
    return false;
  }

  void Abi(const toml::table& table, std::optional<AbiVersions>& abi) {
    const toml::node* node = table.get("abi");
    if (node == nullptr) return;
    if (const toml::value<int64_t>* version = node->as_integer()) {
      abi = {version->get(), version->get()};
      return;
    }
    const toml::array* range = node->as_array();
    if (range != nullptr && range->size() == 2) {
      const auto oldest = (*range)[0].value_exact<int64_t>();
      const auto newest = (*range)[1].value_exact<int64_t>();
      if (oldest && newest && *oldest <= *newest) {
        abi = {*oldest, *newest};
        return;
      }
    }
    Report(Diagnostic::Severity::kError, node->source(),
           "abi should be an integer, or an array of two: the oldest and the "
           "newest version");
  }

  void Devices(const toml::table& table, std::vector<std::string>& devices) {
    const toml::node* node = table.get("devices");
    if (node == nullptr) return;
    const toml::array* array = node->as_array();
    if (array == nullptr || array->empty() || array->size() > kMaxDevices) {
      Report(Diagnostic::Severity::kError, node->source(),
             "devices should be an array of 1 to " +
                 std::to_string(kMaxDevices) + " strings");
      return;
    }
    devices.clear();
    for (const toml::node& element : *array) {
      const toml::value<std::string>* name = element.as_string();
      if (name == nullptr || !IsPlainName(name->get())) {
        Report(Diagnostic::Severity::kError, element.source(),
               "a device's name has letters, digits, \"_\", \"-\" and \".\"");
      } else if (std::find(devices.begin(), devices.end(), name->get()) !=
                 devices.end()) {
        Report(Diagnostic::Severity::kWarning, element.source(),
               Quoted(name->get()) + " is listed twice");
      } else {
        devices.push_back(name->get());
      }
    }
  }

  // A list that is wrong is only a warning: the backend is used without it.
  void Codecs(const toml::table& table, std::vector<std::string>& codecs) {
    const toml::node* node = table.get("codecs");
    if (node == nullptr) return;
    const toml::array* array = node->as_array();
    bool sound = array != nullptr && array->size() <= kMaxCodecs;
    for (size_t i = 0; sound && i < array->size(); ++i) {
      const auto name = (*array)[i].value_exact<std::string>().value_or("");
      sound = IsPlainName(name);
      codecs.push_back(name);
    }
    if (sound) return;
    codecs.clear();
    Report(Diagnostic::Severity::kWarning, node->source(),
           "codecs is ignored: it should be an array of at most " +
               std::to_string(kMaxCodecs) + " of FFmpeg's names");
  }

  void HealthCheck(const toml::table& table, Manifest& manifest) {
    const toml::node* node = table.get("health_check");
    if (node == nullptr) return;
    const toml::array* array = node->as_array();
    if (array == nullptr || !array->is_array_of_tables() ||
        array->size() > kMaxHealthCheckClips) {
      Report(Diagnostic::Severity::kError, node->source(),
             "health_check should be 1 to " +
                 std::to_string(kMaxHealthCheckClips) +
                 " tables, each under [[health_check]]");
      return;
    }
    if (!manifest.streams.contains(StreamKind::kVideo)) {
      Report(Diagnostic::Severity::kError, node->source(),
             "health_check is for backends that decode video, and streams "
             "does not have it");
      return;
    }
    for (const toml::node& element : *array) {
      manifest.health_check.push_back(Clip(*element.as_table()));
    }
  }

  void Streams(const toml::table& table, std::set<StreamKind>& streams) {
    const toml::node* node = table.get("streams");
    if (node == nullptr) return;
    const toml::array* array = node->as_array();
    if (array == nullptr || array->empty()) {
      Report(Diagnostic::Severity::kError, node->source(),
             "streams should be an array of \"video\", \"audio\" or both");
      return;
    }
    streams.clear();
    for (const toml::node& element : *array) {
      const auto word = element.value<std::string>().value_or("");
      if (word == NameOf(StreamKind::kVideo)) {
        streams.insert(StreamKind::kVideo);
      } else if (word == NameOf(StreamKind::kAudio)) {
        streams.insert(StreamKind::kAudio);
      } else {
        // Only a warning: a later Bulkhead may know this kind, and the backend
        // can still decode the other kinds.
        Report(Diagnostic::Severity::kWarning, element.source(),
               "a kind of stream that is not \"video\" or \"audio\" is "
               "ignored");
      }
    }
  }

 private:
  HealthCheckClip Clip(const toml::table& table) {
    HealthCheckClip clip;
    const auto* path = table["clip"].as_string();
    if (path != nullptr && path->get().size() <= kMaxClipPathBytes) {
      clip.path = CleanedRelativePath(path->get()).value_or("");
    }
    if (clip.path.empty()) {
      Report(Diagnostic::Severity::kError,
             path != nullptr ? path->source() : table.source(),
             "clip should be the path of a file, relative to bulkhead.toml, "
             "without \"..\"");
    }
    const toml::array* md5s = table["md5"].as_array();
    bool sound = md5s != nullptr && !md5s->empty() &&
                 md5s->size() <= kMaxHealthCheckPictures;
    for (size_t i = 0; sound && i < md5s->size(); ++i) {
      clip.picture_md5s.push_back(
          (*md5s)[i].value_exact<std::string>().value_or(""));
      sound = IsMd5(clip.picture_md5s.back());
    }
    if (!sound) {
      Report(Diagnostic::Severity::kError,
             md5s != nullptr ? md5s->source() : table.source(),
             "md5 should be an array of 1 to " +
                 std::to_string(kMaxHealthCheckPictures) +
                 " strings of 32 of the digits 0 to 9 and a to f");
    }
    for (const auto& [key, node] : table) {
      if (IsKnownKeyOfClip(key.str())) continue;
      Report(
          Diagnostic::Severity::kWarning, key.source(),
          "unknown key " + Quoted(key.str()) + " of health_check is ignored");
    }
    return clip;
  }

  const std::string& file_;
  ParsedManifest& result_;
};

bool IsKnownKey(std::string_view key) {
  static constexpr std::string_view kKeys[] = {
      "schema_version", "abi",         "devices", "streams",     "start",
      "worker_scope",   "permissions", "codecs",  "health_check"};
  return std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys);
}

void Read(const toml::table& table, Reader& reader, Manifest& manifest) {
  if (const auto* schema =
          reader.Find<int64_t>(table, "schema_version", "an integer");
      schema != nullptr &&
      (schema->get() < 1 || schema->get() > kManifestSchemaVersion)) {
    // The meaning of the other keys is not known, so they are not checked.
    return reader.Report(
        Diagnostic::Severity::kError, schema->source(),
        "schema_version is " + std::to_string(schema->get()) +
            ", and this Bulkhead reads up to " +
            std::to_string(kManifestSchemaVersion) +
            ": update Bulkhead, or install an older release of the backend");
  }
  reader.Abi(table, manifest.abi);
  reader.Devices(table, manifest.devices);
  reader.Streams(table, manifest.streams);
  reader.Codecs(table, manifest.codecs);
  reader.HealthCheck(table, manifest);
  if (reader.IsSecondOf(table, "start", "clone", "exec")) {
    manifest.start = Manifest::Start::kExec;
  }
  if (reader.IsSecondOf(table, "worker_scope", "session", "backend")) {
    manifest.worker_scope = Manifest::WorkerScope::kBackend;
  }
  if (const toml::node* node = table.get("permissions")) {
    if (const toml::table* permissions = node->as_table()) {
      // A wrong permission is only a warning: the backend is used without it.
      manifest.permissions = grants::ReadPermissions(
          *permissions, {}, [&](const auto& where, const std::string& message) {
            reader.Report(Diagnostic::Severity::kWarning, where, message);
          });
    } else {
      reader.Report(Diagnostic::Severity::kError, node->source(),
                    "permissions should be a table");
    }
  }
  for (const auto& [key, node] : table) {
    if (!IsKnownKey(key.str())) {
      reader.Report(Diagnostic::Severity::kWarning, key.source(),
                    "unknown key " + Quoted(key.str()) + " is ignored");
    }
  }
}

}  // namespace

const char* NameOf(StreamKind kind) {
  return kind == StreamKind::kAudio ? "audio" : "video";
}

ParsedManifest ParseManifest(std::string_view text_untrusted,
                             const std::string& file,
                             const std::string& default_device) {
  ParsedManifest result;
  Reader reader(file, result);
  if (HasTooManyTomlDots(text_untrusted)) {
    reader.Report(Diagnostic::Severity::kError, {},
                  "has more than " + std::to_string(kMaxTomlDots) + " dots");
    return result;
  }
  const toml::parse_result parsed = toml::parse(text_untrusted);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    reader.Report(Diagnostic::Severity::kError, error.source(),
                  Quoted(error.description()));
    return result;
  }
  Manifest manifest;
  manifest.from_file = true;
  manifest.devices = {default_device};
  Read(parsed.table(), reader, manifest);
  if (result.refusal.empty()) result.manifest = std::move(manifest);
  return result;
}

}  // namespace bulkhead::discovery
