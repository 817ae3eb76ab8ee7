// SPDX-License-Identifier: Apache-2.0
#include "tests/escape/onlooker/onlooker.h"

#include <grp.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

namespace bulkhead::tests {
namespace {

constexpr const char* kWatch = "watch";
constexpr const char* kLook = "look";

bool WriteAll(int fd, const void* bytes, size_t size) {
  for (const char* at = static_cast<const char*>(bytes); size > 0;) {
    const ssize_t written = send(fd, at, size, MSG_NOSIGNAL);
    if (written <= 0) return false;
    at += written;
    size -= static_cast<size_t>(written);
  }
  return true;
}

bool ReadAll(int fd, void* bytes, size_t size) {
  for (char* at = static_cast<char*>(bytes); size > 0;) {
    const ssize_t got = read(fd, at, size);
    if (got <= 0) return false;
    at += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

bool SendText(int fd, const std::string& text) {
  const uint64_t size = text.size();
  return WriteAll(fd, &size, sizeof(size)) &&
         WriteAll(fd, text.data(), text.size());
}

std::optional<std::string> ReceiveText(int fd) {
  uint64_t size = 0;
  if (!ReadAll(fd, &size, sizeof(size))) return std::nullopt;
  std::string text(size, '\0');
  if (!ReadAll(fd, text.data(), size)) return std::nullopt;
  return text;
}

bool Send(int fd, const Snapshot& snapshot) {
  if (!SendText(fd, std::to_string(snapshot.size()))) return false;
  for (const auto& [name, value] : snapshot) {
    if (!SendText(fd, name) || !SendText(fd, value)) return false;
  }
  return true;
}

std::optional<Snapshot> Receive(int fd) {
  const auto size = ReceiveText(fd);
  if (!size) return std::nullopt;
  Snapshot snapshot;
  for (size_t left = std::stoul(*size); left > 0; --left) {
    const auto name = ReceiveText(fd);
    const auto value = ReceiveText(fd);
    if (!name || !value) return std::nullopt;
    snapshot[*name] = *value;
  }
  return snapshot;
}

class Watcher {
 public:
  // Returns whether the user may watch it.
  bool Add(const std::string& path) {
    const int watch =
        inotify_add_watch(events_.get(), path.c_str(), IN_ALL_EVENTS);
    if (watch >= 0) paths_[watch] = path;
    return watch >= 0;
  }

  // Returns how often each event came since the last call.
  Snapshot Take() {
    std::map<std::string, int> counts;
    alignas(inotify_event) char buffer[16384];
    for (ssize_t size = 0;
         (size = read(events_.get(), buffer, sizeof(buffer))) > 0;) {
      for (ssize_t at = 0; at < size;) {
        inotify_event event;
        std::memcpy(&event, buffer + at, sizeof(event));
        std::string name = paths_[event.wd];
        if (event.len > 0) {
          name += std::string("/") + (buffer + at + sizeof(event));
        }
        ++counts["event " + std::to_string(event.mask) + " " + name];
        at += static_cast<ssize_t>(sizeof(event) + event.len);
      }
    }
    Snapshot taken;
    for (const auto& [name, count] : counts) {
      taken[name] = std::to_string(count);
    }
    return taken;
  }

 private:
  ipc::UniqueFd events_{inotify_init1(IN_NONBLOCK | IN_CLOEXEC)};
  std::map<int, std::string> paths_;
};

// Answers each question. Returns when nobody can ask any more.
int Serve(int socket) {
  if (setgroups(0, nullptr) != 0 ||
      setresgid(kOnlooker, kOnlooker, kOnlooker) != 0 ||
      setresuid(kOnlooker, kOnlooker, kOnlooker) != 0) {
    return 1;
  }
  // So that it may read its own files in /proc.
  prctl(PR_SET_DUMPABLE, 1);
  Watcher watcher;
  Send(socket, {{"ready", ""}});
  while (const auto question = Receive(socket)) {
    Snapshot answer;
    if (question->contains(kWatch)) {
      for (const auto& [path, unused] : *question) {
        if (path != kWatch && watcher.Add(path)) answer[path] = "";
      }
    } else {
      answer = watcher.Take();
      for (const auto& [role, pid] : *question) {
        if (role != kLook) answer.merge(ReadProcess(role, std::stoi(pid)));
      }
      answer.merge(ReadMachine());
      for (const char* directory : {"/dev/shm", "/tmp", "/var/tmp", "/run"}) {
        answer.merge(ReadDirectory(directory));
      }
    }
    if (!Send(socket, answer)) break;
  }
  return 0;
}

std::array<ipc::UniqueFd, 2> SocketPair() {
  int ends[2] = {-1, -1};
  socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
  return {ipc::UniqueFd(ends[0]), ipc::UniqueFd(ends[1])};
}

}  // namespace

Onlooker::Onlooker()
    : ends_(SocketPair()), child_([this] {
        ends_[0] = ipc::UniqueFd();
        return Serve(ends_[1].get());
      }) {
  ends_[1] = ipc::UniqueFd();
  valid_ = Receive(ends_[0].get()).has_value();
}

size_t Onlooker::Watch(const std::vector<std::string>& paths) const {
  Snapshot question = {{kWatch, ""}};
  for (const std::string& path : paths) question[path] = "";
  Send(ends_[0].get(), question);
  return Receive(ends_[0].get()).value_or(Snapshot()).size();
}

Snapshot Onlooker::Look(const std::map<std::string, pid_t>& processes) const {
  Snapshot question = {{kLook, ""}};
  for (const auto& [role, pid] : processes) {
    question[role] = std::to_string(pid);
  }
  Send(ends_[0].get(), question);
  return Receive(ends_[0].get()).value_or(Snapshot());
}

}  // namespace bulkhead::tests
