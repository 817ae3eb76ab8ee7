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

namespace bulkhead::worker::decode {

struct FrameField;

// Finds breaches of the ABI that do not show in the decoded stream, for
// `bulkhead conformance`, which cannot see them from outside of the worker.
// Some checks change the calls of the backend, in order to provoke the breach.
//
//     IPC_ASSIGN_OR_RETURN(auto examiner, Examiner::TakeFrom(options));
//     Decoder::Open(backend, parameters, runtime, patience, examiner.get());
//
// Options of the stream whose keys begin with "bulkhead." ask for an examiner,
// and are not passed to the backend. Streams without such options have no
// examiner. The clauses of bulkhead_backend.h whose breaches an option finds
// follow a colon.
//
//     bulkhead.hold-frames     gives each frame back this many frames later,
//                              and checks that it has not changed: frame-5
//     bulkhead.end-twice       sends the end of the stream again: send-4, end-1
//     bulkhead.expect          values that fields of each frame must have:
//                              color-2, color-3, frame-11. "color_space=1|2
//                              interlaced=0" demands a color_space of 1 or 2
//     bulkhead.cut-packet      sends only the first half of the packet with
//                              this number (from 1)
//     bulkhead.refuse-buffers  lets acquire_buffer return OUT_OF_MEMORY after
//                              this many buffers
//     bulkhead.without-buffers lets acquire_buffer return UNSUPPORTED:
//                              acquire-1
//     bulkhead.weigh-opens     measures the allocated memory each time this
//                              many decoders were opened, and finds memory
//                              that opening and closing lose: close-1
//
// With any of these options, three more breaches are found:
//   - a frame that receive_frame fills without returning OK: receive-2
//   - damage without a sentence: result-2
//   - at the next open, buffers that were not given back before close:
//     acquire-3
//
// Belongs to one stream, and outlives its decoders. Used by the thread of the
// stream, except for the services of its runtime, which are thread-safe. Reads
// the frames of a backend before they are validated, so it is for backends
// whose frames are otherwise valid. Nothing here protects against a hostile
// backend.
class Examiner {
 public:
  using Options = std::vector<std::pair<std::string, std::string>>;

  // Removes the options that are for an examiner from `options`. Returns null
  // if there are none. Fails with kUnsupported for an unknown option or a value
  // that the option cannot have.
  static ipc::Expected<std::unique_ptr<Examiner>> TakeFrom(Options& options);

  Examiner(const Examiner&) = delete;
  Examiner& operator=(const Examiner&) = delete;
  ~Examiner();

  // Decoder calls the functions below, in this order. They fail if there was a
  // breach of the ABI.

  // Called before each open.
  ipc::Expected<void> Opens();
  // Returns the services to pass to open in place of `runtime`. Valid as long
  // as the examiner.
  const bulkhead_runtime& ServicesOver(const bulkhead_runtime& runtime);
  // Returns the packet to send in place of `packet`. Valid until the next
  // InPlaceOf().
  const bulkhead_packet* InPlaceOf(const bulkhead_packet* packet);
  // Records that the backend did not take the packet, which will be sent again.
  void NotTaken() { --packets_; }
  // Returns whether the end of the stream must be sent twice.
  bool ends_twice() const { return ends_twice_; }
  // Called for each frame that was received.
  ipc::Expected<void> Received(const bulkhead_frame& frame);
  // Takes a frame that Decoder gives back, and releases it to the backend, now
  // or later.
  void GivenBack(const bulkhead_backend& backend, bulkhead_decoder* decoder,
                 const bulkhead_frame& frame);
  // Fails if a held frame was found to have changed. Reports that once.
  ipc::Expected<void> FoundChanged();
  // Releases the frames that are still held. Called at the end of the stream
  // and before close.
  void ReleaseAll(const bulkhead_backend& backend, bulkhead_decoder* decoder);
  // Called after each close.
  void Closed();

 private:
  struct Service;
  struct HeldFrame {
    bulkhead_frame frame;
    uint64_t hash;  // of the pixels or samples when the frame was received
    uint64_t number;
    bool given_back;  // by Decoder
  };

  Examiner();
  // Sets one option.
  ipc::Expected<void> Set(const std::string& key, const std::string& value);
  void ReleaseFirst(const bulkhead_backend& backend, bulkhead_decoder* decoder);

  size_t hold_ = 0;
  bool ends_twice_ = false;
  // Fields, and the values that they must have.
  std::vector<std::pair<const FrameField*, std::string>> expected_;
  uint64_t cut_packet_ = 0;
  std::optional<uint64_t> most_buffers_;
  bool without_buffers_ = false;
  uint64_t weigh_every_ = 0;

  uint64_t opens_ = 0;
  int64_t kept_ = 0;               // references to buffers after the last close
  std::vector<uint64_t> weights_;  // allocated bytes at opens, the latest last
  uint64_t packets_ = 0;
  uint64_t frames_ = 0;
  std::deque<HeldFrame> held_;
  std::optional<ipc::Error> changed_;
  std::vector<uint8_t> bytes_;  // the bytes of cut_
  bulkhead_packet cut_{};       // the packet that was cut
  std::unique_ptr<Service> service_;
};

}  // namespace bulkhead::worker::decode
