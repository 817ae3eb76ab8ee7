// SPDX-License-Identifier: Apache-2.0
#include "bulkhead/host.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/python/bindings/decoders.h"
#include "core/python/bindings/definitions.h"
#include "core/python/bindings/errors.h"
#include "core/python/bindings/gil.h"
#include "core/python/bindings/reader.h"
#include "core/python/bindings/record.h"

namespace bulkhead::python {
namespace {

namespace py = pybind11;

// Opens a stream. Its calls go through the Waiting that has the source's
// reader, so that an exception of the reader ends the call during which it was
// raised.
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

// Runs a call that waits for bulkheadd, such that ^C can end it.
template <typename Call>
auto Asked(Call call) {
  Waiting waiting(nullptr);
  return waiting.Run([&] { return call(waiting.cancellation()); });
}

// A method of Host that operators use, such as Restart().
using Command = Status (Host::*)(const std::string&,
                                 const std::optional<Cancellation>&);
auto Commanded(Command command) {
  return [command](Host& self, const std::string& backend) {
    Asked([&](const Cancellation& cancellation) {
      return (self.*command)(backend, cancellation);
    });
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
            Asked([&](const Cancellation& cancellation) {
              return self.Prewarm(device, cancellation);
            });
          },
          py::arg("device"))
      .def(
          "load_backend",
          [](Host& self, const std::string& path) {
            return Asked([&](const Cancellation& cancellation) {
              return self.LoadBackend(path, cancellation);
            });
          },
          py::arg("path"))
      .def(
          "load_backend",
          [](Host& self, const EntryPoint& entry_point) {
            return Asked([&](const Cancellation& cancellation) {
              return self.LoadBackend(entry_point, cancellation);
            });
          },
          py::arg("entry_point"))
      .def("restart", Commanded(&Host::Restart), py::arg("backend"))
      .def("reload", Commanded(&Host::Reload), py::arg("backend"))
      .def("disable", Commanded(&Host::Disable), py::arg("backend"))
      .def("enable", Commanded(&Host::Enable), py::arg("backend"))
      .def("devices",
           [](Host& self) {
             return Asked([&](const Cancellation& cancellation) {
               return self.Devices(cancellation);
             });
           })
      .def("backends",
           [](Host& self) {
             return Asked([&](const Cancellation& cancellation) {
               return self.Backends(cancellation);
             });
           })
      .def("sandbox",
           [](Host& self) {
             return Asked([&](const Cancellation& cancellation) {
               return self.Sandbox(cancellation);
             });
           })
      .def_property_readonly("supervisor_pid", &Host::supervisor_pid);
}

}  // namespace bulkhead::python
