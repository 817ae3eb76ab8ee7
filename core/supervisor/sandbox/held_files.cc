// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/held_files.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <sstream>
#include <system_error>

#include "core/base/status_macros.h"
#include "core/supervisor/sandbox/mount_table.h"
#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {
namespace {

constexpr size_t kPieceBytes = size_t{8} << 20;
// The limits for one backend. A decoder with all libraries of a GPU maps some
// hundred parts. The paths are bounded because FileMappings() reads only so
// much of /proc/self/maps.
constexpr size_t kMostParts = 1024;
constexpr size_t kMostNameBytes = size_t{256} << 10;
// The smallest table from which entries of parts that are gone are removed.
constexpr size_t kLeastParts = 1024;
// The most parts of all backends. The kernel allows a process 65,530 mappings
// (vm.max_map_count), and bulkheadd needs others too.
constexpr size_t kMostOfAll = size_t{32} * 1024;

uint64_t PageBytes() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

// Returns the device number of the file system of memfds, or nullopt if
// descriptors are short.
std::optional<uint64_t> DeviceOfMemory() {
  const ipc::UniqueFd memory(memfd_create("bulkhead-device", MFD_CLOEXEC));
  struct stat info = {};
  if (fstat(memory.get(), &info) != 0) return std::nullopt;
  return info.st_dev;
}

// Returns the device number of the process's root, if the process has another
// root than this process.
std::optional<uint64_t> DeviceOfOwnRoot(pid_t process) {
  const std::string path = "/proc/" + std::to_string(process) + "/root/.";
  struct stat own = {};
  struct stat ours = {};
  if (stat(path.c_str(), &own) != 0 || stat("/", &ours) != 0 ||
      own.st_dev == ours.st_dev) {
    return std::nullopt;
  }
  return own.st_dev;
}

// Opens a regular file for reading. Checks the type before, since opening a
// device may already have an effect.
ipc::UniqueFd OpenRegularFile(const std::string& path) {
  const ipc::UniqueFd place(open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat info = {};
  if (!place || fstat(place.get(), &info) != 0) return ipc::UniqueFd();
  if (!S_ISREG(info.st_mode)) {
    errno = EINVAL;
    return ipc::UniqueFd();
  }
  const std::string link = "/proc/self/fd/" + std::to_string(place.get());
  return ipc::UniqueFd(open(link.c_str(), O_RDONLY | O_CLOEXEC));
}

// Opens the file of a mapping by its path. If the file was removed (an
// upgrade), opens it through /proc: map_files, which only root may use, or exe,
// if it is the program of the process.
ipc::UniqueFd Open(pid_t process, const FileMapping& mapping) {
  const std::string of_process = "/proc/" + std::to_string(process);
  std::ostringstream link;
  link << of_process << "/map_files/" << std::hex << mapping.range.begin << "-"
       << mapping.range.end;
  ipc::UniqueFd file;
  for (const std::string& path :
       {mapping.path, link.str(), of_process + "/exe"}) {
    file = OpenRegularFile(path);
    if (file || errno == EMFILE || errno == ENFILE) break;
  }
  return file;
}

// Adds a span, and joins it with the spans that it touches.
void Join(uint64_t begin, uint64_t end, std::map<uint64_t, uint64_t>& spans) {
  auto next = spans.upper_bound(begin);
  if (next != spans.begin() && std::prev(next)->second >= begin) --next;
  while (next != spans.end() && next->first <= end) {
    begin = std::min(begin, next->first);
    end = std::max(end, next->second);
    next = spans.erase(next);
  }
  spans[begin] = end;
}

bool Contains(const std::map<uint64_t, uint64_t>& spans, uint64_t begin,
              uint64_t end) {
  const auto next = spans.upper_bound(begin);
  return next != spans.begin() && std::prev(next)->second >= end;
}

Status CannotHold(const std::string& path, const std::string& why,
                  Code code = Code::kBackendUnavailable) {
  return Status(code, "it maps the file " + path +
                          ", which cannot be held in memory: " + why);
}

// Returns CannotHold() with the text of errno, after a system call has failed.
Status CannotHold(const std::string& path) {
  const int error = errno;
  const bool short_of_it =
      error == EMFILE || error == ENFILE || error == ENOMEM;
  return CannotHold(
      path, std::generic_category().message(error),
      short_of_it ? Code::kResourceExhausted : Code::kBackendUnavailable);
}

}  // namespace

HeldParts::HeldParts()
    : HeldParts([table = std::make_shared<MountTable>()](uint64_t device) {
        return table->IsRemote(device);
      }) {}

HeldPages::~HeldPages() { munmap(memory_.data(), memory_.size()); }

std::shared_ptr<const HeldPages> HeldParts::Find(FileId file, uint64_t begin,
                                                 uint64_t end) const {
  const auto found = parts_.find({file, begin, end});
  return found == parts_.end() ? nullptr : found->second.lock();
}

void HeldParts::Add(FileId file, uint64_t begin, uint64_t end,
                    const std::shared_ptr<const HeldPages>& pages) {
  // Cleans up only when the table has doubled, since it takes time for each
  // entry and a backend may add a thousand parts.
  if (parts_.size() >= most_) {
    std::erase_if(parts_,
                  [](const auto& part) { return part.second.expired(); });
    most_ = std::max(2 * parts_.size(), kLeastParts);
  }
  parts_[{file, begin, end}] = pages;
}

Status HeldFiles::Add(pid_t process, const std::vector<FileMapping>& mappings,
                      uint64_t most_bytes, When when) {
  const std::optional<uint64_t> own_root = DeviceOfOwnRoot(process);
  const std::optional<uint64_t> memory = DeviceOfMemory();
  struct Wanted {
    FileMapping mapping;  // a mapping, to open the file by
    Spans spans;          // the parts to hold
  };
  // Collects the parts of each file. Skips files that no other process can
  // open, and parts that are held already.
  std::map<FileId, Wanted> wanted;
  for (const FileMapping& mapping : mappings) {
    const FileId file(mapping.device, mapping.inode);
    const uint64_t bytes = mapping.range.end - mapping.range.begin;
    const auto held = held_.find(file);
    if (mapping.device == memory || mapping.device == own_root ||
        (held != held_.end() &&
         Contains(held->second, mapping.offset, mapping.offset + bytes))) {
      continue;
    }
    if (when == When::kLater && shared_.IsRemote(file)) {
      return CannotHold(mapping.path,
                        "another program or machine serves it, and it was "
                        "mapped after the backend was ready");
    }
    wanted[file].mapping = mapping;
    Join(mapping.offset, mapping.offset + bytes, wanted[file].spans);
  }
  size_t count = pages_.size();
  size_t name_bytes = name_bytes_;
  uint64_t wanted_bytes = 0;
  for (const auto& [file, what] : wanted) {
    count += what.spans.size();
    name_bytes += what.spans.size() * what.mapping.path.size();
    for (const auto& [begin, end] : what.spans) wanted_bytes += end - begin;
  }
  if (count > kMostParts || name_bytes > kMostNameBytes) {
    return Status(Code::kBackendUnavailable,
                  "it maps " + std::to_string(count) +
                      " parts of files, of which " +
                      std::to_string(kMostParts) +
                      " can be held in memory, and fewer if their names are "
                      "long: map files as a whole, or read them");
  }
  if (shared_.size() + count > kMostOfAll) {
    return Status(Code::kResourceExhausted,
                  "bulkheadd holds " + std::to_string(shared_.size()) +
                      " parts of files in memory already, for other backends");
  }
  if (wanted_bytes > most_bytes) {
    return Status(Code::kBackendUnavailable,
                  "it maps " + std::to_string(wanted_bytes) +
                      " bytes of files, of which " +
                      std::to_string(most_bytes) +
                      " can be held in memory: map less of them, or read them");
  }
  bytes_ += wanted_bytes;
  name_bytes_ = name_bytes;
  for (const auto& [file, what] : wanted) {
    for (const auto& [begin, end] : what.spans) {
      // Another backend may hold the part already.
      if (auto pages = shared_.Find(file, begin, end)) {
        pages_.push_back(std::move(pages));
        Join(begin, end, held_[file]);
        continue;
      }
      parts_.push_back({.file = file,
                        .process = process,
                        .mapping = what.mapping,
                        .begin = begin,
                        .end = end});
    }
  }
  return Status();
}

Result<bool> HeldFiles::Step() {
  auto done = Proceed();
  if (done) return done;
  // Discards all added parts, so that a later Add() does not try them again.
  parts_.clear();
  unread_ = {};
  mapped_.clear();
  return done;
}

Result<bool> HeldFiles::Proceed() {
  // Reads a piece of the part that was mapped last; if it is read, maps the
  // next part; if all are mapped, verifies them.
  if (!unread_.empty()) {
    const auto piece = unread_.first(std::min(unread_.size(), kPieceBytes));
    if (madvise(piece.data(), piece.size(), MADV_POPULATE_READ) == 0) {
      unread_ = unread_.subspan(piece.size());
    } else if (errno != EINTR && errno != EAGAIN) {
      return CannotHold(mapped_.back().part.mapping.path);
    }
    return false;
  }
  if (!parts_.empty()) {
    Part part = std::move(parts_.back());
    parts_.pop_back();
    RETURN_IF_ERROR(Map(std::move(part)));
    return false;
  }
  if (!mapped_.empty()) RETURN_IF_ERROR(Verify());
  return true;
}

Status HeldFiles::Map(Part part) {
  const ipc::UniqueFd file = Open(part.process, part.mapping);
  if (!file) return CannotHold(part.mapping.path);
  struct stat info = {};
  if (fstat(file.get(), &info) != 0) return CannotHold(part.mapping.path);
  const size_t bytes = part.end - part.begin;
  void* const memory = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.get(),
                            static_cast<off_t>(part.begin));
  if (memory == MAP_FAILED) return CannotHold(part.mapping.path);
  // Children of this process do not need the mapping.
  madvise(memory, bytes, MADV_DONTFORK);
  const auto whole = std::span(static_cast<std::byte*>(memory), bytes);
  // Only the pages up to the end of the file can be read, the last one whole.
  const uint64_t size = static_cast<uint64_t>(info.st_size) + PageBytes() - 1;
  const uint64_t end = size - size % PageBytes();
  unread_ = whole.first(
      end > part.begin ? std::min<size_t>(bytes, end - part.begin) : 0);
  mapped_.push_back({std::move(part), std::make_shared<HeldPages>(whole)});
  return Status();
}

Status HeldFiles::Verify() {
  const auto own = FileMappings(getpid());
  if (!own) {
    return Status(Code::kResourceExhausted, "/proc/self/maps cannot be read");
  }
  for (const auto& [part, pages] : mapped_) {
    // Finds the line of /proc/self/maps whose range contains `begin`.
    const auto begin = reinterpret_cast<uint64_t>(pages->memory().data());
    const auto after = std::ranges::upper_bound(
        *own, begin, {},
        [](const auto& mapping) { return mapping.range.begin; });
    const auto found = after == own->begin() ? after : std::prev(after);
    if (found == own->end() || begin < found->range.begin ||
        begin >= found->range.end ||
        FileId(found->device, found->inode) != part.file) {
      return CannotHold(part.mapping.path, "another file has its name by now");
    }
    Join(part.begin, part.end, held_[part.file]);
    shared_.Add(part.file, part.begin, part.end, pages);
    pages_.push_back(pages);
  }
  mapped_.clear();
  return Status();
}

}  // namespace bulkhead::sandbox
