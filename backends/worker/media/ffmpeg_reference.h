// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/worker/media/decoder.h"
#include "backends/worker/media/demuxer.h"
#include "backends/worker/media/output_converter.h"
#include "ipc/error.h"

namespace bulkhead::worker {

// For tests: what the ffmpeg command makes of a file on this very machine.
// Hashes that were made elsewhere do not serve, since colour conversion differs
// between CPUs.

bool HasFfmpeg();

// Runs `ffmpeg` with these arguments (shell syntax). False if it failed.
bool RunFfmpeg(const std::string& arguments);

// MD5 of each frame of stream `map` ("0:v:0") in that format, behind filters if
// there are any, one decoding thread.
std::vector<std::string> FfmpegHashes(const std::string& path,
                                      const std::string& map,
                                      const std::string& format = "rgb24",
                                      const std::string& filters = "");

struct Decoding {
  std::vector<std::string> hashes;
  std::vector<int64_t> timestamps;
  uint64_t delivered_in_place = 0;
};

// The same by way of Demuxer, the cpu backend and FrameDelivery into a pool of
// three slots. Floats are hashed as the 16-bit numbers that they come from; a
// float that is none of those is an error.
ipc::Expected<Decoding> DecodeFile(const std::string& path,
                                   int32_t stream_index,
                                   const OutputFormat& format = {});

// The frames at or after `not_before`, from where the demuxer stands.
ipc::Expected<Decoding> DecodeOnward(Demuxer& demuxer, int64_t not_before,
                                     const OutputFormat& format = {});

// The demuxer of a file that stays open as long as the process.
ipc::Expected<std::unique_ptr<Demuxer>> OpenFile(
    const std::string& path, int32_t stream_index,
    StreamKind kind = StreamKind::kVideo);

// The samples of the first audio stream as `ffmpeg -f f32le` writes them, with
// further options (" -ar 48000"), one decoding thread.
std::vector<float> FfmpegSamples(const std::string& path,
                                 const std::string& options);

// In a directory of the test's own.
std::string TemporaryPath(const std::string& name);

}  // namespace bulkhead::worker
