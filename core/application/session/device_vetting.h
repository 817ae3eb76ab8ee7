// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/application/supervisor_link/cancel_signal.h"
#include "core/application/supervisor_link/supervisor_link.h"
#include "core/application/worker_link/media_input.h"
#include "core/include/bulkhead/host_options.h"
#include "core/include/bulkhead/metadata.h"
#include "core/include/bulkhead/video_options.h"

namespace bulkhead::session {

// Says whether the device that the caller named declares that it does not
// decode the stream, and which devices do. Asks a worker what the stream is:
// neither the application nor bulkheadd reads media. The worker runs
// Bulkhead's demuxers and no code of its vendor's; it is one of the device that
// the caller named, or of Bulkhead's own. It is hostile, but can only make this
// error wrong, not the stream.
//
// Not thread-safe. Each function takes as long as a worker needs to open a
// file.
class DeviceVetting {
 public:
  struct Wanted {
    std::string device;
    StreamKind kind = StreamKind::kVideo;
    std::optional<int> stream_index;
    StreamChoice stream_choice = StreamChoice::kFirst;
    AllowedMedia allowed;
  };

  DeviceVetting(std::shared_ptr<supervisor_link::SupervisorLink> supervisor,
                worker_link::MediaInput input, Wanted wanted,
                const Limits& limits,
                std::shared_ptr<supervisor_link::CancelSignal> cancel);

  // Returns kUnsupported if the device declares that it does not decode the
  // stream, and names those that do. Returns OK if it decodes the stream, or if
  // that cannot be found out. `describer` is the device whose worker is asked.
  Status Vet(const std::string& describer) const;

  // Adds the names of other devices to a failure, if it is kUnsupported because
  // of the stream. The backend of the device must have run.
  Status Explain(Status failure) const;

 private:
  // Returns the names of the devices that decode the stream, if the device
  // declares that it does not; an empty string otherwise.
  std::string Others(const StreamMetadata& stream) const;
  // Returns nullopt if that cannot be found out, and kCancelled if the call was
  // cancelled.
  Result<std::optional<StreamMetadata>> Stream(
      const std::string& describer) const;

  const std::shared_ptr<supervisor_link::SupervisorLink> supervisor_;
  const worker_link::MediaInput input_;
  const Wanted wanted_;
  const Limits limits_;
  const std::shared_ptr<supervisor_link::CancelSignal> cancel_;
};

}  // namespace bulkhead::session
