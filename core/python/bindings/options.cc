// SPDX-License-Identifier: Apache-2.0
#include <pybind11/chrono.h>
#include <pybind11/stl.h>

#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "bulkhead/allowed_media.h"
#include "bulkhead/audio_decoder.h"
#include "bulkhead/frame_mapping.h"
#include "bulkhead/host_options.h"
#include "bulkhead/transforms.h"
#include "bulkhead/video_options.h"
#include "core/crashes/option_names.h"
#include "core/python/bindings/definitions.h"
#include "core/python/bindings/errors.h"

namespace bulkhead::python {
namespace {

namespace py = pybind11;

template <typename Enum, size_t N>
void DefineEnum(py::module_& module, const char* name,
                const std::pair<Enum, const char*> (&values)[N]) {
  py::enum_<Enum> words(module, name);
  for (const auto& [value, word] : values) words.value(word, value);
}

void DefineEnums(py::module_& module) {
  py::enum_<SeekMode>(module, "SeekMode")
      .value("exact", SeekMode::kExact)
      .value("approximate", SeekMode::kApproximate);
  py::enum_<StreamChoice>(module, "StreamChoice")
      .value("first", StreamChoice::kFirst)
      .value("best", StreamChoice::kBest);
  DefineEnum(module, "OutputDtype", crashes::kOutputDtypeNames);
  py::enum_<OutputFormat>(module, "OutputFormat")
      .value("rgb", OutputFormat::kRgb)
      .value("native", OutputFormat::kNative);
  DefineEnum(module, "OnCorrupt", crashes::kOnCorruptNames);
  DefineEnum(module, "SandboxTier", crashes::kSandboxTierNames);
}

void DefineStreamOptions(py::module_& module) {
  py::class_<FrameMapping>(module, "FrameMapping");
  module.def(
      "parse_frame_mappings",
      [](const py::bytes& json) {
        return ValueOf(ParseFrameMappings(std::string_view(json)));
      },
      py::arg("json"));

  py::class_<AllowedMedia>(module, "AllowedMedia")
      .def(py::init<>())
      .def_readwrite("containers", &AllowedMedia::containers)
      .def_readwrite("codecs", &AllowedMedia::codecs)
      .def_static("all", &AllowedMedia::All)
      .def_static("web", &AllowedMedia::Web);

  py::class_<Resize>(module, "Resize")
      .def(py::init([](uint32_t height, uint32_t width) {
             return Resize{.height = height, .width = width};
           }),
           py::arg("height"), py::arg("width"));
  py::class_<Crop>(module, "Crop")
      .def(py::init([](uint32_t top, uint32_t left, uint32_t height,
                       uint32_t width) {
             return Crop{top, left, height, width};
           }),
           py::arg("top"), py::arg("left"), py::arg("height"),
           py::arg("width"));

  py::class_<VideoOptions>(module, "VideoOptions")
      .def(py::init<>())
      .def_readwrite("device", &VideoOptions::device)
      .def_readwrite("stream_index", &VideoOptions::stream_index)
      .def_readwrite("stream_choice", &VideoOptions::stream_choice)
      .def_readwrite("threads", &VideoOptions::threads)
      .def_readwrite("seek_mode", &VideoOptions::seek_mode)
      .def_readwrite("frame_mappings", &VideoOptions::frame_mappings)
      .def_readwrite("on_corrupt", &VideoOptions::on_corrupt)
      .def_readwrite("on_failure", &VideoOptions::on_failure)
      .def_readwrite("backend_options", &VideoOptions::backend_options)
      .def_readwrite("output_dtype", &VideoOptions::output_dtype)
      .def_readwrite("output_format", &VideoOptions::output_format)
      .def_readwrite("autoscale", &VideoOptions::autoscale)
      .def_property(
          "transforms", nullptr,
          [](VideoOptions& self,
             const std::vector<std::variant<Resize, Crop>>& transforms) {
            self.transforms.clear();
            for (const auto& transform : transforms) {
              std::visit(
                  [&](const auto& one) { self.transforms.push_back(one); },
                  transform);
            }
          })
      .def_readwrite("allowed", &VideoOptions::allowed);

  py::class_<AudioOptions>(module, "AudioOptions")
      .def(py::init<>())
      .def_readwrite("device", &AudioOptions::device)
      .def_readwrite("stream_index", &AudioOptions::stream_index)
      .def_readwrite("stream_choice", &AudioOptions::stream_choice)
      .def_readwrite("sample_rate", &AudioOptions::sample_rate)
      .def_readwrite("num_channels", &AudioOptions::num_channels)
      .def_readwrite("on_corrupt", &AudioOptions::on_corrupt)
      .def_readwrite("on_failure", &AudioOptions::on_failure)
      .def_readwrite("backend_options", &AudioOptions::backend_options)
      .def_readwrite("allowed", &AudioOptions::allowed);
}

void DefineLimits(py::module_& module) {
  py::class_<Limits>(module, "Limits")
      .def(py::init<>())
      .def_readwrite("frame_pixels", &Limits::frame_pixels)
      .def_readwrite("session_bytes", &Limits::session_bytes)
      .def_readwrite("worker_bytes", &Limits::worker_bytes)
      .def_readwrite("frame_slots", &Limits::frame_slots)
      .def_readwrite("streams", &Limits::streams)
      .def_readwrite("packet_bytes", &Limits::packet_bytes)
      .def_readwrite("index_frames", &Limits::index_frames)
      .def_readwrite("attempts_per_position", &Limits::attempts_per_position)
      .def_readwrite("restarts_per_position", &Limits::restarts_per_position)
      .def_readwrite("kills_per_position", &Limits::kills_per_position)
      .def_readwrite("failures_per_backend", &Limits::failures_per_backend);

  py::class_<Deadlines>(module, "Deadlines")
      .def(py::init<>())
      .def_readwrite("supervisor_start", &Deadlines::supervisor_start)
      .def_readwrite("backend_start", &Deadlines::backend_start)
      .def_readwrite("worker_start", &Deadlines::worker_start)
      .def_readwrite("open", &Deadlines::open)
      .def_readwrite("scan", &Deadlines::scan)
      .def_readwrite("seek", &Deadlines::seek)
      .def_readwrite("frame", &Deadlines::frame)
      .def_readwrite("close", &Deadlines::close);
}

void DefineHostOptions(py::module_& module) {
  py::class_<HostOptions>(module, "HostOptions")
      .def(py::init<>())
      .def_readwrite("plugin_path", &HostOptions::plugin_path)
      .def_readwrite("plugin_add_path", &HostOptions::plugin_add_path)
      .def_readwrite("plugin_last_path", &HostOptions::plugin_last_path)
      .def_readwrite("autoload", &HostOptions::autoload)
      .def_readwrite("backends", &HostOptions::backends)
      .def_readwrite("backends_disable", &HostOptions::backends_disable)
      .def_readwrite("backends_exec", &HostOptions::backends_exec)
      .def_readwrite("eager", &HostOptions::eager)
      .def_readwrite("grants", &HostOptions::grants)
      .def_readwrite("state_directory", &HostOptions::state_directory)
      .def_readwrite("default_device", &HostOptions::default_device)
      .def_readwrite("sandbox_floor", &HostOptions::sandbox_floor)
      .def_readwrite("cgroup", &HostOptions::cgroup)
      .def_readwrite("require_memory_cgroup",
                     &HostOptions::require_memory_cgroup)
      .def_readwrite("libexec_dir", &HostOptions::libexec_dir)
      .def_readwrite("limits", &HostOptions::limits)
      .def_readwrite("deadlines", &HostOptions::deadlines)
      .def_readwrite("allowed", &HostOptions::allowed);
}

}  // namespace

void DefineOptions(py::module_& module) {
  DefineEnums(module);
  DefineStreamOptions(module);
  DefineLimits(module);
  DefineHostOptions(module);
}

}  // namespace bulkhead::python
