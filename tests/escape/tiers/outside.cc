// SPDX-License-Identifier: Apache-2.0
#include "tests/escape/tiers/outside.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

namespace bulkhead::tests {
namespace {

namespace fs = std::filesystem;

std::string Proc(int pid) { return "/proc/" + std::to_string(pid); }

std::string LinkOf(const std::string& path) {
  std::error_code error;
  return fs::read_symlink(path, error).string();
}

// Tells by other shared state whether a namespace is shared, where the link in
// /proc may not be read.
bool SeemsShared(int pid, const std::string& name) {
  if (name == "user")
    return FileOf(pid, "uid_map") == FileOf(getpid(), "uid_map");
  if (name == "mnt") {
    return FileOf(pid, "mountinfo") == FileOf(getpid(), "mountinfo");
  }
  if (name == "net") {
    // Every process of a network namespace sees the same list of unix sockets,
    // and this process listens on one.
    const std::string sockets = FileOf(pid, "net/unix");
    return std::count(sockets.begin(), sockets.end(), '\n') > 1;
  }
  const auto status = StatusOf(Proc(pid));
  const auto inner = status.find("NStgid");
  return name == "pid" && inner != status.end() &&
         inner->second.find('\t') == std::string::npos;
}

}  // namespace

std::map<std::string, std::string> StatusOf(const std::string& directory) {
  std::map<std::string, std::string> lines;
  std::ifstream file(directory + "/status");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(":\t");
    if (colon == std::string::npos) continue;
    lines[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return lines;
}

std::vector<std::map<std::string, std::string>> StatusOfThreads(int pid) {
  std::vector<std::map<std::string, std::string>> threads;
  for (const auto& task : fs::directory_iterator(Proc(pid) + "/task")) {
    threads.push_back(StatusOf(task.path()));
  }
  return threads;
}

std::string LimitOf(int pid, std::string_view name) {
  std::ifstream file(Proc(pid) + "/limits");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name)) continue;
    std::istringstream values(line.substr(name.size()));
    std::string soft;
    std::string hard;
    values >> soft >> hard;
    return hard;
  }
  return "";
}

std::string FileOf(int pid, const std::string& name) {
  std::ifstream file(Proc(pid) + "/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<std::string> SharedNamespaces(int pid) {
  std::vector<std::string> shared;
  for (const std::string name : {"user", "pid", "mnt", "net", "ipc", "uts"}) {
    const std::string theirs = LinkOf(Proc(pid) + "/ns/" + name);
    const std::string ours = LinkOf("/proc/self/ns/" + name);
    if (!theirs.empty()) {
      if (theirs == ours) shared.push_back(name);
    } else if (SeemsShared(pid, name)) {
      shared.push_back(name);
    } else {
      shared.push_back(name + "?");
    }
  }
  return shared;
}

std::vector<int> ChildrenOf(int parent) {
  std::vector<int> children;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (!std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; })) {
      continue;
    }
    const auto status = StatusOf(entry.path());
    const auto is = status.find("PPid");
    if (is != status.end() && is->second == std::to_string(parent)) {
      children.push_back(std::stoi(name));
    }
  }
  return children;
}

}  // namespace bulkhead::tests
