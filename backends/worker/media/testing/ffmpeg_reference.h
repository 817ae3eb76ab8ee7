// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/worker/media/convert/output_converter.h"
#include "backends/worker/media/demux/demuxer.h"
#include "ipc/error.h"

namespace bulkhead::worker {

// Functions for tests that compare the worker's output for a file with the
// output of the ffmpeg command on this machine. Hashes recorded on another
// machine would be useless, since colour conversion differs between CPUs.

// Returns whether the ffmpeg command can be run.
bool HasFfmpeg();

// Runs `ffmpeg` with these arguments (shell syntax). Returns false if it
// failed.
bool RunFfmpeg(const std::string& arguments);

// Returns the hash (murmur3) of each frame of stream `map` ("0:v:0"), decoded
// by ffmpeg with one thread, after `filters`, in pixel format `format`. An
// empty `format` means frames as the decoder makes them, not turned upright.
std::vector<std::string> FfmpegHashes(const std::string& path,
                                      const std::string& map,
                                      const std::string& format = "rgb24",
                                      const std::string& filters = "");

// The frames that the worker's code has decoded.
struct Decoding {
  std::vector<std::string> hashes;  // of each frame, as FfmpegHashes
  std::vector<int64_t> timestamps;  // of each frame
  uint64_t delivered_in_place = 0;  // frames that needed no copy
};

// Decodes a stream with Demuxer, the cpu backend and FrameDelivery into a pool
// of three slots, or sixteen for native pictures. Floats are hashed as the
// 16-bit numbers from which they were made. If a float was not made from such a
// number, a text that says so is the frame's hash.
ipc::Expected<Decoding> DecodeFile(const std::string& path,
                                   int32_t stream_index,
                                   const convert::OutputFormat& format = {});

// Decodes from the demuxer's position, and returns the frames at or after
// `not_before`.
ipc::Expected<Decoding> DecodeOnward(demux::Demuxer& demuxer,
                                     int64_t not_before,
                                     const convert::OutputFormat& format = {});

// Opens a demuxer for a file. The file stays open until the process ends.
ipc::Expected<std::unique_ptr<demux::Demuxer>> OpenFile(
    const std::string& path, int32_t stream_index,
    demux::StreamKind kind = demux::StreamKind::kVideo);

// Returns the samples of the first audio stream as `ffmpeg -f f32le` writes
// them, with one decoding thread and further `options` (" -ar 48000").
std::vector<float> FfmpegSamples(const std::string& path,
                                 const std::string& options);

// Returns the path of a file in the running test's own directory.
std::string TemporaryPath(const std::string& name);

}  // namespace bulkhead::worker
