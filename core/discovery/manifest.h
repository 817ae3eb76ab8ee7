// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/grants/permissions.h"
#include "core/include/bulkhead/diagnostic.h"

namespace bulkhead::discovery {

// The newest schema of bulkhead.toml that this library understands.
inline constexpr int64_t kManifestSchemaVersion = 1;

// Versions of the C ABI, from the oldest to the newest.
struct AbiVersions {
  int64_t oldest;
  int64_t newest;

  bool operator==(const AbiVersions&) const = default;
};

enum class StreamKind { kVideo, kAudio };

// Returns "video" or "audio". The string has static storage.
const char* NameOf(StreamKind kind);

// A clip that a package brings for the health checks of its backend, and the
// pictures that the backend has to decode from it.
struct HealthCheckClip {
  // Relative to the dist-info; has no "..".
  std::string path;
  // The MD5s of the RGB24 pixels of the first pictures, in order, as
  // core/base/picture_md5.h writes them.
  std::vector<std::string> picture_md5s;

  bool operator==(const HealthCheckClip&) const = default;
};
inline constexpr size_t kMaxHealthCheckClips = 4;
inline constexpr size_t kMaxHealthCheckPictures = 32;  // of one clip

// The contents of bulkhead.toml, an optional file in the dist-info in which a
// backend describes itself. Every line is optional too:
//
//   schema_version = 1
//   abi = 1                      # the ABI version of its function table; or
//                                # [1, 2]: the oldest and the newest it serves
//   devices = ["openreg"]        # default: the entry point's name
//   start = "clone"              # or "exec": each session loads it anew
//   streams = ["video"]          # kinds that it decodes; or "audio", or both
//   codecs = ["av1"]             # it decodes no other; default: not stated
//   worker_scope = "session"     # or "backend": one worker for all sessions
//   [permissions]                # asked for; the operator grants or does not
//   read = ["/usr/share/vendor"] # and further keys, see permissions_toml.h
//   [[health_check]]             # a clip of its own, for health checks
//   clip = "clip.ivf"            # beside bulkhead.toml, or in a folder there
//   md5 = ["0f...", "c4..."]     # of its first pictures, as `bulkhead decode`
//                                # prints them
//
// Trust: a stranger wrote the manifest. It can only narrow the uses of the
// backend and ask for permissions.
struct Manifest {
  // The way in which sessions start. kClone: one zygote has loaded the object,
  // and each session's worker is a clone of it. kExec: each session has
  // processes of its own, which load the object anew. An operator can require
  // kExec (selection.h), and kExec takes precedence over WorkerScope::kBackend.
  enum class Start { kClone, kExec };
  // kSession: each session has a worker of its own. kBackend: one worker serves
  // all sessions of the backend.
  enum class WorkerScope { kSession, kBackend };

  bool from_file = false;  // False: no file, all defaults.
  std::optional<AbiVersions> abi;
  std::vector<std::string> devices;
  std::set<StreamKind> streams = {StreamKind::kVideo};
  std::vector<std::string> codecs;  // FFmpeg's names; empty: not stated
  Start start = Start::kClone;
  WorkerScope worker_scope = WorkerScope::kSession;
  grants::Permissions permissions;
  std::vector<HealthCheckClip> health_check;

  bool operator==(const Manifest&) const = default;
};

// The result of ParseManifest.
struct ParsedManifest {
  // nullopt if the backend must not be used: the file cannot be parsed, has a
  // newer schema, or has a value of a wrong type. `refusal` says what is wrong.
  std::optional<Manifest> manifest;
  std::string refusal;
  Diagnostics diagnostics;  // All problems; unknown keys only warn.
};

// Parses a bulkhead.toml. `file` is used for messages; `default_device` is the
// name of the entry point. Thread-safe.
ParsedManifest ParseManifest(std::string_view text_untrusted,
                             const std::string& file,
                             const std::string& default_device);

}  // namespace bulkhead::discovery
