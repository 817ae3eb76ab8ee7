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

// Finds out whether the wanted device, which the caller named, declares that it
// does not decode the stream, and which other devices declare that they do.
//
// Neither the application nor bulkheadd reads media, so a worker is asked to
// describe the stream (ProbeSession). The worker runs Bulkhead's demuxers and
// no code of a vendor. It belongs to the wanted device, or to one of Bulkhead's
// own devices. Trust: the worker is hostile, but a lie can only cause or spoil
// an error; it does not affect decoded frames.
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

  // Returns kUnsupported if the wanted device declares that it does not decode
  // the stream. The message names devices that do. Returns OK if the device may
  // decode the stream, or if the stream is unknown. `describer` is the device
  // whose worker describes the stream.
  Status Vet(const std::string& describer) const;

  // If `failure` is kUnsupported and the wanted device declares that it does
  // not decode the stream, adds the names of devices that do. The backend of
  // the wanted device must have run, since its worker describes the stream.
  Status Explain(Status failure) const;

 private:
  // If the wanted device declares that it does not decode the stream, returns
  // words that list the devices that do. If not, returns an empty string.
  std::string Others(const StreamMetadata& stream) const;
  // Has a worker of `describer` describe the stream. Returns nullopt if it
  // cannot, and kCancelled if the call was cancelled.
  Result<std::optional<StreamMetadata>> Stream(
      const std::string& describer) const;

  const std::shared_ptr<supervisor_link::SupervisorLink> supervisor_;
  const worker_link::MediaInput input_;
  const Wanted wanted_;
  const Limits limits_;
  const std::shared_ptr<supervisor_link::CancelSignal> cancel_;
};

}  // namespace bulkhead::session
