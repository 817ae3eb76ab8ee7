// SPDX-License-Identifier: Apache-2.0
#include "tools/install/staging.h"

#include <utility>

#include "core/base/text.h"
#include "tools/install/tree.h"

namespace bulkhead::install {

StagedFile::StagedFile(RecordLine expected)
    : expected_(std::move(expected)),
      digest_(expected_.algorithm.value_or(HashAlgorithm::kSha256)) {}

StagedFile StagedFile::Discarded(RecordLine expected) {
  return StagedFile(std::move(expected));
}

Result<StagedFile> StagedFile::Create(int staging, RecordLine expected,
                                      bool executable) {
  StagedFile file(std::move(expected));
  Result<ipc::UniqueFd> fd =
      CreateFile(staging, file.expected_.path, executable ? 0755 : 0644);
  if (!fd) return fd.error();
  file.fd_ = *std::move(fd);
  return file;
}

Status StagedFile::Append(std::span<const char> bytes_untrusted) {
  written_ += bytes_untrusted.size();
  if (written_ > expected_.size.value_or(0)) {
    return Status(Code::kBadInput,
                  Quoted(expected_.path) + " has more bytes than RECORD says");
  }
  digest_.Append(bytes_untrusted);
  if (!fd_) return Status();
  return WriteAll(fd_.get(), bytes_untrusted)
      .WithContext(Quoted(expected_.path));
}

Status StagedFile::Finish() {
  if (written_ != expected_.size.value_or(0)) {
    return Status(Code::kBadInput,
                  Quoted(expected_.path) + " has " + std::to_string(written_) +
                      " bytes, RECORD says " + std::to_string(*expected_.size));
  }
  if (digest_.Finish() != expected_.digest) {
    return Status(Code::kBadInput,
                  Quoted(expected_.path) +
                      " does not have the hash that RECORD says: it was "
                      "damaged or changed after it was packed");
  }
  return Status();
}

bool IsReplacedOnInstall(std::string_view name) {
  return name == "RECORD" || name == "INSTALLER" || name == "RECORD.jws" ||
         name == "RECORD.p7s";
}

}  // namespace bulkhead::install
