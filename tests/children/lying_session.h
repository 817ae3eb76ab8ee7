// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <capnp/message.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ipc/message_socket.h"
#include "ipc/region_header.h"
#include "ipc/ring.h"
#include "ipc/schema/session.capnp.h"
#include "ipc/shared_region.h"
#include "ipc/waiter.h"

namespace bulkhead::tests {

// The properties of the stream that every lying worker serves: video, in
// kLyingFormat if the host asks for native pictures, or audio if it asks for
// audio.
inline constexpr uint32_t kLyingWidth = 64;
inline constexpr uint32_t kLyingHeight = 48;
inline constexpr char kLyingFormat[] = "yuv420p";
inline constexpr int64_t kLyingFrames = 24;
// The byte that a lie about pixels writes. No frame of the clip has it.
inline constexpr std::byte kLyingPixel{0xEE};
inline constexpr uint32_t kLyingRate = 8000;
inline constexpr uint32_t kLyingChannels = 2;
inline constexpr int64_t kLyingSamples = 2400;
inline constexpr int64_t kLyingBlock = 100;  // samples per `samples` record

// The worker's side of one session. Behaves as a real worker does, except for
// one lie at one step. Decodes nothing, but makes up its pictures and samples.
// Checks nothing, since its peer is the trusted host.
class LyingSession {
 public:
  // The step at which the lie replaces the message of an honest worker.
  enum class Step {
    kHello,
    kOpen,
    kDescribe,  // with a scan
    kScan,
    kAttachPool,
    kPlay,
    kSeek,     // a play that begins at a keyframe or continues onward
    kEntered,  // after the worker has said where a play begins
    kFrame,    // after three frames, or blocks of samples, of this life
  };
  struct Lie {
    Step step;
    // Tells the lie. Afterwards the worker stays silent, unless `tell` called
    // GoOn().
    std::function<void(LyingSession&)> tell;
  };

  // Serves the session until the process ends.
  [[noreturn]] static void Run(int socket, std::optional<Lie> lie);

  // The functions below are the building blocks of lies. `change` edits a
  // correct message before it is sent.
  void SendHello(uint32_t version);
  void Reply(const std::function<void(ipc::schema::Reply::Builder)>& fill,
             size_t max_words = 64);
  void ReplyOpened(
      const std::function<void(ipc::schema::Opened::Builder)>& change = {},
      size_t max_words = 128);
  void ReplyEntered(bool keyframe);

  void ReplyUnseen(
      const std::function<void(ipc::schema::UnseenFrame::Builder)>& change);
  // Takes the pool that the host offers, and says nothing.
  void TakePool();
  // Publishes a frame. Returns false if no slot is granted.
  bool Publish(const std::function<void(ipc::schema::PublishedFrame::Builder)>&
                   change = {});
  // Asks for a slot as a worker that has had `grants` grants.
  void ReplyNeedsSlot(uint32_t grants);
  // Asks for slots with room for a picture of this size, and takes what comes.
  void ReplyNeedsPool(uint32_t width, uint32_t height);
  // Does the same, and waits until it has a pool and a slot of it.
  void GrowTo(uint32_t width, uint32_t height);
  void ReplyOpenedAudio(
      const std::function<void(ipc::schema::OpenedAudio::Builder)>& change = {},
      size_t max_words = 128);
  // Publishes samples, each with its own number as the value. Returns false if
  // no slot is granted.
  bool PublishSamples(
      const std::function<void(ipc::schema::PublishedSamples::Builder)>&
          change = {});
  void ReplySkipping(int64_t reached);
  void ReplyLostSamples(int64_t first, int64_t count,
                        ipc::schema::Sign sign = ipc::schema::Sign::UNKNOWN);
  // Handles the next request, if there is one, as an honest worker does.
  void Listen();
  // Makes the worker behave honestly after this lie.
  void GoOn() { goes_on_ = true; }
  // Publishes `bytes` bytes of the reply ring that begin with this record
  // header.
  void PublishRecord(uint32_t length, uint64_t bytes);
  // Publishes a complete record with these words as its message.
  void PublishWords(const std::vector<uint64_t>& words);
  // Makes the worker wake the host for nothing that it sends from now on.
  void StopWaking() { wakes_ = false; }
  // Wakes the host, whether or not it sleeps.
  void WakeHost();
  // Fills the eventfd of a host with an event loop, so that no further wake
  // fits.
  void FillEventfd();
  // Writes what the kernel would write at the end of this thread.
  [[noreturn]] void AwaitEnd();

  int socket() const { return socket_; }
  uint32_t epoch() const { return epoch_; }
  ipc::RegionHeader* header() {
    return ipc::HeaderOf(replies_->writable_bytes());
  }
  const ipc::RegionHeader* host_header() {
    return ipc::HeaderOf(requests_->bytes());
  }
  // The number of the next frame or sample.
  int64_t position() const { return position_; }
  // The number of grants so far.
  uint32_t grants_taken() const { return grants_taken_; }
  uint64_t slot_bytes() const { return slot_bytes_; }
  // Returns the stride that the first plane of a picture of this size has.
  uint32_t StrideOf(uint32_t width, uint32_t height) const;
  // The whole frame pool.
  std::span<std::byte> pool() { return pool_->writable_bytes(); }
  // Returns the place of the next record in the reply ring.
  std::byte* next_record();
  const std::vector<std::pair<uint32_t, uint32_t>> grants() const {
    return {grants_.begin(), grants_.end()};
  }

 private:
  LyingSession(int socket, std::optional<Lie> lie)
      : socket_(socket), lie_(std::move(lie)) {}
  // Tells the lie if this is its step. Returns true if the lie was told and the
  // worker continues honestly.
  bool TellIf(Step step);
  void Attach();
  [[noreturn]] void Serve();
  void Handle(ipc::schema::Request::Reader request);
  void Scan();
  void Describe();
  void AttachPool();
  void Play(ipc::schema::Play::Reader play);
  bool CanPlay() const { return playing_ && !grants_.empty(); }
  void Advance();

  const int socket_;
  const std::optional<Lie> lie_;
  std::vector<ipc::UniqueFd> descriptors_;
  std::optional<ipc::MappedRegion> requests_;
  std::optional<ipc::MappedRegion> replies_;
  std::optional<ipc::MappedRegion> pool_;
  std::optional<ipc::RingReader> reader_;
  std::optional<ipc::RingWriter> writer_;
  std::optional<ipc::Waiter> waiter_;
  uint64_t slot_bytes_ = 0;
  std::deque<std::pair<uint32_t, uint32_t>> grants_;  // slot, generation
  uint32_t grants_taken_ = 0;
  bool is_audio_ = false;
  bool is_native_ = false;
  bool autoscales_ = true;
  bool playing_ = false;
  uint32_t epoch_ = 0;
  uint64_t frames_left_ = 0;
  int64_t position_ = 0;
  int published_ = 0;
  bool wakes_ = true;
  bool telling_ = false;
  bool goes_on_ = false;
};

// Returns the lie of that name, or nullopt if there is none.
std::optional<LyingSession::Lie> FindLie(std::string_view name);
// Return what FindLie() returns. The first knows only the lies about audio, the
// second those about native pictures, the third those about pictures that keep
// their sizes, the fourth only workers that go on for ever by the least
// progress, the fifth those about the encoding of messages, the last those
// about the time at which pixels are written.
std::optional<LyingSession::Lie> FindAudioLie(std::string_view name);
std::optional<LyingSession::Lie> FindNativeLie(std::string_view name);
std::optional<LyingSession::Lie> FindSizeLie(std::string_view name);
std::optional<LyingSession::Lie> FindDrip(std::string_view name);
std::optional<LyingSession::Lie> FindWireLie(std::string_view name);
std::optional<LyingSession::Lie> FindPixelLie(std::string_view name);

}  // namespace bulkhead::tests
