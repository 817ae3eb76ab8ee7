// SPDX-License-Identifier: Apache-2.0
#include "core/application/supervisor_link/input_refusal.h"

#include <utility>
#include <vector>

#include "core/base/digest.h"
#include "core/control/exit_report.h"
#include "ipc/limit_name.h"

namespace bulkhead::supervisor_link {

namespace {

// Returns a hash of all arguments. The length of each text is hashed before the
// text, so that different arguments never give the same sequence of bytes.
std::string KeyOf(
    const std::string& identity, const std::vector<int64_t>& numbers,
    const std::vector<std::pair<std::string, std::string>>& texts) {
  Digest digest(HashAlgorithm::kSha256);
  const auto add_number = [&](int64_t number) {
    const std::string text = std::to_string(number) + "\n";
    digest.Append(text);
  };
  const auto add_text = [&](const std::string& text) {
    add_number(static_cast<int64_t>(text.size()));
    digest.Append(text);
  };
  add_text(identity);
  for (const int64_t number : numbers) add_number(number);
  for (const auto& [key, value] : texts) {
    add_text(key);
    add_text(value);
  }
  return digest.Finish();
}

// Returns the names of the deadlines that apply at this position.
std::string DeadlinesAt(const InputPosition& position) {
  switch (position.step) {
    case InputPosition::Step::kOpening:
      return ipc::DeadlineName("open");
    case InputPosition::Step::kScanning:
      return ipc::DeadlineName("scan");
    case InputPosition::Step::kFrame:
      break;
  }
  return ipc::DeadlineName("seek") + " and " + ipc::DeadlineName("frame");
}

}  // namespace

bool IgnoresErrors(OnCorrupt on_corrupt) {
  return on_corrupt == OnCorrupt::kSkip || on_corrupt == OnCorrupt::kNearest;
}

std::string InputKey(const std::string& identity, const VideoOptions& options) {
  return KeyOf(identity,
               {options.stream_index.value_or(-1),
                static_cast<int>(options.stream_choice),
                IgnoresErrors(options.on_corrupt)},
               options.backend_options);
}

std::string InputKey(const std::string& identity, const AudioOptions& options) {
  // Rate and channels are part of the key, unlike the transforms of video:
  // sample numbers, and with them positions, depend on the rate.
  return KeyOf(
      identity,
      {options.stream_index.value_or(-1),
       static_cast<int>(options.stream_choice), options.sample_rate.value_or(0),
       options.num_channels.value_or(0)},
      options.backend_options);
}

std::string DescriptionKey(const std::string& identity) {
  return KeyOf(identity, {}, {});
}

std::string Describe(const InputPosition& position, std::string_view unit) {
  switch (position.step) {
    case InputPosition::Step::kOpening:
      return "while opening";
    case InputPosition::Step::kScanning:
      return "while scanning";
    case InputPosition::Step::kFrame:
      break;
  }
  return "at " + std::string(unit) + " " + std::to_string(position.frame);
}

Status RefusalOf(const PoisonedPosition& poisoned, std::string_view unit,
                 std::string_view device) {
  ExitReport report = poisoned.last;
  report.device = device;
  report.position = Describe(poisoned.position, unit);
  Code code = Code::kPoisonedInput;
  std::string advice = "skip this file or try another backend";
  if (report.kind == ExitReport::Kind::kDeadline) {
    code = Code::kDeadlineExceeded;
    advice = "raise " + DeadlinesAt(poisoned.position) + ", or skip the file";
  } else if (report.kind == ExitReport::Kind::kOutOfMemory) {
    code = Code::kResourceExhausted;
    advice =
        "let it have more memory (bulkhead grant BACKEND memory=N) or skip "
        "the file";
  }
  std::string message = "this file ended " + std::to_string(poisoned.deaths) +
                        (poisoned.deaths == 1 ? " worker" : " workers") +
                        " of device " + report.device + " " + report.position +
                        " and is not tried there again; " +
                        DescribeExit(report, "the last") + "; " + advice +
                        SeeCrash(report.crash);
  return Status(code, std::move(message), std::move(report));
}

}  // namespace bulkhead::supervisor_link
