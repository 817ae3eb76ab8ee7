// SPDX-License-Identifier: Apache-2.0
#include "tests/escape/table/outcome.h"

#include <gtest/gtest.h>

#include <sstream>
#include <string_view>

#include "tests/escape/table/attempt.h"

namespace bulkhead::tests {

std::string Said(const Status& status) {
  const std::string& message = status.message();
  constexpr std::string_view kMark = "outcome: ";
  const size_t mark = message.find(kMark);
  if (mark == std::string::npos) return "";
  const size_t begin = mark + kMark.size();
  return message.substr(begin, message.find(';', begin) - begin);
}

std::string OutcomeOf(const Status& status) {
  if (const std::string said = Said(status); !said.empty()) return said;
  const ExitReport* exit = status.exit_report();
  if (exit == nullptr) return status.message();
  switch (exit->kind) {
    case ExitReport::Kind::kSandboxViolation:
      return "K";
    case ExitReport::Kind::kSignaled:
      return "signal " + std::to_string(exit->value);
    case ExitReport::Kind::kExited:
      return "exit " + std::to_string(exit->value);
    case ExitReport::Kind::kOutOfMemory:
      return "out of memory";
    case ExitReport::Kind::kDeadline:
      return "deadline";
    case ExitReport::Kind::kProtocolViolation:
      return "protocol violation";
    case ExitReport::Kind::kUnknown:
      break;
  }
  return status.message();
}

std::vector<std::string> ZygoteOutcomes(const Installation& installation,
                                        Host& host) {
  std::vector<std::string> outcomes;
  const size_t all = AllAttempts().size();
  while (outcomes.size() < all) {
    const auto opened =
        installation.Open(host, "zygote", std::to_string(outcomes.size()));
    const size_t before = outcomes.size();
    std::istringstream some(opened ? "" : Said(opened.error()));
    for (std::string outcome; std::getline(some, outcome, ',');) {
      outcomes.push_back(outcome);
    }
    if (outcomes.size() > before) continue;
    ADD_FAILURE() << (opened ? "opened" : opened.error().message());
    return outcomes;
  }
  const std::vector<Attempt> attempts = AllAttempts();
  for (size_t i = 0; i < all; ++i) {
    if (outcomes[i] != kNotMade) continue;
    outcomes[i] = OutcomeInZygote(installation, attempts[i].name);
  }
  return outcomes;
}

std::string OutcomeInZygote(const Installation& installation,
                            const std::string& name) {
  const auto host = installation.StartHost(name);
  const Status loaded = host->Prewarm("escape");
  if (loaded.ok()) return Said(installation.Decode(*host, "zygote", "itself"));
  const std::string& message = loaded.message();
  if (message.find("it was killed by its sandbox") != std::string::npos) {
    return "K";
  }
  constexpr std::string_view kEnded = "it was ended by ";
  const size_t signal = message.find(kEnded);
  if (signal == std::string::npos) return message;
  return message.substr(signal + kEnded.size(),
                        message.find(" (", signal) - signal - kEnded.size());
}

}  // namespace bulkhead::tests
