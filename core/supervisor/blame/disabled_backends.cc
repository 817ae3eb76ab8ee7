// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/blame/disabled_backends.h"

#include "core/base/digest.h"
#include "core/base/state_directory.h"
#include "core/base/status_macros.h"

namespace bulkhead::blame {
namespace {

constexpr size_t kMaxNameBytes = 4'096;

// A name of a backend may have characters that the name of a file may not.
std::string NameOf(const std::string& backend) {
  Digest digest(HashAlgorithm::kSha256);
  digest.Append(backend);
  return "disabled-" + digest.Finish();
}

}  // namespace

bool DisabledBackends::Contains(const std::string& backend) const {
  if (directory_.empty()) return false;
  const auto directory = StateDirectory::Open(directory_);
  if (!directory) return false;
  const auto name = directory->Read(NameOf(backend), kMaxNameBytes);
  return name && *name == backend;
}

Status DisabledBackends::Add(const std::string& backend) {
  if (directory_.empty()) return Status();
  ASSIGN_OR_RETURN(const StateDirectory directory,
                   StateDirectory::OpenOrCreate(directory_));
  return directory.Write(NameOf(backend), backend);
}

Status DisabledBackends::Remove(const std::string& backend) {
  if (directory_.empty()) return Status();
  const auto directory = StateDirectory::Open(directory_);
  if (directory) return directory->Remove(NameOf(backend));
  return directory.error().code() == Code::kNotFound ? Status()
                                                     : directory.error();
}

}  // namespace bulkhead::blame
