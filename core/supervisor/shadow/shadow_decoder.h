// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <capnp/message.h>
#include <kj/async-unix.h>
#include <kj/async.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/base/device_name.h"
#include "core/control/picture_hasher.h"
#include "core/include/bulkhead/status.h"
#include "core/supervisor/backend/backend.h"
#include "core/supervisor/backend/worker_talk.h"
#include "core/supervisor/shadow/frame_matcher.h"
#include "core/supervisor/sockets/event_socket.h"
#include "core/worker_protocol/published_output.h"
#include "ipc/frame_geometry.h"
#include "ipc/schema/control.capnp.h"
#include "ipc/unique_fd.h"

namespace bulkhead::shadow {

// The shadow of one stream of the application (HostOptions::shadow): a worker
// of another device that decodes the same media from the beginning, as far
// ahead as it has slots. Over a socket, the application sends the hashes of the
// frames that it gets. The event loop compares them with the worker's pictures.
//
// The shadow runs in bulkheadd because the application has no spare thread for
// it. Also, when the application closes the stream early, the shadow can still
// decode and compare up to the last frame that the application got.
//
// Trust: the worker is hostile (worker_talk.h). Each slot that it names must be
// granted to it. A worker that keeps answering without a picture is ended, and
// every step has a deadline. The application is trusted.
//
// Failure: the end of the worker ends the comparison and nothing else. It
// counts against no backend, since the media may be the cause.
//
// Bound to the event loop's thread.
class ShadowDecoder {
 public:
  struct Settings {
    std::string against;  // the shadow's device, for messages: "openreg:1"
    PictureHasher hasher;
    sandbox::MemoryAllowance memory;
    std::chrono::milliseconds worker_deadline;
    std::chrono::milliseconds step_deadline;
  };

  // `open` is the request that opens `media` in the worker; CountOnly() needs
  // neither. `frames` is the socket on which the application sends hashes.
  // `changed` is called whenever the counts of matcher() have changed.
  ShadowDecoder(kj::UnixEventPort& port, Settings settings,
                std::unique_ptr<capnp::MessageBuilder> open,
                ipc::UniqueFd media, ipc::UniqueFd frames,
                std::function<void()> changed);
  KJ_DISALLOW_COPY(ShadowDecoder);

  // Decodes on `device` of `backend` and compares until the application has
  // closed its end of the socket. Resolves with the reason why some frames
  // could not be compared, or OK. Call it once.
  kj::Promise<Status> Run(std::shared_ptr<backend::Backend> backend,
                          const DeviceName& device);
  // Only counts the frames of a stream that is not compared, until the
  // application has closed its end of the socket. Call it instead of Run().
  kj::Promise<void> CountOnly();
  // Returns whether the shadow has or will have a worker.
  bool decoding() const { return decoding_; }
  const FrameMatcher& matcher() const { return matcher_; }

 private:
  using Reply = ipc::schema::Reply;

  // Ends the worker, and counts all further frames as not compared.
  void StopComparing();
  // Receives the application's frames until it closes the socket.
  kj::Promise<void> TakeFrames();
  // The steps of the worker; each one begins the next.
  // - Start() clones the worker.
  // - Open() opens the media and attaches a pool.
  // - Play() begins to decode.
  // - Compare() takes pictures until the application has closed the stream, or
  //   nothing can be compared any more.
  kj::Promise<Status> Start(const std::shared_ptr<backend::Backend>& backend,
                            const DeviceName& device);
  kj::Promise<Status> Open(uint32_t device);
  kj::Promise<Status> Play();
  kj::Promise<Status> Compare();
  // Takes the worker's answer to Open(), and sends the pool.
  Status TakeOpened(Reply::Reader reply_untrusted);
  // Takes a reply to Play(): a picture, the end of the stream, or damage.
  Status TakeEvent(Reply::Reader reply_untrusted);
  Status TakePicture(ipc::schema::PublishedFrame::Reader frame_untrusted);
  // Resolves once the application has sent a frame's hash or closed the stream.
  kj::Promise<void> AwaitFrame();
  // Returns `step` with a deadline. `name` completes "it took too long to".
  kj::Promise<Status> WithinStep(kj::Promise<Status> step, const char* name);

  kj::UnixEventPort& port_;
  const Settings settings_;
  std::unique_ptr<capnp::MessageBuilder> open_;
  ipc::UniqueFd media_;
  sockets::EventSocket frames_;
  const std::function<void()> changed_;
  FrameMatcher matcher_;
  bool decoding_ = true;
  bool closed_ = false;  // the application has closed the stream
  kj::PromiseFulfillerPair<void> when_closed_ =
      kj::newPromiseAndFulfiller<void>();
  kj::Own<kj::PromiseFulfiller<void>> more_;  // resolves AwaitFrame()
  std::unique_ptr<backend::WorkerTalk> talk_;
  worker_protocol::PictureShape shape_;
  uint32_t idle_replies_ = 0;  // replies since the last picture
  Status outcome_;
};

}  // namespace bulkhead::shadow
