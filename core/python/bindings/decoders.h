// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <utility>

#include "bulkhead/audio_decoder.h"
#include "bulkhead/video_decoder.h"
#include "core/python/bindings/gil.h"
#include "core/python/bindings/waiting.h"

namespace bulkhead::python {

// An open stream as Python has it: a decoder of the library and its Waiting.
// Several threads may call it; the calls run one after another, without the
// interpreter's lock (GIL).
template <typename Decoder>
class Stream {
 public:
  Stream(Decoder decoder, std::unique_ptr<Waiting> waiting)
      : decoder_(std::make_unique<Decoder>(std::move(decoder))),
        waiting_(std::move(waiting)) {}
  ~Stream() {
    // This process may have been forked while a thread of the parent was in a
    // call. The decoder is then in an inconsistent state and cannot be
    // destroyed.
    if (waiting_->busy()) {
      static_cast<void>(decoder_.release());
      return;
    }
    const WithoutGil released;
    decoder_.reset();
  }

  Decoder& decoder() { return *decoder_; }
  Waiting& waiting() { return *waiting_; }

  // Runs call(decoder), which returns a Result or a Status. See Waiting::Run().
  template <typename Call>
  auto Run(Call call) {
    return waiting_->Run([&] { return call(*decoder_); });
  }

 private:
  std::unique_ptr<Decoder> decoder_;
  std::unique_ptr<Waiting> waiting_;
};

using VideoStream = Stream<VideoDecoder>;
using AudioStream = Stream<AudioDecoder>;

// Define the Python classes VideoStream and AudioStream, and the classes of the
// structs that their methods return.
void DefineVideo(pybind11::module_& module);
void DefineAudio(pybind11::module_& module);

}  // namespace bulkhead::python
