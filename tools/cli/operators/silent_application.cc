// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/silent_application.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string_view>
#include <system_error>

namespace bulkhead::cli {
namespace {

constexpr std::string_view kBeforePid = "of process ";
constexpr size_t kMaxCommandBytes = 4'096;

int PidIn(const std::string& sentence) {
  const size_t at = sentence.find(kBeforePid);
  if (at == std::string::npos) return 0;
  int pid = 0;
  const auto [end, error] =
      std::from_chars(sentence.data() + at + kBeforePid.size(),
                      sentence.data() + sentence.size(), pid);
  return error == std::errc() && pid > 0 ? pid : 0;
}

std::string CommandOf(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline");
  std::string text(kMaxCommandBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  while (!text.empty() && text.back() == '\0') text.pop_back();
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}

}  // namespace

SilentApplication ToSilentApplication(const std::string& sentence) {
  const int pid = PidIn(sentence);
  if (pid == 0) return {};
  return {.pid = pid, .command = CommandOf(pid)};
}

std::string ProgramOf(const std::string& command) {
  const std::string path = command.substr(0, command.find(' '));
  const std::string name = path.substr(path.rfind('/') + 1);
  return name.empty() ? "(not visible)" : name;
}

}  // namespace bulkhead::cli
