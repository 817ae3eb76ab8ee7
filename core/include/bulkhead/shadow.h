// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace bulkhead {

// A shadow compares the frames of a stream with the frames that another device
// decodes from the same file, while the application runs. ShadowOptions asks
// for shadows of a sampled share of an application's video streams, to find a
// backend that gives wrong pictures now and then.
//
//     HostOptions watched;
//     watched.shadow = ShadowOptions{.against = "cpu", .share = 0.01};
//
// A stream is sampled ("drawn") when it is opened, by a random number that no
// backend knows. bulkheadd then has a worker of `against` decode the file as
// well, with the same options and from its beginning. Every picture of the
// stream is hashed in the call that returns it to the application, and
// bulkheadd compares the hashes of both devices. The application waits for
// nothing, gets the same frames in any case, and needs no thread for it. The
// hash costs the caller about a millisecond for 1920x1080; the machine decodes
// the file a second time.
//
// Frames that Next() returns are compared. A frame by index or by time is
// compared if it is later in the stream than every frame that was returned
// before it. These frames are not compared:
// - frames that are marked as damaged;
// - all frames after the place at which `against` finds the file damaged;
// - frames by index or time that have no timestamp;
// - frames for which the shadow is too late.
// After a stream was closed, its shadow has the longest of Deadlines::open,
// seek and frame to catch up, unless the Host ends earlier. Some drawn streams
// have no shadow, and none of their frames are compared:
//
//   * streams of a SourceReader, with backend_options, with
//     OutputFormat::kNative, or without autoscale;
//   * streams on `against` itself, and streams for which it does not start;
//   * streams that are drawn while sixteen others are compared.
//
// A device `against` that no backend has is a mistake of the caller:
// OpenVideo() returns kNotFound for every stream, drawn or not, until a backend
// has the device (Host::LoadBackend), and kInvalidArgument if several backends
// have it. A Host that has found the device does not look for it again. With a
// share of 0, the device is never looked for.
//
// A shadow does not notice a backend that reports sound frames as damaged:
// VideoDecoder::damage() lists such frames. Nor does it notice a backend that
// changes a picture after the call has returned it (Frame, "Trust"). Frames by
// index in random order are hardly compared at all: use Next().
//
// A picture that differs is no proof against the backend, since the file can be
// the cause. The difference is counted (BackendInfo::shadow) and sent as an
// event, and the backend is put on trial: it decodes Bulkhead's built-in clip
// in another process, as after a reload. A backend that fails the trial is
// treated like a backend that crashed by its own fault; a backend that passes
// continues.
struct ShadowOptions {
  // The device to compare with; choose the device that you trust most. Its
  // process is given the files as well.
  std::string against = "cpu";
  // The share of the video streams that is compared, from 0 to 1.
  double share = 0.01;
};

// The first difference that was found in the pictures of a backend.
struct ShadowDifference {
  std::string path;    // The input, as the application named it.
  std::string device;  // The device of the backend.
  uint64_t frame = 0;  // The number of the frame in the stream.
  double seconds = 0;  // Its time in the stream.
  std::string words;   // The part that differs: "its picture".
  // The frames of the backend that had been compared by then, this one
  // included.
  uint64_t compared = 0;
};

// The comparisons of one backend's streams since bulkheadd started.
struct ShadowReport {
  uint64_t streams = 0;  // Streams that were drawn.
  // Drawn streams whose frames could not be compared at all, or not to their
  // end: they have no shadow, or the shadow could not be started, ended early
  // or met damage. `last_failure` says why.
  uint64_t failed = 0;
  std::string last_failure;
  uint64_t compared = 0;   // Frames that were compared.
  uint64_t differing = 0;  // Compared frames that differ.
  // All other frames of this backend that the application got from drawn
  // streams, including streams that have no shadow. So `compared` +
  // `not_compared` is the number of frames that the application got from
  // `streams`. A frame that was returned twice counts twice. Frames of streams
  // that were not drawn, and frames after a failover to another device, are in
  // neither number.
  uint64_t not_compared = 0;
  std::optional<ShadowDifference> first;
  uint32_t trials = 0;
  uint32_t failed_trials = 0;
  std::string last_trial;  // The outcome of the last trial; empty if none.
};

}  // namespace bulkhead
