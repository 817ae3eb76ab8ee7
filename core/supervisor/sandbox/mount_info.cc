// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/mount_info.h"

#include <sys/sysmacros.h>

#include <sstream>
#include <utility>

namespace bulkhead::sandbox {
namespace {

// Undoes the escapes of the kernel, which writes a space as "\040", and a tab,
// a line feed and a backslash likewise.
std::string Unescaped(const std::string& text) {
  std::string plain;
  for (size_t at = 0; at < text.size(); ++at) {
    const std::string digits = text.substr(at, 4);
    if (digits.size() == 4 && digits[0] == '\\' &&
        digits.find_first_not_of("01234567", 1) == std::string::npos) {
      plain += static_cast<char>(std::stoi(digits.substr(1), nullptr, 8));
      at += 3;
    } else {
      plain += text[at];
    }
  }
  return plain;
}

}  // namespace

std::vector<MountInfo> ParseMountInfo(const std::string& text) {
  std::vector<MountInfo> mounts;
  std::istringstream lines(text);
  // id parent major:minor root point options [tags] - type source options
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    MountInfo mount;
    std::string skipped;
    unsigned major = 0, minor = 0;
    char colon = 0;
    words >> skipped >> skipped >> major >> colon >> minor >> mount.root >>
        mount.point;
    while (words >> skipped && skipped != "-") {
    }
    if (!(words >> mount.type >> skipped)) continue;
    words >> mount.options;
    mount.device = makedev(major, minor);
    mount.root = Unescaped(mount.root);
    mount.point = Unescaped(mount.point);
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

bool HasWord(const std::string& list, const std::string& word) {
  std::istringstream words(list);
  for (std::string entry; std::getline(words, entry, ',');) {
    if (entry == word) return true;
  }
  return false;
}

}  // namespace bulkhead::sandbox
