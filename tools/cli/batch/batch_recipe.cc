// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/batch/batch_recipe.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "core/crashes/crash_json.h"

namespace bulkhead::cli::batch {

bulkhead::batch::Record OptionsForRecords(const decode::DecodeOptions& options,
                                          const GlobalOptions& global,
                                          const std::string& format) {
  bulkhead::batch::Record record{
      {"format", format},
      {"device", options.video.device.empty() ? "cpu" : options.video.device},
      {"on_corrupt", crashes::NameOf(options.video.on_corrupt)}};
  for (const auto& [name, value] :
       {std::pair{"on_failure", &options.video.on_failure},
        {"frames", &options.frames},
        {"at", &options.at},
        {"times", &options.times},
        {"fps", &options.fps},
        {"dtype", &options.dtype},
        {"pixel_format", &options.pixel_format},
        {"allow", &global.allow}}) {
    if (!value->empty()) record[name] = *value;
  }
  for (const auto& [name, values] :
       {std::pair{"transforms", &options.transform_words},
        {"options", &options.backend_options},
        {"allow_containers", &global.allow_containers},
        {"allow_codecs", &global.allow_codecs}}) {
    if (!values->empty()) record[name] = *values;
  }
  for (const auto& [name, value] :
       {std::pair{"stream", &options.video.stream_index},
        {"sample_rate", &options.sample_rate},
        {"channels", &options.channels}}) {
    if (*value) record[name] = **value;
  }
  for (const auto& [name, value] :
       {std::pair{"best_stream",
                  options.video.stream_choice == StreamChoice::kBest},
        {"audio", options.audio},
        {"no_autoscale", !options.video.autoscale}}) {
    if (value) record[name] = true;
  }
  if (options.video.threads != 1) record["threads"] = options.video.threads;
  // The record as it will be read back: LineOf() replaces bytes that are not
  // UTF-8.
  return bulkhead::batch::Record::parse(bulkhead::batch::LineOf(record));
}

}  // namespace bulkhead::cli::batch
