// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <type_traits>

#include "core/application/session/device_vetting.h"
#include "core/application/session/worker_recovery.h"
#include "core/application/supervisor_link/cancel_signal.h"
#include "core/application/supervisor_link/input_refusal.h"
#include "core/application/supervisor_link/observed_exit.h"
#include "core/application/supervisor_link/supervisor_link.h"
#include "core/application/worker_link/media_input.h"
#include "core/include/bulkhead/audio_decoder.h"
#include "core/include/bulkhead/host_options.h"
#include "core/include/bulkhead/video_options.h"

namespace bulkhead::session {

// Returns what the workers of a stream are to be like. `Options` is
// VideoOptions or AudioOptions; `elsewhere` are those for the device
// on_failure, if there is one.
template <typename Options>
WorkerRecovery::Settings SettingsOf(
    const std::shared_ptr<supervisor_link::SupervisorLink>& supervisor,
    const worker_link::MediaInput& input, const Options& options,
    const std::optional<Options>& elsewhere, const Limits& limits,
    const std::shared_ptr<supervisor_link::CancelSignal>& cancel) {
  constexpr bool kAudio = std::is_same_v<Options, AudioOptions>;
  const DeviceVetting::Wanted wanted{
      .device = options.device,
      .kind = kAudio ? StreamKind::kAudio : StreamKind::kVideo,
      .stream_index = options.stream_index,
      .stream_choice = options.stream_choice,
      .allowed = options.allowed};
  WorkerRecovery::Settings settings{
      .device = options.device,
      .input_key = supervisor_link::InputKey(input.identity(), options),
      .request = {},
      .observer = options.recovery_observer,
      .limits = limits,
      .cancel = cancel,
      .vetting = std::make_shared<DeviceVetting>(supervisor, input, wanted,
                                                 limits, cancel)};
  supervisor_link::SetOptions(options, settings.request);
  if (elsewhere) {
    settings.elsewhere =
        std::make_shared<WorkerRecovery::Settings>(SettingsOf<Options>(
            supervisor, input, *elsewhere, std::nullopt, limits, cancel));
  }
  return settings;
}

}  // namespace bulkhead::session
