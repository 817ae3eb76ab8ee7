// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <utility>
#include <vector>

#include "core/python/bindings/array.h"
#include "core/python/bindings/decoders.h"
#include "core/python/bindings/record.h"

namespace bulkhead::python {
namespace {

namespace py = pybind11;

struct Sound {
  Array array;
  uint32_t sample_rate;
  double pts_seconds;
  double duration_seconds;
};

Result<Sound> Taken(Result<AudioSamples> samples) {
  if (!samples) return samples.error();
  const uint32_t rate = samples->sample_rate;
  const double pts = samples->pts_seconds;
  const double duration = samples->duration_seconds;
  return Sound{Array(*std::move(samples)), rate, pts, duration};
}

}  // namespace

void DefineAudio(py::module_& module) {
  Record<Sound>(module, "Sound", "Consecutive samples of all channels.")
      .field("sample_rate", &Sound::sample_rate)
      .field("pts_seconds", &Sound::pts_seconds)
      .field("duration_seconds", &Sound::duration_seconds)
      .hidden("array", [](Sound& self) { return std::move(self.array); });

  using Stream = AudioStream;
  py::class_<Stream>(module, "AudioStream", "One open audio stream.")
      .def("metadata",
           [](Stream& self) {
             return self.Run([](AudioDecoder& decoder) {
               return Result<AudioMetadata>(decoder.metadata());
             });
           })
      .def("recovery",
           [](Stream& self) {
             return self.Run([](AudioDecoder& decoder) {
               return Result<RecoveryStats>(decoder.recovery());
             });
           })
      .def("damage",
           [](Stream& self) {
             return self.Run([](AudioDecoder& decoder) {
               return Result<std::vector<DamagedSamples>>(decoder.damage());
             });
           })
      .def("worker_pid",
           [](Stream& self) {
             return self.Run([](AudioDecoder& decoder) {
               return Result<int>(decoder.worker_pid());
             });
           })
      .def("all_samples",
           [](Stream& self) {
             return self.Run([](AudioDecoder& decoder) {
               return Taken(decoder.AllSamples());
             });
           })
      .def(
          "samples_played_in_range",
          [](Stream& self, double start, std::optional<double> stop) {
            return self.Run([&](AudioDecoder& decoder) {
              return Taken(decoder.SamplesPlayedInRange(start, stop));
            });
          },
          py::arg("start"), py::arg("stop"))
      .def("cancel", [](Stream& self) { self.waiting().Cancel(); });
}

}  // namespace bulkhead::python
