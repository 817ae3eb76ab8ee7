// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/libexec.h"

#include <cstdlib>
#include <filesystem>

namespace bulkhead::cli {
namespace {

constexpr char kVariable[] = "BULKHEAD_LIBEXEC_DIR";

}  // namespace

std::string FindLibexec(const std::string& chosen) {
  if (!chosen.empty()) return chosen;
  if (secure_getenv(kVariable) != nullptr) return std::string();
  std::error_code error;
  const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return std::string();
  const std::filesystem::path built =
      program.parent_path().parent_path() / "dist" / "libexec";
  return std::filesystem::exists(built / "bulkheadd", error) ? built.string()
                                                             : std::string();
}

}  // namespace bulkhead::cli
