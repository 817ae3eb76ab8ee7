// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "core/application/session/worker_recovery.h"
#include "core/application/supervisor_link/supervisor_link.h"
#include "core/application/worker_link/media_input.h"
#include "core/include/bulkhead/host.h"
#include "core/include/bulkhead/metadata.h"

namespace bulkhead::session {

// One Host::Probe: has a worker describe what is in an input, and another if
// that one dies. The worker decodes nothing, so any device's will do. Not
// thread-safe.
class ProbeSession : private WorkerRecovery::Client {
 public:
  static Result<ContainerMetadata> Run(
      std::shared_ptr<SupervisorLink> supervisor, const Source& source,
      const ProbeOptions& options, const Limits& limits);

 private:
  ProbeSession(std::shared_ptr<SupervisorLink> supervisor, MediaInput input,
               const std::string& device, const Limits& limits);

  Status OpenOn(WorkerLink& link, uint32_t incarnation) override;
  void WorkerLost(bool gone) override;

  Status Describe(WorkerLink& link, bool scan);
  Status TakeIfValid(WorkerLink& link,
                     ipc::schema::Described::Reader described_untrusted);

  const MediaInput input_;
  const Limits limits_;
  // What is known so far, and how many streams it is to have.
  ContainerMetadata container_;
  bool container_known_ = false;
  uint32_t stream_count_ = 0;
  WorkerRecovery recovery_;
};

}  // namespace bulkhead::session
