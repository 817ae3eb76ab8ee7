// SPDX-License-Identifier: Apache-2.0
#include "core/application/api/installed_place.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/auxv.h>

#include <filesystem>
#include <system_error>

namespace bulkhead {
namespace {

constexpr char kDefault[] = "/usr/lib/bulkhead/libexec";
constexpr char kPrograms[] = "bulkhead/libexec";

// Returns the path of the file that contains this function, libbulkhead.so or a
// program. Returns an empty text if the path is unknown.
std::string OwnFile() {
  Dl_info info = {};
  link_map* object = nullptr;
  const int found = dladdr1(reinterpret_cast<const void*>(&OwnFile), &info,
                            reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP);
  // The link_map of the program itself has an empty name.
  const bool shared = found != 0 && object != nullptr &&
                      object->l_name != nullptr && *object->l_name != '\0';
  std::error_code error;
  // Resolves links, as a package may link its library into other directories.
  const std::filesystem::path file = std::filesystem::canonical(
      shared ? object->l_name : "/proc/self/exe", error);
  return error ? std::string() : file.string();
}

}  // namespace

std::string LibexecBeside(const std::string& object) {
  namespace fs = std::filesystem;
  const fs::path directory = fs::path(object).parent_path();
  for (const fs::path& place :
       {directory / kPrograms, directory.parent_path() / kPrograms,
        directory.parent_path() / "lib" / kPrograms}) {
    std::error_code error;
    if (fs::is_regular_file(place / "bulkheadd", error)) return place.string();
  }
  return std::string();
}

std::string InstalledLibexec() {
  if (::getauxval(AT_SECURE) != 0) return kDefault;
  const std::string object = OwnFile();
  const std::string found = object.empty() ? object : LibexecBeside(object);
  return found.empty() ? kDefault : found;
}

}  // namespace bulkhead
