// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bulkhead/frame.h"
#include "bulkhead/frame_iterator.h"
#include "bulkhead/frame_mapping.h"
#include "bulkhead/metadata.h"
#include "bulkhead/status.h"
#include "bulkhead/transforms.h"

namespace bulkhead {

namespace session {
class VideoSession;
}

// A worker died, or was killed for what it did, and the call during which that
// happened goes on with another as if nothing had been.
struct Recovery {
  std::string path;    // of the file, as it was given
  std::string device;  // "openreg:1"
  ExitReport cause;    // how the last of the workers ended, and where
  uint32_t attempts;   // workers that ended before it went on
  // From the first end that was noticed until the caller has what it waited
  // for.
  std::chrono::microseconds took;
};
// Called on the thread that is inside a call of the decoder and on no other,
// before that call returns. It may not use the decoder, and may not throw.
using RecoveryObserver = std::function<void(const Recovery&)>;

// kAuto: floats for a stream whose components have more than 8 bits.
enum class OutputDtype : uint8_t { kUint8, kFloat32, kAuto };

// How a frame is found by its index.
enum class SeekMode {
  // By an index: of one scan of all packets, or VideoOptions::frame_mappings.
  kExact,
  // By the header alone: frame i is the one nearest to begin + i / frame rate.
  // No scan; exact where the header is and the rate is constant.
  kApproximate,
};

// What a call does about frames that are damaged: lost, because their packets
// do not decode, or shown with parts that the decoder made up.
enum class OnCorrupt {
  // It fails with kBadInput, which names frame, time and place in the file. The
  // decoder stays usable, and the following Next() goes on behind the frame.
  kError,
  // Next() and batches leave them out. FrameAt fails as above. The decoder
  // ignores what errors it can, as `ffmpeg -err_detect ignore_err` does: frames
  // that kError refuses may be shown, and look wrong. Up to the first of them
  // both show the same.
  kSkip,
  // As kSkip, but indexed access gives the nearest frame that is sound; its
  // index and timestamp are its own. kBadInput where none is.
  kNearest,
};

struct VideoOptions {
  // "cpu", "openreg", "openreg:1", or "BACKEND/openreg:1" where two backends
  // have one of that name. A backend acts only when named. Empty:
  // HostOptions::default_device.
  std::string device;
  // Absolute index in the container; nullopt: the first video stream.
  std::optional<int> stream_index;
  uint32_t threads = 1;  // of the decoder; 0: it chooses
  SeekMode seek_mode = SeekMode::kExact;
  // Instead of the scan, and as exact as they are; not with kApproximate.
  // Empty: there are none. See ParseFrameMappings.
  std::vector<FrameMapping> frame_mappings;
  // An error by default: FFmpeg leaves damaged frames out or shows them without
  // a word, and what trains or judges by pictures should choose that.
  OnCorrupt on_corrupt = OnCorrupt::kError;
  // For the backend, uninterpreted here.
  std::vector<std::pair<std::string, std::string>> backend_options;
  DimensionOrder dimension_order = DimensionOrder::kNHWC;
  // Bytes are converted with 8 bits, floats with 16: of a stream of 10 bits
  // only floats tell all. Neither maps tones.
  OutputDtype output_dtype = OutputDtype::kUint8;
  std::vector<Transform> transforms;  // in order, after rotation
  // Told of each recovery, also of those while the file is opened.
  RecoveryObserver recovery_observer;
};

struct SecondsRange {
  double begin = 0;
  double end = 0;  // exclusive
};

// What the container and the first frame tell. The worker said so: plausible,
// bounded, but only as true as the file and the backend.
struct VideoMetadata : StreamTiming {
  int stream_index = 0;
  uint32_t stream_count = 0;
  std::string container;
  std::string codec;
  std::string pixel_format;
  uint32_t width = 0;  // of every frame: after rotation and transforms
  uint32_t height = 0;
  uint32_t upright_width = 0;  // after rotation, before transforms
  uint32_t upright_height = 0;
  Dtype dtype = Dtype::kUint8;  // of every frame
  int rotation = 0;             // degrees counter-clockwise that were applied
  Ratio time_base;
  Ratio average_frame_rate;
  Ratio base_frame_rate;
  Ratio sample_aspect_ratio;
  int64_t bit_rate = 0;
  // Code points of ITU-T H.273 (2: unspecified); range 1 limited, 2 full.
  int color_primaries = 2;
  int color_transfer = 2;
  int color_space = 2;
  int color_range = 0;
  std::string backend;
  std::string device;
};

// Damaged frames that follow each other. The worker said so.
struct DamagedRange {
  uint64_t frames = 0;
  // By frame number, end inclusive. nullopt: of a stream whose timestamps tell
  // no order it is only known that so many packets yielded no frame.
  std::optional<uint64_t> first_frame;
  std::optional<uint64_t> last_frame;
  double begin_seconds = 0;
  double end_seconds = 0;
  // Where their packets begin in the file; nullopt: unknown.
  std::optional<int64_t> first_byte;
  std::optional<int64_t> last_byte;
};

// How often this stream had to be recovered, and after what.
struct RecoveryStats {
  uint32_t restarts = 0;
  std::string last_cause;  // empty: none
  // From the request to the report that the latest worker is locked down.
  std::chrono::microseconds worker_start{0};
};

// One open video stream, decoded in a sandboxed process of its own.
//
// When that process dies the decoder gets another, which goes on where the last
// frame was delivered; the caller sees the same frames, later. After
// Limits::attempts_per_position deaths without a new frame the call fails with
// kPoisonedInput or kBackendLost, saying what died, where and why. After
// an error the decoder stays usable: the next call tries again, but a place at
// which a file has killed so many workers of a backend is refused at once for
// ten minutes, by every decoder of the Host that is asked for the same of it.
//
// Frames arrive in presentation order, as FFmpeg's decoder outputs them, and
// each has the size of the first. Every packet that shows a picture counts as a
// frame, whether it decodes or not: so frame numbers are those of the file, the
// same for Next() and for indexed access, and FrameCount() minus the frames of
// damage() are what a whole pass delivers. The index is made by one scan on
// first use, unless VideoOptions say otherwise.
//
// Indexed access gives the picture of a pass from the beginning, whatever was
// asked for before. It seeks to a keyframe where what follows is sound, and
// decodes from the beginning where it is not, or where the stream's timestamps
// are missing or contradict the order of its pictures: so the frames between
// damage and the next keyframe are as exact as others, and slow. Only damage
// that no pass has met yet and that the decoder does not notice from the
// keyframe on (VP8 notices none) shows in what is decoded after it and is left
// behind, or met in another state, by a seek.
//
// A file that is cut off ends like a shorter one: where its header counts
// frames, metadata().frame_count_from_header is more than FrameCount().
//
// The file is what it was when it was opened: bytes that are appended later are
// not seen.
//
// Not thread-safe: one thread at a time. Movable. Frames outlive it.
class VideoDecoder {
 public:
  explicit VideoDecoder(std::unique_ptr<session::VideoSession> session);
  ~VideoDecoder();
  VideoDecoder(VideoDecoder&&) noexcept;
  VideoDecoder& operator=(VideoDecoder&&) noexcept;

  // What the content tells is there once an index was made.
  const VideoMetadata& metadata() const;
  RecoveryStats recovery() const;

  // The next frame; nullopt at the end of the stream. kBadInput for a damaged
  // one (OnCorrupt). kResourceExhausted when the application holds every slot:
  // destroy frames or take snapshots.
  Result<std::optional<Frame>> Next();
  // The following Next() delivers the first frame again.
  void Rewind();

  // Number of frames, by the index: damaged ones included.
  Result<uint64_t> FrameCount();
  // Frame `index`; negative counts from the end. kOutOfRange beyond. kBadInput
  // for a damaged one (OnCorrupt). Independent of Next().
  Result<Frame> FrameAt(int64_t index);
  // In the order of the request; duplicates are decoded once.
  Result<FrameBatch> FramesAt(std::span<const int64_t> indices);
  // Python's slice [start:stop:step]; bounds are clipped. step >= 1.
  Result<FrameBatch> FramesInRange(int64_t start, std::optional<int64_t> stop,
                                   int64_t step = 1);

  // By time: a frame is played from its timestamp until that of the next one,
  // the last one until the stream ends; so FramePlayedAt(frame.pts_seconds())
  // is that frame. kOutOfRange for a time at which the stream does not play.
  Result<SecondsRange> PlayedRange();
  Result<Frame> FramePlayedAt(double seconds);
  Result<FrameBatch> FramesPlayedAt(std::span<const double> seconds);
  // What is played in [start, stop). With `fps`, round((stop - start) * fps)
  // frames, repeated or left out so as to be played at start + i / fps: their
  // times are those. Empty for start == stop.
  Result<FrameBatch> FramesPlayedInRange(
      double start, double stop, std::optional<double> fps = std::nullopt);
  Result<FrameBatch> AllFrames(std::optional<double> fps = std::nullopt);
  // Ascending. Seeking to one of them costs least.
  Result<std::vector<int64_t>> KeyFrameIndices();

  // Every frame from the first: each loop begins anew (frame_iterator.h).
  FrameIterator begin();
  std::default_sentinel_t end() { return {}; }

  // What was found damaged so far, by any call: ascending, at most a thousand
  // ranges. Whole only after a pass to the end.
  std::vector<DamagedRange> damage() const;

  // Pid of the worker as this process sees it; for operators and tests.
  int worker_pid() const;

 private:
  std::unique_ptr<session::VideoSession> session_;
};

}  // namespace bulkhead
