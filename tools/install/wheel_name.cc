// SPDX-License-Identifier: Apache-2.0
#include "tools/install/wheel_name.h"

#include <algorithm>
#include <vector>

#include "core/base/text.h"
#include "core/discovery/distribution.h"

namespace bulkhead::install {
namespace {

constexpr std::string_view kSuffix = ".whl";

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// Returns whether the text is not empty and has only letters, digits, "_", "."
// and the characters in `also`.
bool IsWord(std::string_view text, std::string_view also) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return IsAsciiLetter(c) || IsAsciiDigit(c) || c == '_' || c == '.' ||
           also.find(c) != std::string_view::npos;
  });
}

bool IsLinux(std::string_view tag) {
  return tag.starts_with("linux_") || tag.starts_with("manylinux") ||
         tag.starts_with("musllinux_");
}

// Returns the machine of a Linux tag, "aarch64" for "manylinux_2_17_aarch64",
// and any other tag, such as "macosx_11_0_arm64", unchanged.
std::string_view BuiltFor(std::string_view tag) {
  constexpr std::string_view kMachines[] = {
      "x86_64", "i686",    "aarch64", "armv7l",  "armv6l",
      "ppc64",  "ppc64le", "s390x",   "riscv64", "loongarch64"};
  if (!IsLinux(tag)) return tag;
  for (const std::string_view machine : kMachines) {
    if (tag.ends_with("_" + std::string(machine))) return machine;
  }
  return tag;
}

}  // namespace

Result<WheelName> ParseWheelName(std::string_view file_name_untrusted) {
  const auto refused = [&](const char* why) {
    return Status(Code::kInvalidArgument,
                  Quoted(file_name_untrusted) + " is no wheel's name: " + why +
                      " (NAME-VERSION-PYTHON-ABI-PLATFORM.whl)");
  };
  std::string_view stem = file_name_untrusted;
  if (!stem.ends_with(kSuffix)) return refused("it does not end in .whl");
  stem.remove_suffix(kSuffix.size());
  std::vector<std::string_view> parts = Split(stem, '-');
  if (parts.size() != 5 && parts.size() != 6) {
    return refused("it has to have five or six parts with \"-\" between");
  }
  WheelName wheel;
  if (parts.size() == 6) {
    wheel.build = parts[2];
    parts.erase(parts.begin() + 2);
    if (!IsWord(wheel.build, "") || !IsAsciiDigit(wheel.build.front())) {
      return refused("the build number does not begin with a digit");
    }
  }
  if (!discovery::IsDistributionName(parts[0])) return refused("bad name");
  if (!IsWord(parts[1], "+!")) return refused("bad version");
  for (size_t i = 2; i < parts.size(); ++i) {
    if (!IsWord(parts[i], "")) return refused("bad tag");
  }
  wheel.name = parts[0];
  wheel.version = parts[1];
  wheel.python = parts[2];
  wheel.abi = parts[3];
  wheel.platform = parts[4];
  return wheel;
}

Status ValidatePlatform(const WheelName& wheel, std::string_view machine) {
  const std::vector<std::string_view> tags = Split(wheel.platform, '.');
  const std::string suffix = "_" + std::string(machine);
  for (const std::string_view tag : tags) {
    if (tag == "any" || (IsLinux(tag) && tag.ends_with(suffix))) {
      return Status();
    }
  }
  return Status(Code::kUnsupported,
                "built for " + std::string(BuiltFor(tags.front())) +
                    ", this machine is " + std::string(machine) +
                    ": get the wheel for this one");
}

}  // namespace bulkhead::install
