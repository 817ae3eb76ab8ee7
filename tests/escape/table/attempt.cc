// SPDX-License-Identifier: Apache-2.0
#include "tests/escape/table/attempt.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <sstream>

namespace bulkhead::tests {

Targets Targets::Read(const std::string& file) {
  Targets targets;
  targets.own_file = file;
  std::ifstream input(file);
  for (std::string key; input >> key;) {
    if (key == "reduced") input >> targets.reduced;
    if (key == "application_pid") input >> targets.application_pid;
    if (key == "sibling_pid") input >> targets.sibling_pid;
    if (key == "tcp_port") input >> targets.tcp_port;
    if (key == "unix_path") input >> targets.unix_path;
    if (key == "abstract_name") input >> targets.abstract_name;
    if (key == "secret_file") input >> targets.secret_file;
    if (key == "other_file") input >> targets.other_file;
  }
  return targets;
}

std::string Targets::Write() const {
  std::ostringstream out;
  out << "reduced " << reduced << "\napplication_pid " << application_pid
      << "\nsibling_pid " << sibling_pid << "\ntcp_port " << tcp_port
      << "\nunix_path " << unix_path << "\nabstract_name " << abstract_name
      << "\nsecret_file " << secret_file << "\nother_file " << other_file
      << "\n";
  return out.str();
}

std::string_view Expected::For(const Targets& targets) const {
  const char* in_full = targets.in_zygote ? zygote : session;
  const char* in_reduced = targets.in_zygote ? zygote_reduced : session_reduced;
  return targets.reduced && in_reduced != nullptr ? in_reduced : in_full;
}

std::string Attempt::Run(const Targets& targets) const {
  if (run != nullptr) return run(targets);
  return Answer(syscall(number, -1L, -1L, -1L, -1L, -1L, -1L));
}

std::string Answer(long result) {
  if (result >= 0) return "allowed";
  const char* name = strerrorname_np(errno);
  return name != nullptr ? name : "errno " + std::to_string(errno);
}

std::string Check(bool holds, const std::string& found) {
  return holds ? "ok" : found;
}

std::vector<Attempt> AllAttempts() {
  std::vector<Attempt> all;
  for (const auto section :
       {SystemCallAttempts, ProcessAttempts, KernelAttempts, CodeAttempts,
        FileAttempts, NetworkAttempts, ResourceAttempts, SharedMemoryAttempts,
        SharedPageAttempts}) {
    auto attempts = section();
    all.insert(all.end(), std::make_move_iterator(attempts.begin()),
               std::make_move_iterator(attempts.end()));
  }
  return all;
}

bool IsHarmless(std::string_view expected) {
  return expected.starts_with("E:") || expected.starts_with("ok") ||
         expected.starts_with("allowed");
}

bool Matches(std::string_view expected, const std::string& got) {
  if (expected.starts_with("allowed")) return got == "allowed";
  const size_t colon = expected.find(':');
  if (colon != std::string_view::npos) expected.remove_prefix(colon + 1);
  while (!expected.empty()) {
    const size_t bar = expected.find('|');
    if (expected.substr(0, bar) == got) return true;
    if (bar == std::string_view::npos) break;
    expected.remove_prefix(bar + 1);
  }
  return false;
}

}  // namespace bulkhead::tests
