// SPDX-License-Identifier: Apache-2.0
#include "core/grants/permissions.h"

#include <fnmatch.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <utility>

#include "core/base/status_macros.h"
#include "core/base/text.h"
#include "core/grants/ioctl_families.h"

namespace bulkhead::grants {
namespace {

using Texts = std::vector<std::string>;

constexpr size_t kMaxPathBytes = 1024;
constexpr std::string_view kWildcards = "*?[]";
constexpr std::string_view kDeviceFolder = "/dev/";
// The largest amounts: what a processor can address, and the kernel's largest
// number of pids.
constexpr uint64_t kMaxMemoryBytes = uint64_t{1} << 47;
constexpr uint64_t kMaxThreads = uint64_t{1} << 22;

Status Invalid(std::string message) {
  return Status(Code::kInvalidArgument, std::move(message));
}

bool HasControlCharacter(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
}

// Checks that a path is absolute and has single slashes and no "." or "..".
Status CheckPath(std::string_view path) {
  if (!path.starts_with('/') || path.size() < 2) {
    return Invalid(Quoted(path) + " should be an absolute path below /");
  }
  if (path.size() > kMaxPathBytes || HasControlCharacter(path) ||
      !IsValidUtf8(path)) {
    return Invalid(Quoted(path) +
                   " is too long or has characters that no path should have");
  }
  for (std::string_view rest = path; !rest.empty();) {
    rest.remove_prefix(1);
    const std::string_view name = rest.substr(0, rest.find('/'));
    if (name.empty() || name == "." || name == "..") {
      return Invalid(Quoted(path) +
                     " should have neither \"..\", \".\" nor \"//\" in it, and "
                     "no \"/\" at its end");
    }
    rest.remove_prefix(name.size());
  }
  return Status();
}

bool IsBelow(std::string_view path, std::string_view directory) {
  return path.size() > directory.size() && path.starts_with(directory) &&
         path[directory.size()] == '/';
}

bool IsAtOrBelow(std::string_view path, std::string_view directory) {
  return path == directory || IsBelow(path, directory);
}

Status CheckReadable(std::string_view path) {
  RETURN_IF_ERROR(CheckPath(path));
  for (const std::string_view refused : {"/dev", "/proc"}) {
    if (!IsAtOrBelow(path, refused)) continue;
    return Invalid(Quoted(path) + " cannot be granted for reading: " +
                   (refused == "/dev" ? "devices are granted as devices"
                                      : "it shows other processes"));
  }
  return Status();
}

Status CheckDevice(std::string_view glob) {
  RETURN_IF_ERROR(CheckPath(glob));
  if (!glob.starts_with(kDeviceFolder) ||
      glob.find('\\') != std::string_view::npos) {
    return Invalid(Quoted(glob) +
                   " should be a device node below /dev, with *, ? and [] as "
                   "the only wildcards");
  }
  return Status();
}

Status CheckFamily(std::string_view name) {
  if (FindIoctlFamily(name) != nullptr) return Status();
  return Invalid(Quoted(name) + " is no family of ioctls; there are " +
                 IoctlFamilyNames());
}

// Parses digits. `with_unit` allows K, M, G or T after them, which are powers
// of 1024.
std::optional<uint64_t> ParseAmount(std::string_view text, bool with_unit) {
  uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  const std::string_view unit(end, text.data() + text.size());
  if (unit.empty()) return number;
  constexpr std::string_view kUnits = "KMGT";
  const size_t at = kUnits.find(unit);
  if (!with_unit || unit.size() != 1 || at == std::string_view::npos) {
    return std::nullopt;
  }
  const int shift = 10 * (static_cast<int>(at) + 1);
  if (number > (~uint64_t{0} >> shift)) return std::nullopt;
  return number << shift;
}

std::string SizeText(uint64_t bytes) {
  std::string unit;
  for (const char* next : {"K", "M", "G", "T"}) {
    if (bytes % 1024 != 0) break;
    bytes /= 1024;
    unit = next;
  }
  return std::to_string(bytes) + unit;
}

Status AddTo(Texts& list, std::string_view value) {
  if (std::find(list.begin(), list.end(), value) != list.end()) return Status();
  if (list.size() >= kMaxPermissions) {
    return Invalid("there are more than " + std::to_string(kMaxPermissions) +
                   " of them");
  }
  list.emplace_back(value);
  return Status();
}

bool HasWildcard(const std::string& glob) {
  return glob.find_first_of(kWildcards) != std::string::npos;
}

bool GlobMatches(const std::string& glob, const std::string& path) {
  return fnmatch(glob.c_str(), path.c_str(),
                 FNM_PATHNAME | FNM_PERIOD | FNM_NOESCAPE) == 0;
}

// Returns the pattern of two globs, or nullopt if no node can match both.
std::optional<DevicePattern> IntersectGlobs(const std::string& asked,
                                            const std::string& granted) {
  // Two globs with wildcards are assumed to have a common node. Existing nodes
  // are matched against both later.
  if (HasWildcard(asked) && HasWildcard(granted)) {
    return DevicePattern{asked, granted};
  }
  // At most one glob has wildcards. The other one is a path, which has to
  // match.
  const bool matches = HasWildcard(asked) ? GlobMatches(asked, granted)
                                          : GlobMatches(granted, asked);
  if (!matches) return std::nullopt;
  return DevicePattern{asked, granted};
}

std::string DeviceText(const DevicePattern& pattern) {
  if (pattern.asked == pattern.granted || !HasWildcard(pattern.granted)) {
    return "device=" + pattern.granted;
  }
  if (!HasWildcard(pattern.asked)) return "device=" + pattern.asked;
  return "device=" + pattern.granted + " (as far as it is " + pattern.asked +
         ")";
}

// Removes the paths that lie below another path of the list.
template <typename List>
void KeepOutermost(List& paths) {
  const List all = paths;
  std::erase_if(paths, [&](const std::string& path) {
    return std::any_of(all.begin(), all.end(), [&](const std::string& other) {
      return IsBelow(path, other);
    });
  });
}

void AddRest(const Texts& ioctls, uint64_t memory_bytes, uint64_t threads,
             Texts& texts) {
  for (const std::string& name : ioctls) texts.push_back("ioctl=" + name);
  if (memory_bytes != 0) texts.push_back("memory=" + SizeText(memory_bytes));
  if (threads != 0) texts.push_back("threads=" + std::to_string(threads));
}

template <typename Predicate>
Texts Only(const Texts& list, Predicate predicate) {
  Texts some;
  std::copy_if(list.begin(), list.end(), std::back_inserter(some), predicate);
  return some;
}

bool Has(const Texts& list, const std::string& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

bool DevicePattern::Matches(const std::string& path) const {
  return GlobMatches(asked, path) && GlobMatches(granted, path);
}

Status AddPermission(std::string_view kind, std::string_view value_untrusted,
                     Permissions& permissions) {
  if (kind == "device") {
    RETURN_IF_ERROR(CheckDevice(value_untrusted));
    return AddTo(permissions.devices, value_untrusted);
  }
  if (kind == "read") {
    RETURN_IF_ERROR(CheckReadable(value_untrusted));
    return AddTo(permissions.read, value_untrusted);
  }
  if (kind == "ioctl") {
    RETURN_IF_ERROR(CheckFamily(value_untrusted));
    return AddTo(permissions.ioctls, value_untrusted);
  }
  if (kind == "memory" || kind == "threads") {
    const bool memory = kind == "memory";
    const uint64_t limit = memory ? kMaxMemoryBytes : kMaxThreads;
    const auto amount = ParseAmount(value_untrusted, memory);
    if (!amount || *amount == 0 || *amount > limit) {
      return Invalid(
          Quoted(value_untrusted) + " should be a number from 1 to " +
          (memory ? SizeText(limit) + ", such as 8G" : std::to_string(limit)));
    }
    (memory ? permissions.memory_bytes : permissions.threads) = *amount;
    return Status();
  }
  if (kind == "write" || kind == "read_write" || kind == "create") {
    return Invalid("writing can neither be asked for nor be granted");
  }
  return Invalid(Quoted(kind) +
                 " is no permission; there are device, read, ioctl, memory "
                 "and threads");
}

Status AddPermission(std::string_view text_untrusted,
                     Permissions& permissions) {
  const size_t equals = text_untrusted.find('=');
  if (equals == std::string_view::npos) {
    return Invalid(Quoted(text_untrusted) +
                   " should read KIND=VALUE, such as read=/usr/share/acme");
  }
  return AddPermission(text_untrusted.substr(0, equals),
                       text_untrusted.substr(equals + 1), permissions);
}

std::vector<std::string> ToTexts(const Permissions& permissions) {
  Texts texts;
  for (const std::string& glob : permissions.devices) {
    texts.push_back("device=" + glob);
  }
  for (const std::string& path : permissions.read) {
    texts.push_back("read=" + path);
  }
  AddRest(permissions.ioctls, permissions.memory_bytes, permissions.threads,
          texts);
  return texts;
}

std::vector<std::string> ToTexts(const Effective& effective) {
  Texts texts;
  for (const DevicePattern& pattern : effective.devices) {
    texts.push_back(DeviceText(pattern));
  }
  for (const std::string& path : effective.read) {
    texts.push_back("read=" + path);
  }
  AddRest(effective.ioctls, effective.memory_bytes, effective.threads, texts);
  return texts;
}

std::string ToArguments(const Permissions& permissions) {
  std::string arguments;
  for (const std::string& text : ToTexts(permissions)) {
    const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
      return IsAsciiLetter(c) || IsAsciiDigit(c) ||
             std::string_view("=/._-,:+").find(c) != std::string_view::npos;
    });
    std::string word = text;
    if (!plain) {
      word = "'";
      for (const char c : text) word += c == '\'' ? "'\\''" : std::string(1, c);
      word += "'";
    }
    arguments += (arguments.empty() ? "" : " ") + word;
  }
  return arguments;
}

Effective Intersect(const Permissions& asked, const Permissions& granted) {
  Effective both;
  for (const std::string& a : asked.devices) {
    for (const std::string& g : granted.devices) {
      if (auto pattern = IntersectGlobs(a, g)) {
        both.devices.push_back(*std::move(pattern));
      }
    }
  }
  for (const std::string& a : asked.read) {
    for (const std::string& g : granted.read) {
      if (!IsAtOrBelow(a, g) && !IsBelow(g, a)) continue;
      // One path contains the other: both sides permit only the inner one.
      const std::string& inner = IsBelow(g, a) ? g : a;
      if (!Has(both.read, inner)) both.read.push_back(inner);
    }
  }
  KeepOutermost(both.read);
  both.ioctls = Only(asked.ioctls, [&](const std::string& name) {
    return Has(granted.ioctls, name);
  });
  both.memory_bytes = std::min(asked.memory_bytes, granted.memory_bytes);
  both.threads = std::min(asked.threads, granted.threads);
  return both;
}

Permissions Missing(const Permissions& asked, const Effective& effective) {
  Permissions missing;
  missing.devices = Only(asked.devices, [&](const std::string& glob) {
    return std::none_of(
        effective.devices.begin(), effective.devices.end(),
        [&](const DevicePattern& pattern) { return pattern.asked == glob; });
  });
  missing.read = Only(asked.read, [&](const std::string& path) {
    return std::none_of(effective.read.begin(), effective.read.end(),
                        [&](const std::string& granted) {
                          return IsAtOrBelow(path, granted) ||
                                 IsBelow(granted, path);
                        });
  });
  missing.ioctls = Only(asked.ioctls, [&](const std::string& name) {
    return !Has(effective.ioctls, name);
  });
  if (effective.memory_bytes == 0) missing.memory_bytes = asked.memory_bytes;
  if (effective.threads == 0) missing.threads = asked.threads;
  return missing;
}

Permissions Beyond(const Permissions& granted, const Permissions& asked) {
  Permissions beyond;
  // A glob counts as a part of `other` if `other` matches its text like a path.
  beyond.devices = Only(granted.devices, [&](const std::string& glob) {
    return std::none_of(asked.devices.begin(), asked.devices.end(),
                        [&](const std::string& other) {
                          return glob == other || GlobMatches(other, glob);
                        });
  });
  beyond.read = Only(granted.read, [&](const std::string& path) {
    return std::none_of(
        asked.read.begin(), asked.read.end(),
        [&](const std::string& other) { return IsAtOrBelow(path, other); });
  });
  beyond.ioctls = Only(granted.ioctls, [&](const std::string& name) {
    return !Has(asked.ioctls, name);
  });
  if (granted.memory_bytes > asked.memory_bytes) {
    beyond.memory_bytes = granted.memory_bytes;
  }
  if (granted.threads > asked.threads) beyond.threads = granted.threads;
  return beyond;
}

void Add(const Permissions& more, Permissions& permissions) {
  const auto add = [](const Texts& from, Texts& to) {
    for (const std::string& text : from) {
      if (!Has(to, text)) to.push_back(text);
    }
  };
  add(more.devices, permissions.devices);
  add(more.read, permissions.read);
  add(more.ioctls, permissions.ioctls);
  permissions.memory_bytes =
      std::max(permissions.memory_bytes, more.memory_bytes);
  permissions.threads = std::max(permissions.threads, more.threads);
}

void Remove(const Permissions& less, Permissions& permissions) {
  const auto remove = [](const Texts& what, Texts& from) {
    std::erase_if(from,
                  [&](const std::string& text) { return Has(what, text); });
  };
  remove(less.devices, permissions.devices);
  remove(less.read, permissions.read);
  remove(less.ioctls, permissions.ioctls);
  // An amount is revoked as a whole, whichever amount `less` has.
  if (less.memory_bytes != 0) permissions.memory_bytes = 0;
  if (less.threads != 0) permissions.threads = 0;
}

}  // namespace bulkhead::grants
