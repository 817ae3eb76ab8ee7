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

// An open stream, and the turns of the threads that call it.
template <typename Decoder>
class Stream {
 public:
  Stream(Decoder decoder, std::unique_ptr<Waiting> waiting)
      : decoder_(std::make_unique<Decoder>(std::move(decoder))),
        waiting_(std::move(waiting)) {}
  ~Stream() {
    // In a forked child, a thread of the parent may have been inside: what the
    // decoder holds is then in no order that could be taken apart.
    if (waiting_->busy()) {
      static_cast<void>(decoder_.release());
      return;
    }
    const WithoutGil released;
    decoder_.reset();
  }

  Decoder& decoder() { return *decoder_; }
  Waiting& waiting() { return *waiting_; }

  // Runs `call` with the decoder, which returns a Result or a Status.
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

void DefineVideo(pybind11::module_& module);
void DefineAudio(pybind11::module_& module);

}  // namespace bulkhead::python
