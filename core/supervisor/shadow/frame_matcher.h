// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace bulkhead::shadow {

// A frame that the application got.
struct ShownFrame {
  uint64_t number = 0;
  int64_t pts = 0;  // ipc::kNoTimestamp: none
  double seconds = 0;
  uint64_t hash = 0;
  bool in_order = false;  // of Next()
  bool damaged = false;
  bool ended = false;  // no frame: the end of the stream, after `number`
};

// A picture that the shadow decoded; it decodes from the beginning, in order.
struct ShadowPicture {
  int64_t pts = 0;  // ipc::kNoTimestamp: none
  uint64_t hash = 0;
};

// Compares the frames that the application got of a stream with those that a
// shadow decodes, whichever comes first.
//
// Frames are paired by their timestamps, or by their numbers where timestamps
// are missing or do not ascend. A frame that the application got in order and
// the shadow lacks, or the other way round, is a difference too. What may have
// a harmless cause counts as not compared, since a false alarm is worse than a
// miss: frames that go back, frames marked as damaged, and everything after the
// shadow has met damage.
//
// Value type; does no I/O.
class FrameMatcher {
 public:
  struct Difference {
    uint64_t frame;
    double seconds;
    std::string words;
    uint64_t compared;  // frames, with this one
  };
  // The most frames that may wait for the shadow. Further ones are not
  // compared.
  static constexpr size_t kMostWaiting = 65'536;

  // `against` is the name of the shadow's device, for the words.
  explicit FrameMatcher(std::string against) : against_(std::move(against)) {}

  // Takes what the application got, in the order in which it got it.
  void Show(const ShownFrame& frame);
  void NotSent(uint64_t frames) { not_compared_ += frames; }
  // Returns whether a frame waits for a picture of the shadow.
  bool wants_picture() const { return !waiting_.empty(); }
  // Takes what the shadow decoded; call one of them if wants_picture().
  void Decoded(const ShadowPicture& picture);
  void Ended();
  void MetDamage();
  // Returns whether nothing that comes can be compared any more.
  bool over() const { return ended_ || damaged_; }
  // Counts what waits, and all that comes, as not compared.
  void GiveUp() { MetDamage(); }

  uint64_t compared() const { return compared_; }
  uint64_t differing() const { return differing_; }
  uint64_t not_compared() const { return not_compared_; }
  const std::optional<Difference>& first() const { return first_; }

 private:
  enum class Place { kBefore, kSame, kAfter, kUnknown };

  void Match();
  // Returns where the picture of the shadow lies, as seen from the frame.
  Place PlaceFor(const ShownFrame& frame) const;
  // Returns whether the frame is the next one after those that were paired, so
  // that neither of the two may leave anything out between.
  bool Follows(const ShownFrame& frame) const {
    return frame.in_order && frame.number == next_;
  }
  void Count(const ShownFrame& frame, const std::string& difference);
  void Skip(const ShownFrame& frame);

  const std::string against_;
  std::deque<ShownFrame> waiting_;
  std::optional<ShadowPicture> picture_;  // the latest, unless it was used
  uint64_t pictures_ = 0;
  std::optional<int64_t> last_pts_;  // of the picture before the latest one
  bool timed_ = true;  // every picture has a timestamp, and they ascend
  std::optional<uint64_t> next_ = 0;
  bool ended_ = false;
  bool damaged_ = false;
  uint64_t compared_ = 0;
  uint64_t differing_ = 0;
  uint64_t not_compared_ = 0;
  std::optional<Difference> first_;
};

}  // namespace bulkhead::shadow
