// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/options.h"

#include <CLI/CLI.hpp>
#include <filesystem>

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
  app.add_flag("-q,--quiet", global.quiet, "Print nothing but errors");
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
  return options;
}

}  // namespace bulkhead::cli
