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
  // or with kNative as the decoder made it. Without autoscale, the size of the
  // first frame.
  uint32_t width = 0;
  uint32_t height = 0;
  // The size in pixels after rotation and before transforms; with kNative the
  // size of the frames.
  uint32_t upright_width = 0;
  uint32_t upright_height = 0;
  Dtype dtype = Dtype::kUint8;  // The type of every delivered RGB frame.
  // The way in which the decoder's pictures were turned upright; with kNative,
  // the application has to do it. First, if vertical_flip is true, a picture is
  // flipped so that the bottom row comes first. Then it is rotated
  // counter-clockwise by `rotation` degrees: 0, 90, 180 or 270. Mirrored files
  // have the flip: a picture that only needs left and right exchanged has
  // vertical_flip and 180. `rotation` is ffprobe's, modulo 360.
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
  std::string backend;  // Backend and device change with a failover.
  std::string device;
};

// A run of consecutive damaged frames, or a note (an oddity that loses no
// frame, damage.h), as the worker reported it.
struct DamagedRange {
  DamageKind kind = DamageKind::kDamage;
  // The evidence for the damage of the first frame, or the subject of the note.
  DamageSign sign = DamageSign::kUnknown;
  // The number of frames; an estimate of at least 1 if not_in_index is true; 0
  // for a note.
  uint64_t frames = 0;
  // The first and the last frame number, both damaged. nullopt for a note, and
  // for a stream whose timestamps give no order: for such a stream, only the
  // number of packets that yielded no frame is known.
  std::optional<uint64_t> first_frame;
  std::optional<uint64_t> last_frame;
  // The time from the start of the first frame until the end of the last, as
  // far as the timestamps of the damaged frames say; nullopt if none of them
  // has a timestamp. For a note, the time of its packet.
  std::optional<double> begin_seconds;
  std::optional<double> end_seconds;
  // The byte offsets in the file at which the packets of the first and of the
  // last frame begin; nullopt if unknown. If first_frame is nullopt, the lost
  // packets are between these two offsets.
  std::optional<int64_t> first_byte;
  std::optional<int64_t> last_byte;
  // The message of libavformat where it stopped (kStopped), or the backend's
  // message for the first lost frame that has one: one line of at most 480
  // bytes, which may say anything. Empty if there was none.
  std::string backend_says;
  // True if the packets of these frames are missing at the end of the file. The
  // index does not have such frames, so they have no number and do not count
  // for FrameCount().
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
// Recovery. When the worker dies, the decoder gets another worker, which
// continues after the last delivered frame; the caller sees the same frames,
// later. After Limits::attempts_per_position deaths without a new frame the
// call fails with kPoisonedInput or kBackendLost, and the message says what
// died, where and why. The decoder stays usable after any error: the next call
// tries again. But after that many deaths at one position of a file, the
// position is refused at once for ten minutes, to every decoder of the Host
// that asks for it on the same backend. With VideoOptions::on_failure, the call
// continues on another device instead, and recovery() says so.
//
// Order and numbers. Frames arrive in presentation order, as FFmpeg's decoder
// outputs them, and every frame has the size of the first, unless
// VideoOptions::autoscale is false. Every packet that shows a picture counts as
// one frame, even if it does not decode. So frame numbers depend on the file
// alone, and are the same for Next() and for indexed access. A whole pass
// delivers FrameCount() frames minus the frames of damage() that are in the
// index. The index is made by one scan on first use, unless VideoOptions has
// frame_mappings or SeekMode::kApproximate.
//
// Indexed access returns the picture that a pass from the beginning shows;
// earlier calls make no difference. The decoder seeks to a keyframe if the
// packets themselves show that it is one and the packets after it are sound. It
// decodes from the beginning, which is as exact but slow, in these cases:
// - Packets after the keyframe are damaged.
// - The codec does not mark its keyframes (core/application/damage.md lists the
//   codecs that do).
// - The timestamps of the stream are missing or contradict the order of the
//   pictures.
// There is one exception: damage that no pass has met yet, if the codec does
// not notice it after a seek to the keyframe. (VP8 notices no damage.) In a
// pass, such damage distorts the frames after it. After a seek, the same frames
// may be sound or distorted in another way.
//
// Missing ends. The end of a stream is missing if libavformat stops before the
// end of the file, or if the header declares more frames than the file has.
// Next() then fails once before it reports the end (see OnCorrupt), and
// damage() lists an estimate of the missing frames
// (DamagedRange::not_in_index). If a header counts frames,
// metadata().frame_count_from_header then exceeds FrameCount(). Bytes that are
// appended after the file was opened are not seen. A file that becomes shorter
// while it is open ends with kBadInput (see OnCorrupt), and damage() lists the
// missing frames.
//
// Errors of every call below, in addition to the errors that its comment names:
// kBadInput, kPoisonedInput, kBackendUnavailable, kBackendLost,
// kBackendMisbehaved, kDeadlineExceeded, kResourceExhausted and
// kSandboxUnavailable, since any call may have to start a worker; kUnsupported
// in a forked child; kCancelled after Cancel().
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

  // Returns the metadata of the stream. The members that come from the content
  // are set once an index was made. Starts no worker. The reference is valid
  // until the decoder is destroyed or moved.
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
  // size in metadata(). For other frames they fail with kInvalidArgument. If
  // `into` is not empty, they write the pixels there: picture i begins at byte
  // i * FrameBatch::picture_bytes(). kInvalidArgument if the pictures do not
  // fit into it; the message says how many bytes they need, and nothing is
  // written. After another error, `into` may have some of the pictures.

  // Returns the frames of `indices`, in the order of the request; duplicates
  // are decoded once. Returns the errors of FrameAt, and kResourceExhausted if
  // the batch exceeds Limits::session_bytes.
  Result<FrameBatch> FramesAt(std::span<const int64_t> indices,
                              std::span<std::byte> into = {});
  // Returns the frames of Python's slice [start:stop:step]: negative bounds
  // count from the end, bounds beyond the stream are clipped. kInvalidArgument
  // if step < 1.
  Result<FrameBatch> FramesInRange(int64_t start, std::optional<int64_t> stop,
                                   int64_t step = 1,
                                   std::span<std::byte> into = {});

  // The following calls find frames by time. A frame is played from its
  // timestamp until the next frame's, and the last frame until the stream ends;
  // so FramePlayedAt(frame.pts_seconds()) is that frame. A time that is
  // slightly before a timestamp, by at most min(1 microsecond, half a tick of
  // time_base), counts as that timestamp. So a time that is computed as `pts +
  // i / fps`, or was printed with six decimals, finds the intended frame. All
  // times are in seconds. kOutOfRange for a time at which the stream does not
  // play, kInvalidArgument for a time that is not finite, kBadInput if the
  // timestamps of the stream are missing or not unique.

  // Returns the span in which the stream plays.
  Result<SecondsRange> PlayedRange();
  // Returns the frame that is played at `seconds`.
  Result<Frame> FramePlayedAt(double seconds);
  // Returns the frames that are played at `seconds`, in that order.
  Result<FrameBatch> FramesPlayedAt(std::span<const double> seconds,
                                    std::span<std::byte> into = {});
  // Returns the frames that are played in [start, stop); none if start == stop.
  // With `fps`, returns round((stop - start) * fps) frames: picture i is the
  // frame that is played at start + i / fps, and has that time as its
  // pts_seconds. So frames repeat or are left out. kInvalidArgument if start >
  // stop or fps <= 0.
  Result<FrameBatch> FramesPlayedInRange(
      double start, double stop, std::optional<double> fps = std::nullopt,
      std::span<std::byte> into = {});
  // Returns every frame, or with `fps` the frames of the whole PlayedRange().
  Result<FrameBatch> AllFrames(std::optional<double> fps = std::nullopt,
                               std::span<std::byte> into = {});
  // Returns the indices of the frames that the container calls keyframes,
  // ascending. Seeking to such a frame costs least, if the container is right.
  // kInvalidArgument with SeekMode::kApproximate, which knows no keyframes.
  Result<std::vector<int64_t>> KeyFrameIndices();

  // FrameCount() and FrameAt() for callers who prefer exceptions: these two
  // throw StatusError.
  uint64_t size() { return FrameCount().value(); }
  Frame operator[](int64_t index) { return FrameAt(index).value(); }

  // Iterates over every frame from the first (frame_iterator.h). begin()
  // rewinds, so each loop starts anew.
  FrameIterator begin();
  std::default_sentinel_t end() { return {}; }

  // Returns the damage that any call has found so far, ascending, followed by
  // the notes (damage.h): at most a thousand ranges of frames, a thousand
  // missing ends, and a thousand notes. The list is complete only after a pass
  // to the end.
  std::vector<DamagedRange> damage() const;

  // Ends the call of this decoder that is under way on another thread with
  // kCancelled; if there is none, ends the next call (cancellation.h). The
  // decoder stays usable. May be called on any thread and in a signal handler,
  // but not while the decoder is moved or destroyed.
  void Cancel();

  // Returns the pid of the worker as this process sees it, 0 if there is no
  // worker now. For operators and tests.
  int worker_pid() const;

 private:
  std::unique_ptr<session::VideoSession> session_;
};

}  // namespace bulkhead
