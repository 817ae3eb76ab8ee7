// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace bulkhead {

// Compares a sampled share of the video streams of an application with what
// another device decodes from the same file, while the application runs. So a
// backend that gives wrong pictures now and then shows itself.
//
//     HostOptions watched;
//     watched.shadow = ShadowOptions{.against = "cpu", .share = 0.01};
//
// A stream is drawn when it is opened, by a random number that no backend
// knows. bulkheadd then has a worker of `against` decode the file as well, with
// the same options and from its beginning. Every picture that the application
// gets of the stream is hashed, in the call that returns it, and bulkheadd
// compares the hashes when it has both. The application waits for nothing, gets
// the same frames in any case, and has no thread for it. The caller pays for
// the hash (about a millisecond for 1920x1080), the machine for decoding the
// file a second time.
//
// Compared are frames of Next() and, as far as they come in ascending order,
// frames by index and by time. Not compared are frames that are marked as
// damaged, all frames after the place at which `against` finds the file
// damaged, frames without a timestamp that do not come from Next(), and frames
// for which the shadow is too late: once a stream is closed, it has as long as
// the longest of Deadlines::open, seek and frame to catch up, if the Host lives
// as long. Nor are the frames of streams that were drawn and have no shadow:
// streams of a SourceReader, those with backend_options, those with
// OutputFormat::kNative or without autoscale, those that are on `against`
// itself, any beyond sixteen at once, and those for which `against` does not
// start.
//
// A device `against` that no backend has is a mistake, and no failure of a
// shadow: OpenVideo() returns kNotFound for every stream, drawn or not, until a
// backend has it (Host::LoadBackend), and kInvalidArgument if several have it.
// A Host that has found the device does not look for it again. With a share of
// 0 it is never looked for.
//
// A shadow does not notice a backend that reports sound frames as damaged:
// VideoDecoder::damage() says that. Nor does it notice one that changes a
// picture after the call has returned it (Frame, "Trust"). Frames by index in
// random order are hardly compared at all: use Next().
//
// A picture that differs changes nothing by itself, since the file can be the
// cause. It is counted (BackendInfo::shadow), sent as an event, and the backend
// is put on trial: it decodes Bulkhead's built-in clip in another process, as
// after a reload. A backend that fails the trial is treated as one that fails
// on its own account; one that passes goes on.
struct ShadowOptions {
  // The device to compare with: the one that is trusted most. Its process is
  // given the files as well.
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
  std::string words;   // The difference: "its picture".
  // The frames of the backend that had been compared by then, this one
  // included.
  uint64_t compared = 0;
};

// The comparisons of one backend's streams since bulkheadd started.
struct ShadowReport {
  uint64_t streams = 0;  // That were drawn.
  // Streams of which nothing, or nothing more, could be compared, because they
  // have no shadow, or it could not be started, ended early or met damage.
  // `last_failure` says why.
  uint64_t failed = 0;
  std::string last_failure;
  uint64_t compared = 0;   // Frames.
  uint64_t differing = 0;  // Those that differ.
  // All other frames of this backend that the application got of the streams
  // that were drawn, also of those that have no shadow; so `compared` and
  // `not_compared` together are what the application got of `streams`. A frame
  // that it got twice counts twice. Frames of streams that were not drawn, and
  // of another device that on_failure went on to, are in neither number.
  uint64_t not_compared = 0;
  std::optional<ShadowDifference> first;
  uint32_t trials = 0;
  uint32_t failed_trials = 0;
  std::string last_trial;  // Its outcome; empty if there was none.
};

}  // namespace bulkhead
