// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"
#include "backends/worker/media/buffers.h"
#include "backends/worker/media/decoder.h"
#include "backends/worker/media/delivery.h"
#include "backends/worker/media/demuxer.h"
#include "backends/worker/media/rgb_converter.h"
#include "backends/worker/media/slot_pool.h"
#include "ipc/message_socket.h"
#include "ipc/ring.h"
#include "ipc/schema/session.capnp.h"
#include "ipc/shared_region.h"
#include "ipc/unique_fd.h"
#include "ipc/waiter.h"

namespace bulkhead::worker {

// Whether the host has closed its end of a session's socket.
bool HostIsGone(int socket);

// One stream: demuxes, decodes through the backend, converts to RGB24 into
// granted slots, as the host asks (ipc/schema/session.capnp).
//
// Runs under the stage 2 lock-down, in a process of its own or, where the
// backend asks for it, on a thread of one that serves others too
// (shared_worker.h): it touches nothing global. One thread of ours; the backend
// may have more. Between two requests it decodes ahead into free slots, so that
// decoding overlaps with consuming. The host is trusted, the media is hostile,
// and what happens to this process is the sandbox's business.
class SessionWorker {
 public:
  // Says hello on `socket`, waits for the session's memory and media, and maps
  // them.
  static ipc::Expected<std::unique_ptr<SessionWorker>> Attach(
      const bulkhead_backend& backend, int socket);

  // Serves until the host closes the socket. Returns the exit code of the
  // process: a host that is still there waits for the end of that.
  int Run();

 private:
  struct Play {
    uint32_t epoch = 0;
    bool active = false;
    int64_t skip_before = 0;
    uint64_t frames_left = 0;
  };

  SessionWorker(const bulkhead_backend& backend, int socket,
                ipc::MappedRegion requests, ipc::MappedRegion replies,
                std::vector<ipc::UniqueFd> descriptors);

  ipc::Expected<void> Handle(ipc::schema::Request::Reader request);
  ipc::Expected<void> Open(ipc::schema::Open::Reader open);
  ipc::Expected<void> OpenDecoder();
  void ForgetFrame();
  void MakeDelivery();
  ipc::Expected<void> Scan();
  ipc::Expected<void> AttachPool();
  ipc::Expected<void> StartPlay(ipc::schema::Play::Reader play);
  ipc::Expected<void> SeekToBeginning();
  ipc::Expected<void> Describe(PictureSize size);

  // Decodes until frame_ holds the next picture; false at the end.
  ipc::Expected<bool> DecodeNext();
  // One step of the play: publishes, skips, or ends it. False: needs a slot.
  ipc::Expected<bool> Advance();
  ipc::Expected<void> Publish(const DeliveredFrame& delivered, int64_t pts,
                              int64_t duration, bool keyframe);
  bool CanAdvance() const;

  template <typename Fill>
  ipc::Expected<void> Reply(size_t max_words, Fill fill);
  ipc::Expected<void> ReplyFailed(uint32_t epoch, const ipc::Error& error);

  const bulkhead_backend& backend_;
  const int socket_;
  ipc::MappedRegion requests_;
  ipc::MappedRegion replies_;
  const std::vector<ipc::UniqueFd> descriptors_;
  ipc::RingReader reader_;
  ipc::RingWriter writer_;
  ipc::Waiter waiter_;

  // Of the stream; empty until it is opened.
  std::string name_hint_;
  int64_t media_bytes_ = 0;
  uint32_t device_ = 0;
  uint32_t threads_ = 1;
  uint32_t incarnation_ = 1;
  uint64_t max_frame_pixels_ = 0;
  std::vector<std::pair<std::string, std::string>> options_;
  std::unique_ptr<Demuxer> demuxer_;
  BufferProvider buffers_;
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<RgbConverter> converter_;
  uint32_t stride_ = 0;

  DecodedFrame frame_;         // decoded, not yet published
  bool frame_is_new_ = false;  // frame_ is the next one
  bool at_beginning_ = true;   // nothing but frame_ was decoded
  bool packets_ended_ = false;
  bool packet_pending_ = false;
  bool starved_ = false;  // frame_ waits for a slot, so for a request
  Play play_;

  std::optional<ipc::MappedRegion> pool_memory_;
  std::shared_ptr<SlotPool> pool_;
  // Last: it may hold frames of the decoder.
  std::unique_ptr<FrameDelivery> delivery_;
};

}  // namespace bulkhead::worker
