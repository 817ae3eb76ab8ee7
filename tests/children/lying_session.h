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

// What the streams of every lying worker look like: of video, and of audio,
// where that is asked for.
inline constexpr uint32_t kLyingWidth = 64;
inline constexpr uint32_t kLyingHeight = 48;
inline constexpr int64_t kLyingFrames = 24;
inline constexpr uint32_t kLyingRate = 8000;
inline constexpr uint32_t kLyingChannels = 2;
inline constexpr int64_t kLyingSamples = 2400;
inline constexpr int64_t kLyingBlock = 100;  // samples that are told at once

// The worker's side of one session, which behaves as a real one does, except
// for one lie that is told at one step. Decodes nothing: it makes its pictures
// up. No trust in anything, no checks: what it talks to is the host.
class LyingSession {
 public:
  // When a lie is told, in place of what an honest worker would say then.
  enum class Step {
    kHello,
    kOpen,
    kScan,
    kAttachPool,
    kPlay,
    kSeek,     // a play that begins at a keyframe or goes onward
    kEntered,  // after it said where a play begins
    kFrame,    // after three frames, or blocks of samples, of this life
  };
  struct Lie {
    Step step;
    // When it returns, the worker says nothing more, unless GoOn was called.
    std::function<void(LyingSession&)> tell;
  };

  // Never returns but by the end of the process.
  [[noreturn]] static void Run(int socket, std::optional<Lie> lie);

  // What lies are made of.
  void SendHello(uint32_t version);
  void Reply(const std::function<void(ipc::schema::Reply::Builder)>& fill,
             size_t max_words = 64);
  void ReplyOpened(
      const std::function<void(ipc::schema::Opened::Builder)>& change = {},
      size_t max_words = 128);
  void ReplyEntered(bool keyframe);
  // `change` makes it a lie.
  void ReplyUnseen(
      const std::function<void(ipc::schema::UnseenFrame::Builder)>& change);
  // False: no slot is granted.
  bool Publish(const std::function<void(ipc::schema::PublishedFrame::Builder)>&
                   change = {});
  void ReplyOpenedAudio(
      const std::function<void(ipc::schema::OpenedAudio::Builder)>& change = {},
      size_t max_words = 128);
  // Every sample is its own number. False: no slot is granted.
  bool PublishSamples(
      const std::function<void(ipc::schema::PublishedSamples::Builder)>&
          change = {});
  void ReplySkipping(int64_t reached);
  // Takes the next request, if there is one, as an honest worker would.
  void Listen();
  // From here on honest.
  void GoOn() { goes_on_ = true; }
  // Makes the host look, whether it sleeps or not.
  void WakeHost();
  // So that neither side's wakes fit any more.
  void FillEventfds();
  [[noreturn]] void AwaitEnd();

  int socket() const { return socket_; }
  uint32_t epoch() const { return epoch_; }
  ipc::RegionHeader* header() {
    return ipc::HeaderOf(replies_->writable_bytes());
  }
  const ipc::RegionHeader* host_header() {
    return ipc::HeaderOf(requests_->bytes());
  }
  // Of the frame or sample that comes next.
  int64_t position() const { return position_; }
  uint64_t slot_bytes() const { return slot_bytes_; }
  // All of the pool.
  std::span<std::byte> pool() { return pool_->writable_bytes(); }
  // Where the next record will lie.
  std::byte* next_record();
  const std::vector<std::pair<uint32_t, uint32_t>> grants() const {
    return {grants_.begin(), grants_.end()};
  }

 private:
  LyingSession(int socket, std::optional<Lie> lie)
      : socket_(socket), lie_(std::move(lie)) {}
  // True: the lie was told, and honest it goes on.
  bool TellIf(Step step);
  void Attach();
  [[noreturn]] void Serve();
  void Handle(ipc::schema::Request::Reader request);
  void Scan();
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
  bool is_audio_ = false;
  bool playing_ = false;
  uint32_t epoch_ = 0;
  uint64_t frames_left_ = 0;
  int64_t position_ = 0;
  int published_ = 0;
  bool telling_ = false;
  bool goes_on_ = false;
};

// nullopt: there is no lie of that name.
std::optional<LyingSession::Lie> FindLie(std::string_view name);
// Those of them about audio.
std::optional<LyingSession::Lie> FindAudioLie(std::string_view name);

}  // namespace bulkhead::tests
