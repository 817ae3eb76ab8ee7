// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bulkhead/damage.h"
#include "bulkhead/frame.h"
#include "bulkhead/frame_iterator.h"
#include "bulkhead/metadata.h"
#include "bulkhead/status.h"
#include "bulkhead/video_options.h"

namespace bulkhead {

namespace session {
class VideoSession;
}

// A span of playing time in seconds: [begin, end).
struct SecondsRange {
  double begin = 0;
  double end = 0;
};

// The metadata of a video stream, from the container and the first frame. The
// worker reported these values: the host has checked that they are plausible
// and bounded, but they are only as true as the file and the backend.
struct VideoMetadata : StreamTiming {
  int stream_index = 0;
  uint32_t stream_count = 0;  // Streams of every kind in the container.
  std::string container;
  std::string codec;
  // The format of the decoder's pictures, and with OutputFormat::kNative of
  // every frame; without VideoOptions::autoscale, of the first frame.
  std::string pixel_format;
  // The size in pixels of every delivered frame: after rotation and transforms,
  // or with kNative as the decoder made it. Without autoscale, the first
  // one's.
  uint32_t width = 0;
  uint32_t height = 0;
  // The size in pixels after rotation and before transforms; with kNative the
  // size of the frames.
  uint32_t upright_width = 0;
  uint32_t upright_height = 0;
  Dtype dtype = Dtype::kUint8;  // The type of every delivered RGB frame.
  // How the decoder's pictures were turned upright, or with kNative are to be:
  // first, if vertical_flip, flipped so that the bottom row is the first one;
  // then rotated counter-clockwise by `rotation` degrees: 0, 90, 180 or 270.
  // Mirrored files have the flip: a picture that only needs left and right
  // exchanged has vertical_flip and 180. `rotation` is ffprobe's, modulo 360.
  int rotation = 0;
  bool vertical_flip = false;
  Ratio time_base;  // Seconds per tick of a timestamp.
  Ratio average_frame_rate;
  Ratio base_frame_rate;
  Ratio sample_aspect_ratio;
  int64_t bit_rate = 0;  // Bits per second.
  // Code points of ITU-T H.273; 2 means unspecified.
  int color_primaries = 2;
  int color_transfer = 2;
  int color_space = 2;
  int color_range = 0;      // 1 is limited, 2 is full, 0 is unspecified.
  int chroma_location = 0;  // As in Color.
  // VideoOptions::threads, or 1 where libavcodec's pictures would depend on the
  // number of threads: MPEG-4 part 2, VC-2, HEVC with slices or film grain.
  uint32_t threads = 1;
  std::string backend;  // Both change if the stream goes on elsewhere.
  std::string device;
};

// A run of consecutive damaged frames, or a note, as the worker reported it.
struct DamagedRange {
  DamageKind kind = DamageKind::kDamage;
  // Names what showed the damage of the first frame, or what the note is about.
  DamageSign sign = DamageSign::kUnknown;
  // The number of frames; an estimate, at least 1, if not_in_index; 0 for a
  // note.
  uint64_t frames = 0;
  // The first and the last frame number, both damaged. nullopt: this is a note,
  // or the timestamps of the stream give no order, so only the number of
  // packets that yielded no frame is known.
  std::optional<uint64_t> first_frame;
  std::optional<uint64_t> last_frame;
  // From the start of the first frame until the end of the last, as far as the
  // timestamps of the damaged frames say; nullopt if none of them has one. Of
  // a note, the time of its packet.
  std::optional<double> begin_seconds;
  std::optional<double> end_seconds;
  // The byte offsets in the file at which the packets of the first and of the
  // last frame begin; nullopt if unknown. Without first_frame, those between
  // which the lost packets are.
  std::optional<int64_t> first_byte;
  std::optional<int64_t> last_byte;
  // Quotes the backend about the first lost frame for which it gave a sentence,
  // or libavformat where it stopped (kStopped): one line, not checked, at most
  // 480 bytes. Empty if it gave none.
  std::string backend_says;
  // The file lacks the packets of the frames at its end. The index does not
  // have them, so they have no number and do not count for FrameCount().
  bool not_in_index = false;
};

// One open video stream, decoded in a sandboxed process of its own, the worker.
//
//     auto video = host->OpenVideo("clip.mp4", {.device = "openreg:1"});
//     Result<Frame> tenth = video->FrameAt(10);
//     Result<FrameBatch> second = video->FramesPlayedInRange(1, 2);
//     std::vector<std::byte> tensor(indices.size() * 3 * width * height);
//     Result<FrameBatch> batch = video->FramesAt(indices, tensor);
//
// Indices, times and ranges mean what they mean in torchcodec's VideoDecoder.
//
// Recovery. When the worker dies, the decoder gets another one, which goes on
// where the last frame was delivered; the caller sees the same frames, later.
// After Limits::attempts_per_position deaths without a new frame the call fails
// with kPoisonedInput or kBackendLost, and the message says what died, where
// and why. The decoder stays usable after any error: the next call tries again.
// But a position at which a file has killed that many workers of a backend is
// refused at once, for ten minutes, to every decoder of the Host that asks for
// the same position of that file. With VideoOptions::on_failure, the call goes
// on on another device instead, and recovery() says so.
//
// Order and numbers. Frames arrive in presentation order, as FFmpeg's decoder
// outputs them, and every frame has the size of the first, unless
// VideoOptions::autoscale says otherwise. Every packet that
// shows a picture counts as one frame, even if it does not decode. So frame
// numbers are the file's, the same for Next() and for indexed access,
// and a whole pass delivers FrameCount() minus the frames of damage(), without
// those that are not in the index. The index is made by one scan on first use,
// unless VideoOptions say otherwise.
//
// Indexed access returns the picture that a pass from the beginning shows; the
// calls before it make no difference. The decoder seeks to a keyframe if the
// packets themselves show that it is one, and what follows is sound. It decodes
// from the beginning if what follows is damaged, if the codec does not mark its
// keyframes (core/application/damage.md lists which do), or if the timestamps
// of the stream are missing or contradict the order of the pictures: such
// frames are therefore as exact as others, and slow. One case remains: damage
// that no pass has met yet and that the codec does not notice from the keyframe
// on (VP8 notices none) shows in the frames that are decoded after it, and a
// seek may skip it or meet it in another state.
//
// Ends that are missing. Where libavformat stops before the end of the file, or
// the header declares more frames than the file has, Next() fails once before
// the end of the stream (see OnCorrupt), and damage() lists about how many are
// missing (DamagedRange::not_in_index). If a header counts frames,
// metadata().frame_count_from_header then exceeds FrameCount(). Bytes that are
// appended after the file was opened are not seen.
// A file that becomes shorter while it is open ends with kBadInput (see
// OnCorrupt), and damage() lists what did not come.
//
// Errors of every call below, in addition to those it names: kBadInput,
// kPoisonedInput, kBackendUnavailable, kBackendLost, kBackendMisbehaved,
// kDeadlineExceeded, kResourceExhausted and kSandboxUnavailable, since any call
// may have to start a worker; kUnsupported in a forked child; kCancelled after
// Cancel().
//
// Not thread-safe, except for Cancel(): use one decoder from one thread at a
// time. Movable. Frames and batches outlive the decoder.
class VideoDecoder {
 public:
  // Used by Host::OpenVideo.
  explicit VideoDecoder(std::unique_ptr<session::VideoSession> session);
  ~VideoDecoder();
  VideoDecoder(VideoDecoder&&) noexcept;
  VideoDecoder& operator=(VideoDecoder&&) noexcept;

  // Returns what is known about the stream. The members that come from the
  // content are set once an index was made. Starts no worker. The reference is
  // valid until the decoder is destroyed or moved.
  const VideoMetadata& metadata() const;
  RecoveryStats recovery() const;

  // Returns the next frame, or nullopt at the end of the stream. kBadInput for
  // a damaged frame (see OnCorrupt). kResourceExhausted if the application
  // holds every slot: destroy frames or take snapshots.
  Result<std::optional<Frame>> Next();
  // Makes the following Next() deliver the first frame again.
  void Rewind();

  // Returns the number of frames in the index, damaged frames included.
  Result<uint64_t> FrameCount();
  // Returns frame `index`; a negative index counts from the end. kOutOfRange if
  // there is no such frame; kBadInput for a damaged frame (see OnCorrupt). The
  // position of Next() does not change.
  Result<Frame> FrameAt(int64_t index);

  // The calls that return batches need OutputFormat::kRgb and frames of the
  // size in metadata(), else they fail with kInvalidArgument. They write the
  // pixels into `into`, if it is not empty: picture i begins at byte i *
  // FrameBatch::picture_bytes(). kInvalidArgument if the pictures do not fit;
  // the message says how many bytes they need, and nothing is written. After
  // another error `into` may have some of the pictures.

  // Returns the frames of `indices`, in the order of the request; duplicates
  // are decoded once. Errors as of FrameAt; kResourceExhausted if the batch
  // exceeds Limits::session_bytes.
  Result<FrameBatch> FramesAt(std::span<const int64_t> indices,
                              std::span<std::byte> into = {});
  // Returns the frames of Python's slice [start:stop:step]: negative bounds
  // count from the end, bounds beyond the stream are clipped. kInvalidArgument
  // if step < 1.
  Result<FrameBatch> FramesInRange(int64_t start, std::optional<int64_t> stop,
                                   int64_t step = 1,
                                   std::span<std::byte> into = {});

  // The following calls find frames by time. A frame is played from its
  // timestamp until the next frame's, and the last frame until the stream
  // ends; so FramePlayedAt(frame.pts_seconds()) is that frame. A time that is a
  // little before a timestamp counts as that timestamp: by a microsecond, or by
  // half a tick of time_base if that is less. So `pts + i / fps` and a time
  // that was printed with six decimals find the frame that they mean. All times
  // are in seconds. kOutOfRange for a time at which the stream does not play,
  // kInvalidArgument for a time that is not finite, kBadInput if the timestamps
  // of the stream are missing or not unique.

  // Returns the span in which the stream plays.
  Result<SecondsRange> PlayedRange();
  // Returns the frame that is played at `seconds`.
  Result<Frame> FramePlayedAt(double seconds);
  // Returns the frames that are played at `seconds`, in that order.
  Result<FrameBatch> FramesPlayedAt(std::span<const double> seconds,
                                    std::span<std::byte> into = {});
  // Returns the frames that are played in [start, stop); none if start == stop.
  // With `fps`, returns round((stop - start) * fps) frames: frame i is the one
  // that is played at start + i / fps, so frames repeat or are left out, and
  // that time is its pts_seconds. kInvalidArgument if start > stop or fps <= 0.
  Result<FrameBatch> FramesPlayedInRange(
      double start, double stop, std::optional<double> fps = std::nullopt,
      std::span<std::byte> into = {});
  // Returns every frame, or with `fps` the frames of the whole PlayedRange().
  Result<FrameBatch> AllFrames(std::optional<double> fps = std::nullopt,
                               std::span<std::byte> into = {});
  // Returns the indices of the frames that the container calls keyframes,
  // ascending. Where it is right, seeking to one costs least. kInvalidArgument
  // with SeekMode::kApproximate, which knows no keyframes.
  Result<std::vector<int64_t>> KeyFrameIndices();

  // The number of frames and frame `index` for callers who prefer exceptions:
  // FrameCount() and FrameAt(), but they throw StatusError.
  uint64_t size() { return FrameCount().value(); }
  Frame operator[](int64_t index) { return FrameAt(index).value(); }

  // Iterates over every frame from the first (frame_iterator.h). begin()
  // rewinds, so each loop starts anew.
  FrameIterator begin();
  std::default_sentinel_t end() { return {}; }

  // Returns the damage that any call has found so far, ascending, and after it
  // the notes (damage.h): at most a thousand ranges of frames, a thousand ends
  // that are missing, and a thousand notes. Complete only after a pass to the
  // end.
  std::vector<DamagedRange> damage() const;

  // Ends the call of this decoder that is under way on another thread, or else
  // the next call, with kCancelled (see cancellation.h). The decoder stays
  // usable. May be called on any thread and in a signal handler, but not while
  // the decoder is moved or destroyed.
  void Cancel();

  // Returns the pid of the worker as this process sees it, 0 if there is no
  // worker now. For operators and tests.
  int worker_pid() const;

 private:
  std::unique_ptr<session::VideoSession> session_;
};

}  // namespace bulkhead
