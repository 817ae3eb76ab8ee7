// SPDX-License-Identifier: Apache-2.0
#include "bulkhead/host.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/python/bindings/decoders.h"
#include "core/python/bindings/errors.h"
#include "core/python/bindings/gil.h"
#include "core/python/bindings/host.h"
#include "core/python/bindings/reader.h"
#include "core/python/bindings/record.h"

namespace bulkhead::python {
namespace {

namespace py = pybind11;

// The reader of one source serves one decoder, and its exceptions belong to the
// call of that decoder.
template <typename Decoder, typename Options, typename Open>
std::unique_ptr<Stream<Decoder>> OpenStream(const PythonSource& source,
                                            Options options, Open open) {
  auto waiting = std::make_unique<Waiting>(source.reader);
  options.cancellation = waiting->cancellation();
  Decoder decoder = waiting->Run([&] { return open(source.source, options); });
  return std::make_unique<Stream<Decoder>>(std::move(decoder),
                                           std::move(waiting));
}

ContainerMetadata Probe(Host& host, const PythonSource& source,
                        const std::string& device, bool scan,
                        const AllowedMedia& allowed) {
  Waiting waiting(source.reader);
  return waiting.Run([&] {
    return host.Probe(source.source, {.device = device,
                                      .scan = scan,
                                      .cancellation = waiting.cancellation(),
                                      .allowed = allowed});
  });
}

// A command of operators.
auto Command(Status (Host::*command)(const std::string&)) {
  return [command](Host& self, const std::string& backend) {
    ValueOf((self.*command)(backend));
  };
}

}  // namespace

void DefineHost(py::module_& module) {
  using Released = py::call_guard<WithoutGil>;
  py::class_<Host>(module, "Host", "The door to Bulkhead.")
      .def(py::init([](const HostOptions& options) {
             return ValueOf(Host::Create(options));
           }),
           Released(), py::arg("options"))
      .def(
          "open_video",
          [](Host& self, const PythonSource& source,
             const VideoOptions& options) {
            return OpenStream<VideoDecoder>(
                source, options, [&](const Source& media, VideoOptions opened) {
                  return self.OpenVideo(media, std::move(opened));
                });
          },
          py::arg("source"), py::arg("options"))
      .def(
          "open_audio",
          [](Host& self, const PythonSource& source,
             const AudioOptions& options) {
            return OpenStream<AudioDecoder>(
                source, options, [&](const Source& media, AudioOptions opened) {
                  return self.OpenAudio(media, std::move(opened));
                });
          },
          py::arg("source"), py::arg("options"))
      .def("probe", Probe, py::arg("source"), py::arg("device"),
           py::arg("scan"), py::arg("allowed"))
      .def(
          "prewarm",
          [](Host& self, const std::string& device) {
            ValueOf(self.Prewarm(device));
          },
          Released(), py::arg("device"))
      .def(
          "load_backend",
          [](Host& self, const std::string& path) {
            return ValueOf(self.LoadBackend(path));
          },
          Released(), py::arg("path"))
      .def(
          "load_backend",
          [](Host& self, const EntryPoint& entry_point) {
            return ValueOf(self.LoadBackend(entry_point));
          },
          Released(), py::arg("entry_point"))
      .def("restart", Command(&Host::Restart), Released(), py::arg("backend"))
      .def("reload", Command(&Host::Reload), Released(), py::arg("backend"))
      .def("disable", Command(&Host::Disable), Released(), py::arg("backend"))
      .def("enable", Command(&Host::Enable), Released(), py::arg("backend"))
      .def(
          "devices", [](Host& self) { return ValueOf(self.Devices()); },
          Released())
      .def(
          "backends", [](Host& self) { return ValueOf(self.Backends()); },
          Released())
      .def(
          "sandbox", [](Host& self) { return ValueOf(self.Sandbox()); },
          Released())
      .def_property_readonly("supervisor_pid", &Host::supervisor_pid);
}

}  // namespace bulkhead::python
