// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/catalog/file_watch.h"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>

namespace bulkhead::catalog {
namespace {

constexpr uint32_t kChanges = IN_ATTRIB | IN_CLOSE_WRITE | IN_CREATE |
                              IN_DELETE | IN_MODIFY | IN_MOVED_FROM |
                              IN_MOVED_TO | IN_ONLYDIR;

}  // namespace

FileWatch::FileWatch(kj::UnixEventPort& port)
    : inotify_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
  if (!inotify_) {
    Note("", "inotify_init1: " + std::generic_category().message(errno));
    return;
  }
  observer_.emplace(port, inotify_.get(),
                    kj::UnixEventPort::FdObserver::OBSERVE_READ);
}

void FileWatch::Note(const std::string& directory, const std::string& message) {
  problem_ = Diagnostic{
      Diagnostic::Severity::kWarning, directory, 0,
      "changes of the files here are not noticed when they happen (" + message +
          "); backends are reloaded with `bulkhead reload` or when "
          "they are listed"};
}

void FileWatch::Watch(const std::set<std::string>& directories) {
  if (!inotify_) return;
  problem_.reset();
  std::erase_if(watches_, [&](const auto& watch) {
    if (directories.contains(watch.first)) return false;
    ::inotify_rm_watch(inotify_.get(), watch.second);
    return true;
  });
  for (const std::string& directory : directories) {
    if (watches_.contains(directory)) continue;
    if (watches_.size() == kMaxDirectories) {
      Note(directory, "there are too many directories");
      return;
    }
    const int watch =
        ::inotify_add_watch(inotify_.get(), directory.c_str(), kChanges);
    if (watch >= 0) {
      watches_.emplace(directory, watch);
    } else if (errno != ENOENT && errno != ENOTDIR) {
      Note(directory,
           "inotify_add_watch: " + std::generic_category().message(errno));
    }
  }
}

bool FileWatch::ReadEvents() {
  alignas(inotify_event) std::array<char, 16 * 1024> events;
  bool any = false;
  for (;;) {
    const ssize_t got = ::read(inotify_.get(), events.data(), events.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return any;
    for (size_t at = 0; at < static_cast<size_t>(got);) {
      inotify_event event;
      std::memcpy(&event, events.data() + at, sizeof(event));
      at += sizeof(event) + event.len;
      // IN_IGNORED says that a watch has ended: Watch() removed it, which is no
      // change, or its directory was removed, which the parent's watch reports.
      if ((event.mask & IN_IGNORED) == 0) {
        any = true;
        continue;
      }
      std::erase_if(watches_, [ended = event.wd](const auto& watch) {
        return watch.second == ended;
      });
    }
  }
}

kj::Promise<void> FileWatch::WhenChanged() {
  if (!observer_) return kj::NEVER_DONE;
  if (ReadEvents()) return kj::READY_NOW;
  return observer_->whenBecomesReadable().then(
      [this] { return WhenChanged(); });
}

}  // namespace bulkhead::catalog
