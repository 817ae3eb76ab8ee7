// SPDX-License-Identifier: Apache-2.0
#include "core/application/worker_link/media_identity.h"

#include <sys/random.h>

#include <array>

#include "core/base/digest.h"

namespace bulkhead::worker_link {
namespace {

// The most bytes that are hashed. That takes about 5 ms.
constexpr size_t kMaxHashedBytes = size_t{1} << 20;

}  // namespace

std::string IdentityOf(const struct stat& file) {
  std::string identity = "file";
  for (const int64_t number :
       {static_cast<int64_t>(file.st_dev), static_cast<int64_t>(file.st_ino),
        int64_t{file.st_size}, int64_t{file.st_mtim.tv_sec},
        int64_t{file.st_mtim.tv_nsec}}) {
    identity += " " + std::to_string(number);
  }
  return identity;
}

std::string IdentityOf(const std::string& name, int64_t bytes) {
  return "name " + std::to_string(bytes) + " " + name;
}

std::string IdentityOf(std::span<const std::byte> content) {
  Digest digest(HashAlgorithm::kSha256);
  if (!content.empty() && content.size() <= kMaxHashedBytes) {
    digest.Append(
        {reinterpret_cast<const char*>(content.data()), content.size()});
    return "content " + digest.Finish();
  }
  std::array<char, 32> random{};
  // getrandom() never fails for so few bytes once the machine has booted.
  (void)!::getrandom(random.data(), random.size(), 0);
  digest.Append({random.data(), random.size()});
  return "once " + digest.Finish();
}

}  // namespace bulkhead::worker_link
