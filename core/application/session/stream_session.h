// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "core/application/session/device_vetting.h"
#include "core/application/session/worker_recovery.h"
#include "core/application/supervisor_link/cancel_signal.h"
#include "core/application/supervisor_link/input_refusal.h"
#include "core/application/supervisor_link/observed_exit.h"
#include "core/application/supervisor_link/supervisor_link.h"
#include "core/application/worker_link/media_input.h"
#include "core/application/worker_link/worker_link.h"
#include "core/include/bulkhead/host_options.h"
#include "core/worker_protocol/frame_pool.h"
#include "ipc/damage_sign.h"

namespace bulkhead::session {

// The base of VideoSession and AudioSession. Owns the input, the memory that
// workers write their output into, and the worker, which is replaced when it
// dies. The derived class knows what is decoded and what the caller waits for.
//
// The memory outlives a worker that is known to have ended: the next worker is
// granted the slots that no frame of the caller occupies, as long as bulkheadd
// has the descriptor. The memory of a worker that may still run is left to it
// and to the caller's frames, and the next worker gets a new pool.
//
// Not thread-safe, except for Cancel().
class StreamSession : private WorkerRecovery::Client {
 public:
  StreamSession(const StreamSession&) = delete;
  StreamSession& operator=(const StreamSession&) = delete;

  const RecoveryStats& recovery() const { return recovery_.stats(); }
  // Returns the pid of the live worker, or 0 if there is none.
  int worker_pid() const;
  // Begins each call of the application, as WorkerRecovery::BeginCall() does.
  Status BeginCall() { return recovery_.BeginCall(); }
  void Cancel() { recovery_.Cancel(); }

 protected:
  // `Options` is VideoOptions or AudioOptions; `elsewhere` are those for the
  // device on_failure, if there is one.
  template <typename Options>
  StreamSession(const std::shared_ptr<SupervisorLink>& supervisor,
                MediaInput input, const Options& options,
                const std::optional<Options>& elsewhere, const Limits& limits,
                const std::shared_ptr<CancelSignal>& cancel)
      : input_(std::move(input)),
        limits_(limits),
        vetting_(VettingOf(supervisor, options, cancel)),
        vetting_elsewhere_(elsewhere ? VettingOf(supervisor, *elsewhere, cancel)
                                     : nullptr),
        recovery_(supervisor, input_, SettingsOf(options, elsewhere, cancel),
                  *this) {}
  ~StreamSession() = default;

  // Starts the first worker and has the stream opened.
  Status OpenFirst();

  // Uses another pool from now on; the caller attaches it to the worker.
  void ReplacePool(std::shared_ptr<FramePool> pool) { pool_ = std::move(pool); }

  const MediaInput& input() const { return input_; }
  const Limits& limits() const { return limits_; }
  WorkerRecovery& worker() { return recovery_; }
  // Returns how an error about damage quotes the backend, or libavformat where
  // that stopped; nothing if there are no words.
  static std::string Quote(const std::string& backend, const std::string& words,
                           ipc::DamageSign sign);

 private:
  template <typename Options>
  std::shared_ptr<const DeviceVetting> VettingOf(
      const std::shared_ptr<SupervisorLink>& supervisor, const Options& options,
      const std::shared_ptr<CancelSignal>& cancel) const {
    return std::make_shared<DeviceVetting>(supervisor, input_,
                                           WantedOf(options), limits_, cancel);
  }
  template <typename Options>
  WorkerRecovery::Settings SettingsOf(
      const Options& options, const std::optional<Options>& elsewhere,
      const std::shared_ptr<CancelSignal>& cancel) const {
    WorkerRecovery::Settings settings{
        .device = options.device,
        .input_key = InputKey(input_.identity(), options),
        .observer = options.recovery_observer,
        .limits = limits_,
        .cancel = cancel,
        .vet = [this](const std::string& describer) {
          return vetting_->Vet(describer);
        }};
    SetOptions(options, settings.request);
    if (elsewhere) {
      settings.elsewhere = std::make_shared<WorkerRecovery::Settings>(
          SettingsOf<Options>(*elsewhere, std::nullopt, cancel));
    }
    return settings;
  }
  template <typename Options>
  static DeviceVetting::Wanted WantedOf(const Options& options) {
    constexpr bool kAudio = std::is_same_v<Options, AudioOptions>;
    return {.device = options.device,
            .kind = kAudio ? StreamKind::kAudio : StreamKind::kVideo,
            .stream_index = options.stream_index,
            .stream_choice = options.stream_choice,
            .allowed = options.allowed};
  }

  // Opens the stream on `link`, which stays valid until LinkLost(). Returns
  // false if an earlier worker found another stream in the file.
  virtual Result<bool> OpenStream(WorkerLink& link, uint32_t incarnation) = 0;
  // Returns memory for the output of the stream that was opened.
  virtual Result<std::shared_ptr<FramePool>> MakePool() const = 0;
  // Forgets the link, which is about to be destroyed, and the play on it.
  virtual void LinkLost() = 0;
  // Uses the options for the device on_failure from now on.
  virtual void OptionsChanged() = 0;

  Status OpenOn(WorkerLink& link, uint32_t incarnation) final;
  void WorkerLost(bool kept) final;
  void DeviceChanged() final;

  const MediaInput input_;
  const Limits limits_;
  std::shared_ptr<const DeviceVetting> vetting_;  // of the present device
  std::shared_ptr<const DeviceVetting> vetting_elsewhere_;  // or null
  bool met_worker_ = false;
  std::shared_ptr<FramePool> pool_;  // null before the first stream was opened
  WorkerRecovery recovery_;
};

}  // namespace bulkhead::session
