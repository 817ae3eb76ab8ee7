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
#include "core/control/picture_hash.h"
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

// The second decoder of one stream of the application (HostOptions::shadow): a
// worker of another device that decodes the same media from the beginning, as
// far ahead as it has slots. The frames that the application got come over a
// socket, as hashes, and are compared in the event loop.
//
// It runs in bulkheadd because the application has no thread that could decode
// beside its own, and because a clip that is closed after a moment would
// otherwise never be compared to its end.
//
// Trust: the worker is hostile (worker_talk.h). Slots are checked against the
// ledger; a worker that answers without end, and without a picture, is ended;
// every step has a deadline. The application is trusted.
//
// Failure: the end of the worker ends the comparison and nothing else. It
// counts against no backend, since the media may be the cause.
//
// Bound to the event loop's thread.
class ShadowDecoder {
 public:
  struct Settings {
    std::string against;  // the device's canonical name, for the words
    PictureHasher hasher;
    sandbox::MemoryAllowance memory;
    std::chrono::milliseconds worker_deadline;
    std::chrono::milliseconds step_deadline;
  };

  // `open` is the request to the worker, in memory of its own. Run() uses it
  // and `media`. `changed` is called whenever the counts of matcher() have
  // changed.
  ShadowDecoder(kj::UnixEventPort& port, Settings settings,
                std::unique_ptr<capnp::MessageBuilder> open,
                ipc::UniqueFd media, ipc::UniqueFd frames,
                std::function<void()> changed);
  KJ_DISALLOW_COPY(ShadowDecoder);

  // Compares on `device` of `backend` until the application has closed its end
  // of the socket. Resolves with the reason why not everything could be
  // compared. Call it once.
  kj::Promise<Status> Run(std::shared_ptr<backend::Backend> backend,
                          const DeviceName& device);
  // Counts the frames of a stream that is not compared, until the application
  // has closed its end of the socket. Call it instead of Run().
  kj::Promise<void> CountOnly();
  // Returns whether the shadow has, or may get, a worker.
  bool decoding() const { return decoding_; }
  const FrameMatcher& matcher() const { return matcher_; }

 private:
  using Reply = ipc::schema::Reply;

  // Counts whatever the application sends from now on as not compared.
  void StopComparing();
  // Takes what the application sends, until it closes the socket.
  kj::Promise<void> TakeFrames();
  kj::Promise<Status> Start(const std::shared_ptr<backend::Backend>& backend,
                            const DeviceName& device);
  kj::Promise<Status> Open(uint32_t device);
  Status TakeOpened(Reply::Reader reply_untrusted);
  // Has the worker play, once it has attached its pool.
  kj::Promise<Status> Play();
  // Compares until the application has closed the stream, or nothing can be
  // compared any more.
  kj::Promise<Status> Compare();
  Status TakeEvent(Reply::Reader reply_untrusted);
  Status TakePicture(ipc::schema::PublishedFrame::Reader frame_untrusted);
  // Resolves once there is a frame to compare, or will never be one.
  kj::Promise<void> AwaitFrame();
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
  kj::Own<kj::PromiseFulfiller<void>> more_;  // null unless somebody waits
  std::unique_ptr<backend::WorkerTalk> talk_;
  worker_protocol::PictureShape shape_;
  uint32_t idle_replies_ = 0;  // since the last picture
  Status outcome_;
};

}  // namespace bulkhead::shadow
