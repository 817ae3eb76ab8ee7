// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/options.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <system_error>

#include "tools/cli/libexec.h"

namespace bulkhead::cli {
namespace {

std::string Absolute(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

}  // namespace

void AddGlobalOptions(CLI::App& app, GlobalOptions& global) {
  app.add_option("--plugin-path", global.plugin_path,
                 "Look for backends in DIR instead of the standard "
                 "directories; may be repeated")
      ->type_name("DIR")
      ->allow_extra_args(false);
  app.add_option("--sandbox-floor", global.sandbox_floor,
                 "Refuse to decode in a sandbox weaker than this: full "
                 "(default) or reduced (no namespaces)")
      ->type_name("TIER")
      ->check(CLI::IsMember({"full", "reduced"}));
  app.add_option("--libexec", global.libexec,
                 "Where bulkheadd and its companions are")
      ->type_name("DIR");
  app.add_option("--max-frame-pixels", global.max_frame_pixels,
                 "Refuse pictures with more pixels (default 64000000)")
      ->type_name("N");
  app.add_option("--max-session-bytes", global.max_session_bytes,
                 "Memory that one stream may take (default 1073741824)")
      ->type_name("N");
  app.add_option("--limit", global.limits,
                 "Set a limit: frame-pixels, session-bytes, streams or "
                 "index-frames, or a step's milliseconds: open-ms, scan-ms or "
                 "frame-ms; may be repeated")
      ->type_name("NAME=N")
      ->allow_extra_args(false)
      ->check([](const std::string& words) {
        HostOptions nobody;
        const Status status = SetLimit(words, nobody);
        return status.ok() ? std::string() : status.message();
      });
  app.add_flag("-q,--quiet", global.quiet, "Print nothing but errors");
}

Status SetLimit(const std::string& words, HostOptions& options) {
  const size_t equals = words.find('=');
  const std::string name = words.substr(0, equals);
  uint64_t value = 0;
  const char* const end = words.data() + words.size();
  const auto parsed =
      equals == std::string::npos
          ? std::from_chars_result{end, std::errc::invalid_argument}
          : std::from_chars(words.data() + equals + 1, end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end || value == 0 ||
      value > INT32_MAX * uint64_t{1'000'000}) {
    return Status(Code::kInvalidArgument,
                  "\"" + words + "\" is no limit; write NAME=N");
  }
  const std::chrono::milliseconds time(value);
  Limits& limits = options.limits;
  if (name == "frame-pixels") {
    limits.frame_pixels = value;
  } else if (name == "session-bytes") {
    limits.session_bytes = value;
  } else if (name == "streams" && value <= UINT32_MAX) {
    limits.streams = static_cast<uint32_t>(value);
  } else if (name == "index-frames") {
    limits.index_frames = value;
  } else if (name == "open-ms") {
    options.deadlines.open = time;
  } else if (name == "scan-ms") {
    options.deadlines.scan = time;
  } else if (name == "frame-ms") {
    options.deadlines.frame = time;
  } else {
    return Status(Code::kInvalidArgument,
                  "\"" + name +
                      "\" is no limit; there are frame-pixels, "
                      "session-bytes, streams, index-frames, open-ms, scan-ms "
                      "and frame-ms");
  }
  return Status();
}

HostOptions HostOptionsFrom(const GlobalOptions& global) {
  HostOptions options;
  if (!global.plugin_path.empty()) {
    options.plugin_path.emplace();
    for (const std::string& directory : global.plugin_path) {
      options.plugin_path->push_back(Absolute(directory));
    }
  }
  if (!global.sandbox_floor.empty()) {
    options.sandbox_floor = global.sandbox_floor == "full"
                                ? SandboxTier::kFull
                                : SandboxTier::kReduced;
  }
  options.libexec_dir = FindLibexec(
      global.libexec.empty() ? std::string() : Absolute(global.libexec));
  if (global.max_frame_pixels) {
    options.limits.frame_pixels = *global.max_frame_pixels;
  }
  if (global.max_session_bytes) {
    options.limits.session_bytes = *global.max_session_bytes;
  }
  for (const std::string& words : global.limits) {
    (void)SetLimit(words, options);  // It was checked when it was parsed.
  }
  return options;
}

}  // namespace bulkhead::cli
