// SPDX-License-Identifier: Apache-2.0
#include "core/worker_protocol/served_media.h"

#include <algorithm>
#include <exception>
#include <span>
#include <string>

#include "core/base/from_ipc.h"
#include "core/base/status_macros.h"
#include "ipc/media_window_layout.h"

namespace bulkhead::worker_protocol {
namespace {

// Bounds on the requests of an honest worker between two of its answers. The
// worker reads the whole media a few times, since it opens the file anew and
// looks for the end. It also jumps back and forth for each of the thousand
// packets of one part of an index.
constexpr uint64_t kMostPasses = 8;
constexpr uint64_t kMostJumps = 8192;

// Calls the reader. Turns its exceptions into errors, so that no request of the
// worker is left half answered.
Result<size_t> ReadFrom(const SourceReader& reader, uint64_t offset,
                        std::span<std::byte> out) {
  try {
    return reader.read(offset, out);
  } catch (const std::exception& exception) {
    return Status(Code::kInvalidArgument,
                  std::string("it threw ") + exception.what());
  }
}

}  // namespace

Result<ServedMedia> ServedMedia::Create(const SourceReader& reader,
                                        std::function<bool()> cancelled) {
  ASSIGN_OR_RETURN(auto region,
                   FromIpc(ipc::OwnedRegion::CreateWritable(
                       "bulkhead-media-window", ipc::kWindowRegionBytes)));
  return ServedMedia(reader, std::move(cancelled), std::move(region));
}

Status ServedMedia::Serve(uint64_t offset_untrusted,
                          uint32_t serial_untrusted) {
  if (serial_untrusted != served_ + 1) {
    return Status(Code::kBackendMisbehaved, "it read out of turn");
  }
  const uint64_t windows = reader_->bytes / ipc::kWindowDataBytes + 1;
  if (++reads_ > kMostPasses * windows + kMostJumps) {
    return Status(Code::kResourceExhausted,
                  "the input makes the worker read its " +
                      std::to_string(reader_->bytes) +
                      " bytes again and again; decode it from a file or from "
                      "memory");
  }
  // A request beyond the end of the media gets no bytes, as in a file.
  const uint64_t offset = std::min(offset_untrusted, reader_->bytes);
  const auto window = region_.writable_bytes()
                          .subspan(ipc::kWindowDataOffset)
                          .first(std::min<uint64_t>(ipc::kWindowDataBytes,
                                                    reader_->bytes - offset));
  for (size_t filled = 0; filled < window.size();) {
    const auto rest = window.subspan(filled);
    const Result<size_t> got = ReadFrom(*reader_, offset + filled, rest);
    // Checked before the reader's result, since an application that cancels may
    // make its reader fail.
    if (cancelled_ && cancelled_()) {
      return Status(Code::kCancelled,
                    "the application cancelled the call while its reader read");
    }
    const std::string place =
        "the reader, asked for " + std::to_string(rest.size()) +
        " bytes at offset " + std::to_string(offset + filled) + ", ";
    if (!got) {
      return Status(Code::kInvalidArgument,
                    place + "failed: " + got.error().message());
    }
    if (*got == 0) {
      return Status(Code::kInvalidArgument,
                    place + "gave none, though there should be " +
                        std::to_string(reader_->bytes) + " in all");
    }
    if (*got > rest.size()) {
      return Status(Code::kInvalidArgument,
                    place + "claims to have given " + std::to_string(*got));
    }
    filled += *got;
  }
  auto* const header = ipc::WindowHeaderOf(region_.writable_bytes());
  header->bytes.store(window.size());
  header->served.store(++served_);
  return Status();
}

}  // namespace bulkhead::worker_protocol
