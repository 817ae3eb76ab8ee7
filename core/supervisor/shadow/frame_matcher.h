// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace bulkhead::shadow {

// A frame that the application got, or the end of the application's stream.
struct ShownFrame {
  uint64_t number = 0;    // the frame's number in the stream
  int64_t pts = 0;        // the timestamp, or ipc::kNoTimestamp
  double seconds = 0;     // the timestamp for people
  uint64_t hash = 0;      // of the pixels (core/control/picture_hasher.h)
  bool in_order = false;  // true for a frame that Next() returned
  bool damaged = false;
  bool ended = false;  // no frame: the stream ended after `number` frames
};

// A picture that the shadow decoded.
struct ShadowPicture {
  int64_t pts = 0;  // the timestamp, or ipc::kNoTimestamp
  uint64_t hash = 0;
};

// Compares the frames of a stream that the application got with the pictures of
// the shadow. The shadow is a second device that decodes the same stream from
// the beginning, in order. Either side may be ahead of the other.
//
// A frame and a picture are paired by timestamp, or by number where timestamps
// are missing or do not ascend. A frame that only one side has is a difference
// too, as long as the application reads in order. A false alarm is worse than a
// miss, so these frames count as not compared:
// - frames after a seek back, and frames that cannot be paired;
// - frames that are marked as damaged;
// - all frames after the shadow has met damage.
//
// Value type; does no I/O.
class FrameMatcher {
 public:
  struct Difference {
    uint64_t frame;  // the number of the application's frame
    double seconds;
    std::string words;  // completes "A and B differ in": "its picture"
    uint64_t compared;  // the number of compared frames, including this one
  };
  // The most frames that may wait for the shadow. Further ones are not
  // compared.
  static constexpr size_t kMostWaiting = 65'536;

  // `against` is the name of the shadow's device, for Difference::words.
  explicit FrameMatcher(std::string against) : against_(std::move(against)) {}

  // Takes the next frame that the application got.
  void Show(const ShownFrame& frame);
  // Counts frames that the application got, but whose hashes it could not send
  // to bulkheadd.
  void NotSent(uint64_t frames) { not_compared_ += frames; }
  // Returns whether a frame waits for a picture of the shadow.
  bool wants_picture() const { return !waiting_.empty(); }
  // These three take the shadow's next result: a picture, the end of its
  // stream, or damage. Call one of them when wants_picture() is true.
  void Decoded(const ShadowPicture& picture);
  void Ended();
  void MetDamage();
  // Returns true once the shadow has ended or met damage: no picture to compare
  // will come.
  bool over() const { return ended_ || damaged_; }
  // Counts the waiting frames and all later ones as not compared.
  void GiveUp() { MetDamage(); }

  // The numbers of frames so far. compared() includes differing().
  uint64_t compared() const { return compared_; }
  uint64_t differing() const { return differing_; }
  uint64_t not_compared() const { return not_compared_; }
  // The first difference, if there was one.
  const std::optional<Difference>& first() const { return first_; }

 private:
  enum class Place { kBefore, kSame, kAfter, kUnknown };

  // Compares waiting frames until one needs a picture that has not come yet.
  void Match();
  // Returns whether picture_ lies before or after the frame in the stream, or
  // is its counterpart. kUnknown: neither timestamp nor number says it.
  Place PlaceFor(const ShownFrame& frame) const;
  // Returns whether the frame directly follows the last paired frame, in order.
  // If so, a frame between the two on one side alone is a difference.
  bool Follows(const ShownFrame& frame) const {
    return frame.in_order && frame.number == next_;
  }
  // Counts a frame for which no picture will come, since over() is true.
  void JudgeWithoutPicture(const ShownFrame& frame);
  // Drops picture_, so that the next picture can come.
  void UsePicture();
  // Counts the frame as compared. An empty `difference` means that it is equal.
  void Count(const ShownFrame& frame, const std::string& difference);
  // Counts the frame as not compared.
  void Skip(const ShownFrame& frame);

  const std::string against_;
  std::deque<ShownFrame> waiting_;
  std::optional<ShadowPicture> picture_;  // the latest; empty once it was used
  uint64_t pictures_ = 0;
  std::optional<int64_t> last_pts_;  // of the last picture that was used
  bool timed_ = true;  // every picture has a timestamp, and they ascend
  // The number of the frame after the last pair; nullopt if the application did
  // not get that pair's frame in order.
  std::optional<uint64_t> next_ = 0;
  bool ended_ = false;
  bool damaged_ = false;
  uint64_t compared_ = 0;
  uint64_t differing_ = 0;
  uint64_t not_compared_ = 0;
  std::optional<Difference> first_;
};

}  // namespace bulkhead::shadow
