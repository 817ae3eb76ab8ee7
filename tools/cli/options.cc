// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/options.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

#include "tools/cli/libexec.h"

namespace bulkhead::cli {
namespace {

std::string Absolute(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

// The largest value of any limit. It keeps products of limits within 64 bits.
constexpr uint64_t kMost = uint64_t{1} << 50;
constexpr uint64_t kMostMilliseconds = 24 * 60 * 60 * 1000;

// A limit that --limit can set. The library's messages about a limit use the
// same names (ipc/limit_name.h), so that users can copy them.
struct Limit {
  const char* name;
  uint64_t most;
  void (*set)(HostOptions& options, uint64_t value);
};

// Returns the limit that sets a member of Limits.
template <auto Member>
constexpr Limit LimitOf(const char* name) {
  using Value =
      std::remove_reference_t<decltype(std::declval<Limits>().*Member)>;
  return {name, std::min<uint64_t>(std::numeric_limits<Value>::max(), kMost),
          [](HostOptions& options, uint64_t value) {
            options.limits.*Member = static_cast<Value>(value);
          }};
}

// Returns the limit that sets a member of Deadlines, in milliseconds.
template <auto Member>
constexpr Limit DeadlineOf(const char* name) {
  return {name, kMostMilliseconds, [](HostOptions& options, uint64_t value) {
            options.deadlines.*Member = std::chrono::milliseconds(value);
          }};
}

constexpr Limit kLimits[] = {
    LimitOf<&Limits::frame_pixels>("frame-pixels"),
    LimitOf<&Limits::session_bytes>("session-bytes"),
    LimitOf<&Limits::worker_bytes>("worker-bytes"),
    LimitOf<&Limits::frame_slots>("frame-slots"),
    LimitOf<&Limits::streams>("streams"),
    LimitOf<&Limits::packet_bytes>("packet-bytes"),
    LimitOf<&Limits::index_frames>("index-frames"),
    LimitOf<&Limits::kills_per_position>("kills-per-position"),
    DeadlineOf<&Deadlines::supervisor_start>("supervisor-start-ms"),
    DeadlineOf<&Deadlines::backend_start>("backend-start-ms"),
    DeadlineOf<&Deadlines::worker_start>("worker-start-ms"),
    DeadlineOf<&Deadlines::open>("open-ms"),
    DeadlineOf<&Deadlines::scan>("scan-ms"),
    DeadlineOf<&Deadlines::seek>("seek-ms"),
    DeadlineOf<&Deadlines::frame>("frame-ms"),
    DeadlineOf<&Deadlines::close>("close-ms"),
};

std::string LimitNames() {
  std::string names;
  for (const Limit& limit : kLimits) {
    names += (names.empty() ? "" : ", ") + std::string(limit.name);
  }
  return names;
}

// Returns the number in the text, or nullopt if it is no whole number from 1.
std::optional<uint64_t> NumberIn(std::string_view text) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  if (parsed.ec != std::errc() || parsed.ptr != end || value == 0) {
    return std::nullopt;
  }
  return value;
}

// Returns an error text for a value that is no number from 1 to kMost. CLI11
// itself would take -1, or too many digits, for the largest number.
std::string ProblemOfNumber(const std::string& text) {
  const auto value = NumberIn(text);
  if (value && *value <= kMost) return "";
  return "\"" + text + "\" is not a whole number from 1 to " +
         std::to_string(kMost);
}

Status TooLarge(const std::string& words, uint64_t most) {
  return Status(Code::kInvalidArgument,
                "\"" + words + "\" is too large; the largest value is " +
                    std::to_string(most));
}

// Returns the names in a list "A,B,...", also the empty ones.
std::vector<std::string> NamesOf(const std::string& list) {
  std::vector<std::string> names;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    names.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

std::vector<std::string> Joined(const std::vector<std::string>& lists) {
  std::vector<std::string> names;
  for (const std::string& list : lists) {
    for (std::string& name : NamesOf(list)) names.push_back(std::move(name));
  }
  return names;
}

// Returns an error text for a list with an empty name. CLI11 takes an empty
// list for an absent option, so an unset variable would allow everything.
std::string ProblemOfList(const std::string& list) {
  for (const std::string& name : NamesOf(list)) {
    if (!name.empty()) continue;
    return "\"" + list +
           "\" has an empty name; write the names that are allowed as A,B,... "
           "or leave the option out to allow all";
  }
  return std::string();
}

void AddListOption(Command& program, const std::string& name,
                   std::vector<std::string>& lists, const std::string& text) {
  program.AddOption(name + " A,B,...", &lists, text)
      .OneValueEach()
      .Check(ProblemOfList);
}

}  // namespace

void AddGlobalOptions(Command& program, GlobalOptions& global) {
  program
      .AddOption("--plugin-path DIR", &global.plugin_path,
                 "Look for backends in DIR instead of the standard "
                 "directories; may be repeated")
      .OneValueEach();
  program
      .AddOption("--sandbox-floor TIER", &global.sandbox_floor,
                 "Refuse to decode in a sandbox weaker than this: full "
                 "(default) or reduced (no namespaces)")
      .OneOf({"full", "reduced"});
  program.AddFlag("--require-memory-cgroup", &global.require_memory_cgroup,
                  "Refuse to decode unless a cgroup limits the memory of each "
                  "backend as a whole");
  program.AddOption("--libexec DIR", &global.libexec,
                    "The directory of bulkheadd and the programs it starts");
  program
      .AddOption("--max-frame-pixels N", &global.max_frame_pixels,
                 "Refuse pictures that have more than N pixels (default "
                 "64000000); the same as --limit frame-pixels=N")
      .Check(ProblemOfNumber);
  program
      .AddOption("--max-session-bytes N", &global.max_session_bytes,
                 "Bytes of memory that one stream may take (default "
                 "1073741824); the same as --limit session-bytes=N")
      .Check(ProblemOfNumber);
  program
      .AddOption("--limit NAME=N", &global.limits,
                 "Set a limit (" + LimitNames() + "); may be repeated")
      .OneValueEach()
      .Check([](const std::string& words) {
        HostOptions nobody;
        const Status status = SetLimit(words, nobody);
        return status.ok() ? std::string() : status.message();
      });
  program
      .AddOption("--allow SET", &global.allow,
                 "Open only these containers and codecs: all (default) or web, "
                 "which is what browsers play")
      .OneOf({"all", "web"});
  AddListOption(program, "--allow-containers", global.allow_containers,
                "Open only these containers, as probe names them; lists that "
                "are given together are joined");
  AddListOption(program, "--allow-codecs", global.allow_codecs,
                "Decode only these codecs, as probe names them; lists that are "
                "given together are joined");
  program.AddFlag("-q,--quiet", &global.quiet, "Print nothing but errors");
}

Status SetLimit(const std::string& words, HostOptions& options) {
  const size_t equals = words.find('=');
  const std::string name = words.substr(0, equals);
  const auto value = equals == std::string::npos
                         ? std::nullopt
                         : NumberIn(std::string_view(words).substr(equals + 1));
  if (!value) {
    return Status(Code::kInvalidArgument,
                  "\"" + words + "\" is not a limit; write NAME=N, N from 1");
  }
  for (const Limit& limit : kLimits) {
    if (name != limit.name) continue;
    if (*value > limit.most) return TooLarge(words, limit.most);
    limit.set(options, *value);
    return Status();
  }
  return Status(
      Code::kInvalidArgument,
      "\"" + name + "\" is not a limit; the limits are " + LimitNames());
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
  if (global.require_memory_cgroup) options.require_memory_cgroup = true;
  options.libexec_dir = FindLibexec(
      global.libexec.empty() ? std::string() : Absolute(global.libexec));
  if (global.allow == "web") options.allowed = AllowedMedia::Web();
  if (!global.allow_containers.empty()) {
    options.allowed.containers = Joined(global.allow_containers);
  }
  if (!global.allow_codecs.empty()) {
    options.allowed.codecs = Joined(global.allow_codecs);
  }
  if (global.max_frame_pixels) {
    options.limits.frame_pixels = *global.max_frame_pixels;
  }
  if (global.max_session_bytes) {
    options.limits.session_bytes = *global.max_session_bytes;
  }
  for (const std::string& words : global.limits) {
    (void)SetLimit(words, options);  // The parser has checked `words`.
  }
  return options;
}

}  // namespace bulkhead::cli
