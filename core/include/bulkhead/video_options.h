// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bulkhead/allowed_media.h"
#include "bulkhead/cancellation.h"
#include "bulkhead/frame.h"
#include "bulkhead/frame_mapping.h"
#include "bulkhead/recovery.h"
#include "bulkhead/transforms.h"

namespace bulkhead {

// The type of the numbers that a decoder delivers. kAuto means kFloat32 for a
// stream whose components have more than 8 bits, and kUint8 for the others.
enum class OutputDtype : uint8_t { kUint8, kFloat32, kAuto };

// Chooses among several streams of a container if the caller names none.
enum class StreamChoice : uint8_t {
  // The first of its kind; for video, a cover picture only if there is no
  // other.
  kFirst,
  // The stream that the ffmpeg command and torchcodec take, and that PyAV's
  // streams.best() returns: the result of av_find_best_stream, which prefers
  // the default track, the larger picture and the higher bit rate. Equals
  // ContainerMetadata::best_video_stream and best_audio_stream, without the
  // cost of Host::Probe.
  kBest,
};

// Selects the way from a frame index or a time to a place in the file
// (torchcodec's seek_mode).
enum class SeekMode {
  // Uses an index of all frames: made by one scan of all packets on first use,
  // or given in VideoOptions::frame_mappings.
  kExact,
  // Uses the header alone, without a scan: frame i is the frame nearest to
  // begin + i / frame rate. Exact if the header is right and the frame rate is
  // constant.
  kApproximate,
};

// Chooses the treatment of damaged frames. A frame is damaged if its packet
// does not decode, if the decoder made up parts of the picture, or if the
// picture refers to a damaged or missing one. After such a picture all frames
// are damaged up to the next frame at which decoding may begin (damage.h and
// core/application/damage.md). Notes do not change the result of a call.
enum class OnCorrupt {
  // The call fails with kBadInput; the message names the frame, the time, the
  // byte in the file and the sign (damage.h). The decoder stays usable, and the
  // following Next() continues after the damaged frame.
  kError,
  // Next() and the batch calls leave damaged frames out; FrameAt() fails as
  // with kError. The decoder ignores the errors that it can, as
  // `ffmpeg -err_detect ignore_err` does, so it may deliver frames that kError
  // refuses and that look wrong. Before the first such frame, kError and kSkip
  // deliver the same pictures.
  kSkip,
  // The same as kSkip, but indexed access returns the nearest sound frame, with
  // the index and timestamp of that frame. kBadInput if no frame is sound.
  kNearest,
  // For people who watch. Next() and the batch calls deliver every picture that
  // the decoder outputs, as the ffmpeg command shows it. Frame::damaged() says
  // whether the decoder made up parts of the picture, or of a picture that it
  // refers to. FrameAt() returns such a picture too. Frames without a picture
  // are left out; FrameAt() fails for them. Pictures that come too late because
  // of damage, after pictures with later timestamps, are left out as with
  // `ffmpeg -fps_mode vfr`.
  kShow,
};

// Options of Host::OpenVideo. The names and meanings follow
// torchcodec's VideoDecoder.
struct VideoOptions {
  // "cpu", "openreg", "openreg:1", or "BACKEND/openreg:1" if two backends have
  // a device of that name. A backend acts only if the caller names one of its
  // devices. Empty: HostOptions::default_device.
  std::string device = {};
  // The absolute index of the stream in the container. nullopt: the video
  // stream that `stream_choice` names.
  std::optional<int> stream_index = {};
  StreamChoice stream_choice = StreamChoice::kFirst;
  // The number of threads that the decoder uses; 0 lets the decoder choose.
  uint32_t threads = 1;
  SeekMode seek_mode = SeekMode::kExact;
  // An index of the frames that is used instead of a scan, and is as exact as
  // its source (ParseFrameMappings). Empty: the index is made by a scan. Not
  // allowed together with kApproximate.
  std::vector<FrameMapping> frame_mappings = {};
  // Damage is an error by default, because FFmpeg drops or shows damaged frames
  // silently. A caller that trains a model or judges by the pictures should
  // choose the treatment explicitly.
  OnCorrupt on_corrupt = OnCorrupt::kError;
  // The device on which the stream continues, at the same frame, if the backend
  // of `device` fails for good. Failover in recovery.h says when, and how the
  // pictures are compared. Empty: the call fails. kInvalidArgument if it is the
  // same as `device`, kNotFound if there is no such device. The backend of this
  // device is started only when it is needed.
  std::string on_failure = {};
  // Names and values for the backend; Bulkhead passes them on unread.
  std::vector<std::pair<std::string, std::string>> backend_options = {};
  DimensionOrder dimension_order = DimensionOrder::kNHWC;
  // The type of the delivered numbers. The conversion to RGB has 8 bits for
  // kUint8 and 16 bits for kFloat32: only floats keep the full precision of a
  // 10-bit stream. No tone mapping is done.
  OutputDtype output_dtype = OutputDtype::kUint8;
  // Applied in this order, after rotation.
  std::vector<Transform> transforms = {};
  // Called for each recovery, also while the file is being opened.
  RecoveryObserver recovery_observer = {};
  // Ends the opening, and later the calls of the decoder, from another thread.
  // nullopt: only VideoDecoder::Cancel() ends calls, and nothing ends the
  // opening.
  std::optional<Cancellation> cancellation = {};
  // Narrows HostOptions::allowed for this stream.
  AllowedMedia allowed = {};
  // kNative delivers Frame::planes() in place of RGB. Transforms and floats are
  // then kInvalidArgument, and so are the calls that return batches; pictures
  // are not turned upright (VideoMetadata::rotation and vertical_flip say how
  // to do it).
  OutputFormat output_format = OutputFormat::kRgb;
  // If true, every frame has the size of the stream's first frame: later frames
  // of another size are scaled to it, and with kNative converted to its pixel
  // format. This is ffmpeg's option -autoscale. If false, every frame has the
  // size, and with kNative the pixel format, that the decoder gave it
  // (Frame::width(), Frame::pixel_format()). Transforms are then
  // kInvalidArgument, and so is a batch of frames of different sizes.
  bool autoscale = true;
};

}  // namespace bulkhead
