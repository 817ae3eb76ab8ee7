// SPDX-License-Identifier: Apache-2.0
#include "tests/escape/onlooker/snapshot.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "ipc/unique_fd.h"

namespace bulkhead::tests {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;

std::string NameOfErrno() {
  const char* name = strerrorname_np(errno);
  return name != nullptr ? name : std::to_string(errno);
}

// Returns the contents of the file, or the name of the errno.
std::string Contents(const std::string& path) {
  const ipc::UniqueFd file(
      open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (!file) return NameOfErrno();
  std::string text;
  char some[4096];
  ssize_t bytes = 0;
  while (text.size() < kMostBytes &&
         (bytes = read(file.get(), some, sizeof(some))) > 0) {
    text.append(some, static_cast<size_t>(bytes));
  }
  return bytes < 0 ? NameOfErrno() : text;
}

// Returns the names in the directory, without "." and "..", in order.
std::vector<std::string> NamesIn(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(path.c_str()),
                                                      closedir);
  std::vector<std::string> names;
  if (directory == nullptr) return names;
  errno = 0;
  while (const dirent* entry = readdir(directory.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  // By number, where the names are numbers.
  std::ranges::sort(names, [](const auto& a, const auto& b) {
    return std::pair(a.size(), a) < std::pair(b.size(), b);
  });
  return names;
}

std::string Trimmed(std::string text) {
  constexpr const char* kBlank = " \t";
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

// Adds the lines "NAME: VALUE".
void AddNamed(const std::string& name, const std::string& text,
              Snapshot& into) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    into[name + ":" + Trimmed(line.substr(0, colon))] =
        Trimmed(line.substr(colon + 1));
  }
}

// Adds the lines of /proc/PID/limits, whose names are in the first columns.
void AddLimits(const std::string& name, const std::string& text,
               Snapshot& into) {
  constexpr size_t kColumns = 26;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t end = std::min(kColumns, line.size());
    into[name + ":" + Trimmed(line.substr(0, end))] = Trimmed(line.substr(end));
  }
}

// Adds the fields of /proc/PID/stat, numbered as in its manual page.
void AddStat(const std::string& name, const std::string& text, Snapshot& into) {
  const size_t end = text.rfind(')');
  if (end == std::string::npos) {
    into[name] = text;
    return;
  }
  into[name + ":2"] = text.substr(text.find('('), end - text.find('(') + 1);
  std::istringstream fields(text.substr(end + 1));
  int number = 3;
  for (std::string field; fields >> field; ++number) {
    into[name + ":" + std::to_string(number)] = field;
  }
}

void AddFile(const std::string& name, const std::string& path, Snapshot& into) {
  const std::string file = path.substr(path.rfind('/') + 1);
  const std::string text = Contents(path);
  if (file == "stat") {
    AddStat(name, text, into);
  } else if (file == "status" || file == "sched" || file == "arch_status") {
    AddNamed(name, text, into);
  } else if (file == "limits") {
    AddLimits(name, text, into);
  } else {
    into[name] = text;
  }
}

void AddTree(const std::string& name, const std::string& path, Snapshot& into) {
  const std::vector<std::string> entries = NamesIn(path);
  if (entries.empty()) into[name] = NameOfErrno();
  int task = 0;
  for (const std::string& entry : entries) {
    const std::string below = path + "/" + entry;
    struct stat file = {};
    if (lstat(below.c_str(), &file) != 0) continue;
    // The ids of threads are of no account.
    const std::string called = path.ends_with("/task")
                                   ? name.substr(0, name.rfind('/')) +
                                         "/task " + std::to_string(task++)
                                   : name + "/" + entry;
    if (S_ISDIR(file.st_mode)) {
      AddTree(called, below, into);
    } else if (S_ISREG(file.st_mode)) {
      AddFile(called, below, into);
    } else {
      char to[256];
      const ssize_t size = readlink(below.c_str(), to, sizeof(to));
      into[called] =
          size < 0 ? NameOfErrno() : std::string(to, static_cast<size_t>(size));
    }
  }
}

// Files with numbers that the kernel gives to each socket, mount or group, and
// the words of a line that have them.
struct Numbered {
  const char* name;  // how the file's path ends
  std::set<size_t> words;
};
const Numbered kNumbered[] = {{"/net/unix", {0, 6}},
                              {"/net/netlink", {0, 9}},
                              {"/mountinfo", {0, 1, 2}},
                              {"/autogroup", {0}}};

// Returns the lines without those words, in order.
std::string WithoutNumbers(const std::set<size_t>& numbers,
                           const std::string& text) {
  std::istringstream lines(text);
  std::vector<std::string> kept;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string rest;
    size_t index = 0;
    for (std::string word; words >> word; ++index) {
      if (!numbers.contains(index)) rest += word + " ";
    }
    kept.push_back(rest + "\n");
  }
  std::ranges::sort(kept);
  std::string all;
  for (const std::string& line : kept) all += line;
  return all;
}

void DropNumbers(Snapshot& seen) {
  for (auto& [name, value] : seen) {
    for (const Numbered& file : kNumbered) {
      if (name.ends_with(file.name)) value = WithoutNumbers(file.words, value);
    }
  }
}

}  // namespace

Snapshot ReadProcess(const std::string& role, pid_t pid) {
  Snapshot seen;
  AddTree(role, "/proc/" + std::to_string(pid), seen);
  DropNumbers(seen);
  return seen;
}

Snapshot ReadMachine() {
  Snapshot seen;
  for (const char* directory : {"/proc/self/net", "/proc/sysvipc"}) {
    AddTree(directory, directory, seen);
  }
  for (const char* file : {"/proc/locks", "/proc/key-users", "/proc/keys",
                           "/proc/kmsg", "/dev/kmsg", "/proc/timer_list",
                           "/proc/sched_debug", "/proc/fs/nfsd"}) {
    seen[file] = Contents(file);
  }
  DropNumbers(seen);
  return seen;
}

Snapshot ReadDirectory(const std::string& path) {
  Snapshot seen;
  const std::vector<std::string> names = NamesIn(path);
  for (const std::string& name : names) {
    const std::string file = path + "/" + name;
    struct stat found = {};
    if (lstat(file.c_str(), &found) != 0) {
      seen[file] = NameOfErrno();
      continue;
    }
    std::ostringstream text;
    text << found.st_mode << " " << found.st_uid << " " << found.st_size << " "
         << found.st_blocks << " " << found.st_atim.tv_sec << " "
         << found.st_mtim.tv_sec << " " << found.st_ctim.tv_sec;
    seen[file] = text.str();
  }
  return seen;
}

}  // namespace bulkhead::tests
