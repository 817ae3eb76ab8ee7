// SPDX-License-Identifier: Apache-2.0
#include "core/control/crash_note.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "core/base/clean_text.h"
#include "ipc/worker_exit.h"

namespace bulkhead {
namespace {

constexpr uint32_t kMaxFrames = 64;
constexpr size_t kMaxPlaceBytes = 160;
// The backend's sentence, which replaces a backtrace.
constexpr size_t kMaxSentenceBytes = 480;

}  // namespace

CrashClaim ReadCrashNote(ipc::schema::CrashNote::Reader note_untrusted) {
  CrashClaim claim{.signal = note_untrusted.getSignal(),
                   .address = note_untrusted.getAddress(),
                   .device_lost = note_untrusted.getDeviceLost(),
                   .backend_failed = note_untrusted.getBackendFailed()};
  const bool admission = IsAdmission(claim);
  if (admission) claim.signal = 0;
  if (admission) claim.address = 0;
  const auto frames = note_untrusted.getFrames();
  const uint32_t count = std::min({note_untrusted.getFrameCount(),
                                   frames.size(), admission ? 1 : kMaxFrames});
  for (uint32_t i = 0; i < count; ++i) {
    const auto place = frames[i].getPlace();
    const std::string_view text(reinterpret_cast<const char*>(place.begin()),
                                place.size());
    claim.backtrace.push_back(
        CleanText(text.substr(0, text.find('\0')),
                  admission ? kMaxSentenceBytes : kMaxPlaceBytes));
  }
  return claim;
}

// A claim about another signal than the kernel has reported is about another
// death.
void AddClaim(CrashClaim claim, ExitReport& report) {
  const int code =
      claim.device_lost ? ipc::kExitDeviceLost : ipc::kExitBackendFailed;
  const bool same =
      IsAdmission(claim)
          ? report.kind == ExitReport::Kind::kExited && report.value == code
          : report.kind == ExitReport::Kind::kSignaled &&
                report.value == claim.signal;
  if (!same) return;
  report.claimed_address = claim.address;
  report.claimed_backtrace = std::move(claim.backtrace);
}

void Write(const CrashClaim& claim, ipc::schema::CrashNote::Builder out) {
  out.setSignal(static_cast<uint8_t>(claim.signal));
  out.setDeviceLost(claim.device_lost);
  out.setBackendFailed(claim.backend_failed);
  out.setAddress(claim.address);
  out.setFrameCount(claim.backtrace.size());
  auto frames = out.initFrames(claim.backtrace.size());
  for (size_t i = 0; i < claim.backtrace.size(); ++i) {
    const std::string& place = claim.backtrace[i];
    auto bytes = frames[i].initPlace(place.size());
    std::copy(place.begin(), place.end(), bytes.begin());
  }
}

}  // namespace bulkhead
