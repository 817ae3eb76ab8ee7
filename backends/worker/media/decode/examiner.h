// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/sdk/bulkhead_backend.h"
#include "ipc/error.h"

namespace bulkhead::worker {

// Examines a backend for breaches of the ABI that no stream shows, or provokes
// them: what `bulkhead conformance` cannot see from outside of the worker.
//
//     IPC_ASSIGN_OR_RETURN(auto examiner, Examiner::TakeFrom(options));
//     Decoder::Open(backend, parameters, runtime, patience, examiner.get());
//
// The options of the stream ask for it, with keys that begin with "bulkhead.";
// the backend does not get those. Streams without such options have no
// examiner.
//
//     bulkhead.hold-frames     gives frames back this many frames later, and
//                              compares them with what they were: frame-5
//     bulkhead.end-twice       sends the end of the stream again: send-4, end-1
//     bulkhead.expect          values of fields that each frame has: color-2,
//                              color-3, frame-11; "color_space=1|2
//                              interlaced=0" allows two of the first
//     bulkhead.cut-packet      sends the first half of the packet of this
//                              number (from 1) only
//     bulkhead.refuse-buffers  lets acquire_buffer return OUT_OF_MEMORY after
//                              this many buffers
//     bulkhead.without-buffers lets acquire_buffer return UNSUPPORTED:
//                              acquire-1
//     bulkhead.weigh-opens     weighs the memory after each so many opens:
//                              close-1
//
// Any of them has the decoder look for frames that are filled without OK
// (receive-2), damage without a sentence (result-2) and, at the next open,
// buffers that were not given back before close (acquire-3).
//
// Belongs to one stream, and outlives its decoders. Used by the thread of the
// stream, except for the services of its runtime, which are thread-safe. Reads
// the frames of a backend before they are validated: it is for backends whose
// plain frames are sound. Nothing here protects against a hostile backend.
class Examiner {
 public:
  using Options = std::vector<std::pair<std::string, std::string>>;

  // Takes the options that are for an examiner out of `options`. Null if there
  // are none; kUnsupported for one that is not known or has no such value.
  static ipc::Expected<std::unique_ptr<Examiner>> TakeFrom(Options& options);

  Examiner(const Examiner&) = delete;
  Examiner& operator=(const Examiner&) = delete;
  ~Examiner();

  // The calls of a decoder, in their order. Failures are breaches of the ABI.

  // Called before each open.
  ipc::Expected<void> Opens();
  // Returns the services to open with, which stay valid as long as this object.
  const bulkhead_runtime& ServicesOver(const bulkhead_runtime& runtime);
  // Returns the packet to send in the place of `packet`, valid until the next
  // call.
  const bulkhead_packet* InPlaceOf(const bulkhead_packet* packet);
  // The decoder did not take the packet, which comes again.
  void NotTaken() { --packets_; }
  bool ends_twice() const { return ends_twice_; }
  // Called for each frame that was received.
  ipc::Expected<void> Received(const bulkhead_frame& frame);
  // Takes a frame that the runtime gives back. The frame is released here.
  void GivenBack(const bulkhead_backend& backend, bulkhead_decoder* decoder,
                 const bulkhead_frame& frame);
  // Returns the failure of a frame that was found changed.
  ipc::Expected<void> FoundChanged();
  // Releases the frames that are held, at the end of the stream and before
  // close.
  void ReleaseAll(const bulkhead_backend& backend, bulkhead_decoder* decoder);
  // Called after each close.
  void Closed();

 private:
  struct Service;
  struct HeldFrame {
    bulkhead_frame frame;
    uint64_t hash;
    uint64_t number;
    bool given_back;
  };

  Examiner();
  ipc::Expected<void> Set(const std::string& key, const std::string& value);
  void ReleaseFirst(const bulkhead_backend& backend, bulkhead_decoder* decoder);

  size_t hold_ = 0;
  bool ends_twice_ = false;
  std::vector<std::pair<size_t, std::string>> expected_;  // by field
  uint64_t cut_packet_ = 0;
  std::optional<uint64_t> most_buffers_;
  bool without_buffers_ = false;
  uint64_t weigh_every_ = 0;

  uint64_t opens_ = 0;
  int64_t kept_ = 0;  // references to buffers after the last close
  std::vector<uint64_t> weights_;
  uint64_t packets_ = 0;
  uint64_t frames_ = 0;
  std::deque<HeldFrame> held_;
  std::optional<ipc::Error> changed_;
  std::vector<uint8_t> bytes_;  // of cut_
  bulkhead_packet cut_{};
  std::unique_ptr<Service> service_;
};

}  // namespace bulkhead::worker
