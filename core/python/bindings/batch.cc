// SPDX-License-Identifier: Apache-2.0
#include <pybind11/stl.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bulkhead/damage.h"
#include "bulkhead/host.h"
#include "core/application/batch/attempt.h"
#include "core/application/batch/plan.h"
#include "core/application/batch/record.h"
#include "core/application/batch/summary.h"
#include "core/application/decoding/job.h"
#include "core/application/decoding/outcome.h"
#include "core/application/decoding/selection.h"
#include "core/python/bindings/definitions.h"
#include "core/python/bindings/errors.h"
#include "core/python/bindings/gil.h"
#include "core/python/bindings/strings.h"
#include "core/python/bindings/waiting.h"

namespace bulkhead::python {
namespace {

namespace py = pybind11;
using Released = py::call_guard<WithoutGil>;

// An Item as Python has it: (input, output).
using ItemPair = std::pair<std::string, std::string>;

batch::Item ItemOf(ItemPair pair) {
  return {std::move(pair.first), std::move(pair.second)};
}

// Throws an OSError if `status`, the result of writing to the output directory,
// is a failure. Takes the GIL itself.
void CheckDirectory(const Status& status) {
  if (status.ok()) return;
  const WithGil gil;
  PyErr_SetObject(PyExc_OSError, Shown(status.message()).ptr());
  throw py::error_already_set();
}

// An open output directory, and its records with the options of one batch.
struct Batch {
  Batch(const std::string& path, const std::string& options_json)
      : options(batch::Record::parse(options_json)) {
    auto opened = batch::Directory::Open(path);
    if (!opened) CheckDirectory(opened.error());
    directory = *std::move(opened);
    records.emplace(*directory, options);
  }
  ~Batch() {
    // Unfinished outputs are removed, which may be directories of many files.
    const WithoutGil released;
    directory.reset();
  }

  const batch::Record options;
  std::unique_ptr<batch::Directory> directory;
  std::optional<batch::Records> records;
};

// An attempt to decode one input, with all that batch::Attempt borrows. `known`
// is the verdict of an input that need not be decoded.
struct Attempt {
  Attempt(std::shared_ptr<Batch> its_batch, batch::Item item, std::string path,
          batch::Recipe its_recipe)
      : owner(std::move(its_batch)),
        recipe(std::move(its_recipe)),
        attempt(*owner->directory, *owner->records, recipe, std::move(item),
                std::move(path), "0"),
        known(attempt.Begin([] { return false; })) {
    if (known && known->kind == batch::Verdict::Kind::kEnd) {
      CheckDirectory(known->status);
    }
  }

  const std::shared_ptr<Batch> owner;
  const batch::Recipe recipe;
  batch::Attempt attempt;
  const std::optional<batch::Verdict> known;
};

// Returns the verdict. Throws if the verdict ends the batch, or if it is a loss
// that dask has to try again.
batch::Verdict Checked(batch::Verdict verdict) {
  const Code code = verdict.status.code();
  using Kind = batch::Verdict::Kind;
  // With any other code, kEnd means that the output could not be written.
  if (verdict.kind == Kind::kEnd && code != Code::kSandboxUnavailable) {
    CheckDirectory(verdict.status);
  }
  // An input that was changed meanwhile, kInvalidArgument, is not tried again.
  if (code != Code::kInvalidArgument) ValueOf(verdict.status);
  return verdict;
}

// Ends an attempt with the outcome that Python code reports. `code` is the name
// of the error's code, empty if the input was decoded.
batch::Verdict Finish(Attempt& self, const std::string& code,
                      std::string message, std::optional<uint64_t> frames,
                      std::optional<uint64_t> frame_count,
                      std::optional<uint64_t> frame_count_from_header,
                      std::vector<DamagedRange> damage, uint32_t restarts) {
  decoding::Outcome outcome;
  if (!code.empty()) {
    outcome.status = Status(batch::CodeNamed(code), std::move(message));
  }
  outcome.frames = frames;
  outcome.frame_count = frame_count;
  outcome.frame_count_from_header = frame_count_from_header;
  outcome.damage = std::move(damage);
  outcome.recovery.restarts = restarts;
  return Checked(self.attempt.Finish(outcome));
}

// Decodes the input such that ^C can end it, and ends the attempt.
batch::Verdict Decode(Attempt& self, Host& host, decoding::Job job) {
  Waiting waiting(nullptr);
  job.video.cancellation = waiting.cancellation();
  if (job.audio) job.audio->cancellation = waiting.cancellation();
  return Checked(waiting.Run([&]() -> Result<batch::Verdict> {
    auto verdict = self.attempt.Decode(host, job);
    if (!verdict) return Status(Code::kCancelled, "the call was cancelled");
    return *std::move(verdict);
  }));
}

batch::Record Parsed(const std::string& line) {
  return batch::ParseRecord(line).value();
}

}  // namespace

void DefineBatch(py::module_& module) {
  module.def(
      "plan_outputs",
      [](std::vector<std::string> inputs, const std::string& relative_to,
         const std::string& suffix) {
        std::vector<ItemPair> items;
        for (batch::Item& item : ValueOf(
                 batch::PlanOutputs(std::move(inputs), relative_to, suffix))) {
          items.emplace_back(std::move(item.input), std::move(item.output));
        }
        return items;
      },
      Released(), py::arg("inputs"), py::arg("relative_to"), py::arg("suffix"));
  module.def(
      "is_slice",
      [](const std::string& text) {
        return static_cast<bool>(decoding::ParseSlice(text));
      },
      py::arg("text"));
  module.def(
      "is_list_of_indices",
      [](const std::string& text) {
        return static_cast<bool>(decoding::ParseIndices(text));
      },
      py::arg("text"));
  module.def(
      "is_loss",
      [](const std::string& code) {
        return batch::IsLoss(batch::CodeNamed(code));
      },
      py::arg("code"));
  module.def(
      "record_text",
      [](const std::string& path) { return batch::TextOf(path); },
      py::arg("path"));
  module.def(
      "batch_makers",
      [](Host& host, const std::string& device) {
        return ValueOf(batch::MakersForRecords(host, device)).dump();
      },
      Released(), py::arg("host"), py::arg("device"));

  py::class_<batch::Verdict>(module, "BatchVerdict",
                             "The end of an attempt: a result or a loss.")
      .def_property_readonly(
          "record",
          [](const batch::Verdict& self) {
            return self.record.is_null()
                       ? std::nullopt
                       : std::optional(batch::LineOf(self.record));
          })
      .def_readonly("copy_of_poison", &batch::Verdict::copy_of_poison)
      .def_property_readonly("code",
                             [](const batch::Verdict& self) {
                               return std::string(CodeName(self.status.code()));
                             })
      .def_property_readonly("message", [](const batch::Verdict& self) {
        return Shown(self.status.message());
      });
  py::class_<Attempt>(module, "BatchAttempt", "One attempt at one input.")
      .def_readonly("known", &Attempt::known)
      .def_property_readonly(
          "output", [](const Attempt& self) { return self.attempt.output(); })
      .def(
          "decode_video",
          [](Attempt& self, Host& host, const VideoOptions& options,
             const std::string& format, const std::string& frames,
             const std::string& at) {
            decoding::Job job{.video = options, .format = format};
            if (!frames.empty())
              job.slice = ValueOf(decoding::ParseSlice(frames));
            if (!at.empty()) job.indices = ValueOf(decoding::ParseIndices(at));
            return Decode(self, host, std::move(job));
          },
          py::arg("host"), py::arg("options"), py::arg("format"),
          py::arg("frames"), py::arg("at"))
      .def(
          "decode_audio",
          [](Attempt& self, Host& host, const AudioOptions& options,
             const std::string& format) {
            return Decode(self, host, {.audio = options, .format = format});
          },
          py::arg("host"), py::arg("options"), py::arg("format"))
      .def("finish", &Finish, Released(), py::arg("code"), py::arg("message"),
           py::arg("frames"), py::arg("frame_count"),
           py::arg("frame_count_from_header"), py::arg("damage"),
           py::arg("restarts"));
  py::class_<Batch, std::shared_ptr<Batch>>(module, "Batch",
                                            "The output directory of a batch.")
      .def(py::init<const std::string&, const std::string&>(), Released(),
           py::arg("directory"), py::arg("options"))
      .def(
          "find",
          [](const Batch& self, ItemPair item, const std::string& path) {
            const auto found = self.records->Find(ItemOf(std::move(item)),
                                                  batch::StampOf(path));
            return found ? std::optional(batch::LineOf(*found)) : std::nullopt;
          },
          Released(), py::arg("item"), py::arg("path"))
      .def(
          "begin",
          [](std::shared_ptr<Batch> self, ItemPair item,
             const std::string& path, const std::string& suffix,
             const std::string& makers, bool has_frames) {
            batch::Recipe recipe{.options = self->options,
                                 .makers = batch::Record::parse(makers),
                                 .suffix = suffix,
                                 .has_frames = has_frames};
            return std::make_unique<Attempt>(std::move(self),
                                             ItemOf(std::move(item)), path,
                                             std::move(recipe));
          },
          Released(), py::arg("item"), py::arg("path"), py::arg("suffix"),
          py::arg("makers"), py::arg("has_frames"))
      .def(
          "join",
          [](const Batch& self) { CheckDirectory(self.directory->Join()); },
          Released());

  py::class_<batch::Summary>(module, "BatchSummary",
                             "Counts the results of a batch.")
      .def(py::init<uint64_t>(), py::arg("files"))
      .def(
          "count_earlier",
          [](batch::Summary& self, const std::string& record) {
            self.CountEarlier(Parsed(record));
          },
          py::arg("record"))
      .def(
          "count_result",
          [](batch::Summary& self, const std::string& record,
             bool copy_of_poison) {
            return self.CountResult(Parsed(record), copy_of_poison);
          },
          py::arg("record"), py::arg("copy_of_poison"))
      .def(
          "count_loss",
          [](batch::Summary& self, ItemPair item, const std::string& code,
             const std::string& message) {
            self.CountLoss(ItemOf(std::move(item)),
                           Status(batch::CodeNamed(code), message));
          },
          py::arg("item"), py::arg("code"), py::arg("message"))
      .def("progress_line", &batch::Summary::ProgressLine)
      .def("lines", &batch::Summary::Lines, py::arg("of_missing"))
      .def("facts", [](const batch::Summary& self) {
        return self.Facts().dump(
            -1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
      });
}

}  // namespace bulkhead::python
