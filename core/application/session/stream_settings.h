// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <type_traits>

#include "core/application/session/current_worker.h"
#include "core/application/session/device_vetting.h"
#include "core/application/session/worker_recovery.h"
#include "core/application/supervisor_link/cancel_signal.h"
#include "core/application/supervisor_link/input_refusal.h"
#include "core/application/supervisor_link/observed_exit.h"
#include "core/application/supervisor_link/supervisor_link.h"
#include "core/application/worker_link/media_input.h"
#include "core/include/bulkhead/audio_decoder.h"
#include "core/include/bulkhead/host_options.h"

namespace bulkhead::session {

// Returns the device that `options` name, with what is needed to ask for its
// workers: the key of the input, the options for crash records, and the check
// whether the device declares that it does not decode the stream
// (DeviceVetting). `Options` is VideoOptions or AudioOptions.
template <typename Options>
DeviceChoice ChoiceOf(
    const std::shared_ptr<supervisor_link::SupervisorLink>& supervisor,
    const worker_link::MediaInput& input, const Options& options,
    const Limits& limits,
    const std::shared_ptr<supervisor_link::CancelSignal>& cancel) {
  constexpr bool kAudio = std::is_same_v<Options, AudioOptions>;
  const DeviceVetting::Wanted wanted{
      .device = options.device,
      .kind = kAudio ? StreamKind::kAudio : StreamKind::kVideo,
      .stream_index = options.stream_index,
      .stream_choice = options.stream_choice,
      .allowed = options.allowed};
  DeviceChoice choice{
      .device = options.device,
      .input_key = supervisor_link::InputKey(input.identity(), options),
      .request = {},
      .vetting = std::make_shared<DeviceVetting>(supervisor, input, wanted,
                                                 limits, cancel)};
  supervisor_link::SetOptions(options, choice.request);
  return choice;
}

// Returns the settings of a stream's WorkerRecovery. `elsewhere` are the
// options for the other device that options.on_failure names; nullopt if it
// names none.
template <typename Options>
WorkerRecovery::Settings SettingsOf(
    const std::shared_ptr<supervisor_link::SupervisorLink>& supervisor,
    const worker_link::MediaInput& input, const Options& options,
    const std::optional<Options>& elsewhere, const Limits& limits,
    const std::shared_ptr<supervisor_link::CancelSignal>& cancel) {
  WorkerRecovery::Settings settings{
      .device = ChoiceOf(supervisor, input, options, limits, cancel),
      .elsewhere = {},
      .observer = options.recovery_observer,
      .limits = limits,
      .cancel = cancel};
  if (elsewhere) {
    settings.elsewhere =
        ChoiceOf(supervisor, input, *elsewhere, limits, cancel);
  }
  return settings;
}

}  // namespace bulkhead::session
