// SPDX-License-Identifier: Apache-2.0
#include "core/application/session/shadow_feed.h"

#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "core/application/supervisor_link/input_refusal.h"
#include "core/application/worker_link/output_options.h"
#include "core/worker_protocol/stream_opening.h"
#include "core/worker_protocol/stream_timing.h"
#include "ipc/frame_geometry.h"
#include "ipc/message_socket.h"

namespace bulkhead::session {
namespace {

namespace schema = ipc::schema;

// The time that closing a session may take.
constexpr std::chrono::milliseconds kClosePatience{500};

// Returns a random number; nullopt if the kernel has none yet.
std::optional<uint64_t> RandomNumber() {
  uint64_t number = 0;
  if (::getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number) {
    return std::nullopt;
  }
  return number;
}

bool IsDrawn(double share) {
  const auto number = RandomNumber();
  return number && std::ldexp(static_cast<double>(*number), -64) < share;
}

// Returns why the stream cannot have a shadow, or "" if it can.
std::string Obstacle(const supervisor_link::StartedWorker& started,
                     const std::string& against,
                     const worker_link::MediaInput& input,
                     const VideoOptions& options) {
  if (started.device == against || started.device == against + ":0") {
    return "it is on device " + started.device +
           ", with which it is to be compared; choose another one for "
           "HostOptions::shadow";
  }
  if (input.fd() < 0) {
    return "the media come from a reader of the application, which only the "
           "stream's own worker reads";
  }
  if (options.output_format == OutputFormat::kNative) {
    return "its frames are native planes, which devices make in different "
           "pixel formats";
  }
  if (!options.autoscale) {
    return "its frames keep their own sizes (autoscale is off), and the shadow "
           "compares frames of one size";
  }
  if (!options.backend_options.empty()) {
    return "it was opened with backend_options, which another backend does not "
           "know";
  }
  return "";
}

}  // namespace

std::unique_ptr<ShadowFeed> ShadowFeed::Draw(
    supervisor_link::SupervisorLink& supervisor,
    const supervisor_link::StartedWorker& started,
    const worker_link::MediaInput& input, const VideoOptions& options,
    const VideoMetadata& metadata, const Limits& limits) {
  const auto& shadow = supervisor.shadow();
  if (!shadow || !IsDrawn(shadow->share)) return nullptr;
  std::string obstacle = Obstacle(started, shadow->against, input, options);
  const auto key = RandomNumber();
  auto sockets = ipc::MakeSocketPair();
  if (!key || !sockets) obstacle = "the application has no descriptor left";
  // Even with an obstacle, bulkheadd is asked, because it also counts streams
  // that cannot be compared, and their frames.
  const bool compared = obstacle.empty();
  const Deadlines& deadlines = supervisor.deadlines();
  const auto fill = [&](schema::Shadow::Builder out) {
    out.setAgainst(shadow->against);
    out.setPath(input.name());
    out.setLeftOut(obstacle);
    if (!compared) return;
    out.setKey(*key);
    out.setWorkerBytes(limits.worker_bytes);
    out.setSharedBytes(limits.session_bytes);
    out.setStepMs(
        std::max({deadlines.open, deadlines.seek, deadlines.frame}).count());
    auto open = out.initOpen();
    worker_protocol::WriteOpening(
        {.kind = schema::StreamKind::VIDEO,
         .stream_index = metadata.stream_index,
         .threads = options.threads,
         .backend_options = {},
         .name_hint = input.name_hint(),
         .media_bytes = input.bytes(),
         .limits = limits,
         .patience =
             std::min({deadlines.open, deadlines.seek, deadlines.frame}) / 2,
         .allowed = options.allowed},
        open);
    open.setIgnoreErrors(supervisor_link::IgnoresErrors(options.on_corrupt));
    worker_link::WriteOutput(options, /*known=*/nullptr, open.initOutput());
  };
  std::vector<int> descriptors;
  if (compared) descriptors.push_back(input.fd());
  if (sockets) descriptors.push_back(sockets->second.get());
  supervisor.sessions().Shadow(started, fill, descriptors);
  if (!sockets) return nullptr;
  return std::unique_ptr<ShadowFeed>(new ShadowFeed(
      started.backend, metadata, key.value_or(0), std::move(sockets->first)));
}

ShadowFeed::ShadowFeed(std::string backend, const VideoMetadata& metadata,
                       uint64_t key, ipc::UniqueFd socket)
    : backend_(std::move(backend)),
      time_base_(metadata.time_base),
      bytes_per_pixel_(
          ipc::BytesPerPixel(worker_link::ElementOf(metadata.dtype))),
      hasher_(key),
      socket_(std::move(socket)) {}

ShadowFeed::~ShadowFeed() {
  if (!socket_ || not_sent_ == 0) return;
  capnp::MallocMessageBuilder message;
  message.initRoot<schema::ShadowedFrame>().setClosed(true);
  Send(message, kClosePatience);
}

bool ShadowFeed::wants_hashes() {
  // bulkheadd never sends data. When it stops comparing, it closes its end for
  // writing; recv() then returns 0 (end of data) and no error.
  char nothing = 0;
  wants_hashes_ = wants_hashes_ && ::recv(socket_.get(), &nothing, 1,
                                          MSG_PEEK | MSG_DONTWAIT) < 0;
  return wants_hashes_;
}

void ShadowFeed::Show(const std::string& backend,
                      const worker_link::PublishedFrame& frame, uint64_t number,
                      bool in_order) {
  if (!socket_) return;
  if (backend != backend_) {
    socket_.reset();
    return;
  }
  capnp::MallocMessageBuilder message;
  auto shown = message.initRoot<schema::ShadowedFrame>();
  shown.setNumber(number);
  shown.setPts(frame.pts);
  if (frame.pts != ipc::kNoTimestamp) {
    shown.setSeconds(worker_protocol::Seconds(frame.pts, time_base_));
  }
  if (wants_hashes()) {
    shown.setHash(hasher_(frame.lease->pixels(), frame.width, frame.height,
                          size_t{frame.width} * bytes_per_pixel_,
                          frame.stride));
  }
  shown.setInOrder(in_order);
  shown.setDamaged(frame.damaged);
  Send(message);
}

void ShadowFeed::End(uint64_t frames) {
  if (!socket_) return;
  capnp::MallocMessageBuilder message;
  auto end = message.initRoot<schema::ShadowedFrame>();
  end.setNumber(frames);
  end.setInOrder(true);
  end.setEnded(true);
  Send(message);
}

void ShadowFeed::Send(capnp::MessageBuilder& message,
                      std::chrono::milliseconds patience) {
  auto out = message.getRoot<schema::ShadowedFrame>();
  out.setNotSent(not_sent_);
  const auto sent = ipc::SendMessage(socket_.get(), message, {},
                                     ipc::Deadline::After(patience));
  if (sent) {
    not_sent_ = 0;
  } else if (sent.error().code == ipc::Code::kBackendLost) {
    socket_.reset();
  } else if (!out.getEnded()) {  // the end of the stream is no frame
    ++not_sent_;
  }
}

}  // namespace bulkhead::session
