// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/memory_limit.h"

#include <sys/types.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "core/base/pidfd.h"

namespace bulkhead::sandbox {
namespace {

// The lines of /proc/PID/status with the memory that RLIMIT_DATA and RLIMIT_AS
// limit.
constexpr std::string_view kData = "VmData:";
constexpr std::string_view kSize = "VmSize:";

std::string Mebibytes(uint64_t bytes) {
  return std::to_string(bytes >> 20) + " MiB";
}

// Returns the contents of /proc/PID/`file`.
std::stringstream Read(int pidfd, const char* file) {
  std::stringstream text;
  text << std::ifstream("/proc/" + std::to_string(PidOf(pidfd)) + "/" + file)
              .rdbuf();
  return text;
}

// Returns the rest of the line of `file` that begins with `key`.
std::istringstream LineOf(std::istream& file, std::string_view key) {
  file.clear();
  file.seekg(0);
  return std::istringstream(bulkhead::LineOf(file, key));
}

// Returns the number of bytes in the line of /proc/PID/status that begins with
// `key`.
uint64_t StatusBytes(std::istream& status, std::string_view key) {
  uint64_t kibibytes = 0;
  LineOf(status, key) >> kibibytes;
  return kibibytes * 1024;
}

// Returns whether the process uses at most `bytes` and its soft and hard limits
// are at most `bytes`. `used` and `key` name the lines of /proc/PID/status and
// /proc/PID/limits, whose contents are in `status` and `limits`. With 0 bytes
// there is no limit.
bool IsLimited(std::istream& status, std::string_view used,
               std::istream& limits, std::string_view key, uint64_t bytes) {
  if (bytes == 0) return true;
  // A process that was cloned with more keeps it, whatever its limit is.
  if (StatusBytes(status, used) > bytes) return false;
  uint64_t soft = UINT64_MAX;
  uint64_t hard = UINT64_MAX;
  // The text "unlimited" is no number, so reading it fails, as it should.
  return (LineOf(limits, key) >> soft >> hard) && soft <= bytes &&
         hard <= bytes;
}

}  // namespace

Status CheckLoaded(int zygote_pidfd, const LoadedMemory& loading) {
  std::stringstream status = Read(zygote_pidfd, "status");
  const uint64_t bytes =
      StatusBytes(status, loading.maps_devices ? kData : kSize);
  if (bytes <= loading.most_bytes) return Status();
  return Status(
      Code::kBackendUnavailable,
      "it had " + Mebibytes(bytes) +
          " of memory mapped when it was loaded, "
          "more than the " +
          Mebibytes(loading.most_bytes) +
          " that a backend may have without a grant; if it needs them, its "
          "bulkhead.toml asks for memory_bytes and an operator grants them "
          "(bulkhead grant BACKEND memory=N)");
}

MemoryLimits LimitsFor(int zygote_pidfd, const MemoryAllowance& allowance,
                       const LoadedMemory& loading) {
  // Small enough that the sums below do not overflow.
  constexpr uint64_t kMost = uint64_t{1} << 61;
  if (allowance.private_bytes == 0) return {};
  std::stringstream status = Read(zygote_pidfd, "status");
  const uint64_t data =
      std::min(StatusBytes(status, kData), loading.most_bytes);
  const uint64_t size =
      std::min(StatusBytes(status, kSize), loading.most_bytes);
  const uint64_t more = std::min(allowance.private_bytes, kMost);
  MemoryLimits limits{.data_bytes = data + more};
  if (!loading.maps_devices) {
    limits.address_bytes =
        size + more + std::min(allowance.shared_bytes, kMost) + kReservedBytes;
  }
  return limits;
}

Status CheckMemoryLimits(int pidfd, const MemoryLimits& limits) {
  std::stringstream status = Read(pidfd, "status");
  std::stringstream allowed = Read(pidfd, "limits");
  const bool limited =
      IsLimited(status, kData, allowed, "Max data size", limits.data_bytes) &&
      IsLimited(status, kSize, allowed, "Max address space",
                limits.address_bytes);
  // Checked after reading: if the process has ended, its pid may have gone to
  // another process, and what was read means nothing.
  if (HasEnded(pidfd)) {
    return Status(Code::kBackendLost, "it ended while its limits were checked");
  }
  if (limited) return Status();
  return Status(Code::kSandboxUnavailable,
                "its memory is not limited to " +
                    std::to_string(limits.data_bytes) +
                    " bytes; it was ended before it saw any media");
}

}  // namespace bulkhead::sandbox
