// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "core/application/session/worker_recovery.h"
#include "core/application/supervisor_link/cancel_signal.h"
#include "core/application/supervisor_link/supervisor_link.h"
#include "core/application/worker_link/media_input.h"
#include "core/include/bulkhead/host.h"
#include "core/include/bulkhead/metadata.h"

namespace bulkhead::session {

// Serves one call of Host::Probe(): asks a worker to describe the container and
// the streams of an input, and asks another worker if the first one dies. The
// worker decodes nothing, so it can be of any device. Trust: the description
// comes from a hostile worker and is validated part by part. Lives for one
// call. Not thread-safe.
class ProbeSession : private WorkerRecovery::Client {
 public:
  // Opens the input and returns its description.
  static Result<ContainerMetadata> Run(
      std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
      const Source& source, const ProbeOptions& options, const Limits& limits);
  // Does the same for an input that is already open. `cancel` replaces the
  // cancellation in `options`.
  static Result<ContainerMetadata> Run(
      std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
      worker_link::MediaInput input, const ProbeOptions& options,
      const Limits& limits,
      std::shared_ptr<supervisor_link::CancelSignal> cancel);

 private:
  ProbeSession(std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
               worker_link::MediaInput input, const ProbeOptions& options,
               const Limits& limits,
               std::shared_ptr<supervisor_link::CancelSignal> cancel);

  Result<bool> OpenOn(worker_link::WorkerLink& link,
                      uint32_t incarnation) override;
  void WorkerLost(bool kept) override;

  // Asks for the description and fills container_. With `scan`, the worker
  // reads all packets first.
  Status Describe(worker_link::WorkerLink& link, bool scan);
  // Checks a progress report: the number of packets that the worker has read.
  Status CheckScanned(worker_link::WorkerLink& link,
                      uint64_t packets_untrusted);
  // Adds one part of the answer to container_.
  Status TakeIfValid(worker_link::WorkerLink& link,
                     ipc::schema::Described::Reader described_untrusted);

  const worker_link::MediaInput input_;
  const Limits limits_;
  const AllowedMedia allowed_;
  // The part of the description that has arrived so far. First comes the
  // container, then stream after stream, until there are stream_count_ streams.
  ContainerMetadata container_;
  bool container_known_ = false;
  uint32_t stream_count_ = 0;
  uint64_t packets_scanned_ = 0;  // as reported by the worker so far
  WorkerRecovery recovery_;
};

}  // namespace bulkhead::session
