// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/backend/start_services.h"

#include <chrono>
#include <utility>

#include "core/control/text_list.h"

namespace bulkhead::backend {

using std::chrono::milliseconds;

StartServices::StartServices(kj::UnixEventPort& port, pid_t application_pid,
                             ipc::schema::Configuration::Reader configuration,
                             int application_pidfd, Programs programs,
                             const DecodingCheck& decoding)
    : places_(port),
      grants_(ToStrings(configuration.getGrantFiles())),
      quarantine_(configuration.getStateDirectory().cStr()),
      disabled_(configuration.getStateDirectory().cStr()),
      events_(application_pid),
      crashes_(configuration.getStateDirectory().cStr(), application_pidfd),
      ending_(port),
      context_{
          .port = port,
          .places = places_,
          .application_pidfd = application_pidfd,
          .reaper = std::move(programs.reaper),
          .worker = std::move(programs.worker),
          .start_deadline = milliseconds(configuration.getStartDeadlineMs()),
          .worker_deadline = milliseconds(configuration.getWorkerDeadlineMs()),
          .attempts_per_position = configuration.getAttemptsPerPosition(),
          .failures_per_backend = configuration.getFailuresPerBackend(),
          .held_parts = held_parts_,
          .task_limits = task_limits_,
          .grants = grants_,
          .quarantine = quarantine_,
          .disabled = disabled_,
          .events = events_,
          .crashes = crashes_,
          .killed = killed_,
          .ending = ending_,
          .decoding = decoding,
          .counters = counters_,
          .counts = counts_,
          .met_media = met_media_} {}

}  // namespace bulkhead::backend
