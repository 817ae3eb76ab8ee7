// SPDX-License-Identifier: Apache-2.0
//
// Fuzzes the readers of what vendors install: RECORD and METADATA of a
// distribution, hashes, and wheels. The first byte of the input selects the
// reader; the rest is the file, the file name or the hash.

#include <fcntl.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/base/record_hash.h"
#include "core/base/text.h"
#include "core/discovery/distribution.h"
#include "ipc/unique_fd.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/scratch_directory.h"
#include "tools/install/archive.h"
#include "tools/install/record.h"
#include "tools/install/wheel.h"
#include "tools/install/wheel_name.h"

namespace {

using namespace bulkhead;

constexpr char kDistInfo[] = "acme-1.0.dist-info";

ipc::UniqueFd OpenDirectory(const std::string& path) {
  ipc::UniqueFd fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  FUZZ_CHECK(fd);
  return fd;
}

// Checks that a path stays below a directory that it is appended to.
void CheckStaysBelow(const std::string& path) {
  FUZZ_CHECK(!path.empty() && path.front() != '/');
  FUZZ_CHECK(path.find('\0') == std::string::npos);
  FUZZ_CHECK(("/" + path + "/").find("/../") == std::string::npos);
}

void CheckDiagnostics(const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics) {
    FUZZ_CHECK(IsValidUtf8(diagnostic.message));
    FUZZ_CHECK(diagnostic.message.size() < 4096);
  }
}

// The RECORD and the METADATA of a distribution that is installed already.
void FuzzInstalled(const char* file, std::string_view text) {
  static const fuzz::ScratchDirectory place;
  static const ipc::UniqueFd fd = OpenDirectory(place.path());
  place.Write(std::string(kDistInfo) + "/" + file, text);
  Diagnostics diagnostics;
  auto distribution = discovery::ReadDistribution(
      fd.get(), place.path(), kDistInfo, /*plain=*/false, diagnostics);
  FUZZ_CHECK(distribution);
  const auto record =
      discovery::ReadRecord(fd.get(), *distribution, diagnostics);
  FUZZ_CHECK(record);
  if (*record) {
    for (const discovery::RecordedFile& recorded : **record) {
      CheckStaysBelow(recorded.path);
      FUZZ_CHECK(discovery::CleanedRelativePath(recorded.path) ==
                 recorded.path);
    }
  }
  discovery::ReadMetadata(fd.get(), /*plain=*/true, *distribution, diagnostics);
  FUZZ_CHECK(distribution->normalized_name == "acme");
  FUZZ_CHECK(discovery::IsDistributionName(distribution->name));
  FUZZ_CHECK(NormalizedName(distribution->name) == "acme");
  FUZZ_CHECK(IsValidUtf8(distribution->version));
  CheckDiagnostics(diagnostics);
}

// A RECORD that is to be installed.
void FuzzRecord(std::string_view text) {
  const auto lines = install::ParseRecord(text);
  if (!lines) {
    FUZZ_CHECK(IsValidUtf8(lines.error().message()));
    return;
  }
  const auto again = install::ParseRecord(install::FormatRecord(*lines));
  FUZZ_CHECK(again && again->size() == lines->size());
  for (size_t i = 0; i < lines->size(); ++i) {
    const install::RecordLine& line = (*lines)[i];
    FUZZ_CHECK((*again)[i].path == line.path);
    FUZZ_CHECK((*again)[i].digest == line.digest);
    FUZZ_CHECK((*again)[i].size == line.size);
    FUZZ_CHECK(line.algorithm.has_value() == !line.digest.empty());
    if (!install::ValidatePath(line.path).ok()) continue;
    CheckStaysBelow(line.path);
    FUZZ_CHECK(discovery::CleanedRelativePath(line.path) == line.path);
  }
}

void FuzzHash(std::string_view text) {
  auto hash = RecordHash::Parse(text);
  if (!hash) return;
  hash->Add(std::span("abc", 3));
  if (hash->Matches()) FUZZ_CHECK(text.starts_with("sha"));
}

void FuzzWheelName(std::string_view text) {
  const auto name = install::ParseWheelName(text);
  if (!name) return;
  FUZZ_CHECK(discovery::IsDistributionName(name->name));
  std::string joined = name->name + "-" + name->version;
  if (!name->build.empty()) joined += "-" + name->build;
  joined += "-" + name->python + "-" + name->abi + "-" + name->platform;
  FUZZ_CHECK(joined + ".whl" == text);
  (void)install::ValidatePlatform(*name, "x86_64");
}

void FuzzWheel(std::string_view bytes) {
  static const fuzz::ScratchDirectory wheels;
  static const fuzz::ScratchDirectory staging;
  const std::string name = "acme-1.0-py3-none-any.whl";
  wheels.Write(name, bytes);
  const std::string path = wheels.path() + "/" + name;
  const auto archive = install::Archive::Open(path);
  if (archive) {
    for (const auto& entry : archive->entries()) {
      CheckStaysBelow(entry.path);
      FUZZ_CHECK(archive->Find(entry.path) != nullptr);
      const auto text = archive->ReadText(entry.path, 1 << 16);
      FUZZ_CHECK(!text || text->size() <= entry.size_untrusted);
    }
  }
  const ipc::UniqueFd fd = OpenDirectory(staging.path());
  const auto staged = install::StageWheel(path, fd.get());
  if (staged) {
    FUZZ_CHECK(archive && staged->dist_info == kDistInfo);
    for (const install::RecordLine& line : staged->files) {
      FUZZ_CHECK(install::ValidatePath(line.path).ok());
    }
    CheckDiagnostics(staged->diagnostics);
  }
  // What was refused leaves its files.
  for (const auto& entry :
       std::filesystem::directory_iterator(staging.path())) {
    std::error_code ignored;
    std::filesystem::remove_all(entry, ignored);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1,
                              size - 1);
  switch (data[0]) {
    case 'R':
      FuzzInstalled("RECORD", text);
      break;
    case 'M':
      FuzzInstalled("METADATA", text);
      break;
    case 'r':
      FuzzRecord(text);
      break;
    case 'h':
      FuzzHash(text);
      break;
    case 'w':
      FuzzWheelName(text);
      break;
    case 'z':
      FuzzWheel(text);
      break;
  }
  return 0;
}
