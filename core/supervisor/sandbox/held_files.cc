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
// A decoder with all libraries of a GPU maps some hundred. All backends of a
// bulkheadd together must stay below vm.max_map_count, and their names below
// what FileMappings() reads.
constexpr size_t kMostParts = 1024;
constexpr size_t kMostNameBytes = size_t{256} << 10;
constexpr size_t kLeastParts = 1024;
// bulkheadd needs mappings for more than these (vm.max_map_count is 65,530).
constexpr size_t kMostOfAll = size_t{32} * 1024;

uint64_t PageBytes() { return static_cast<uint64_t>(sysconf(_SC_PAGESIZE)); }

// Returns the number of the file system that memory without a file is on, or
// nullopt if descriptors are short.
std::optional<uint64_t> DeviceOfMemory() {
  const ipc::UniqueFd memory(memfd_create("bulkhead-device", MFD_CLOEXEC));
  struct stat info = {};
  if (fstat(memory.get(), &info) != 0) return std::nullopt;
  return info.st_dev;
}

// Returns the number of the file system that is the root of the process, if it
// has another one than this process.
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

// Opens a regular file for reading. Nothing else of that name is opened: to
// open a device may already have an effect.
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

// Opens the file of a mapping. After an upgrade the program of the process has
// no name any more; the kernel opens other such files for root alone.
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

// Adds the span and joins it with those that it touches.
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

// Says so for a call that has just failed.
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
  // Seldom: what a backend maps in a thousand parts is added a thousand times.
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
  std::map<FileId, std::pair<FileMapping, Spans>> wanted;
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
    auto& [one, spans] = wanted[file];
    one = mapping;
    Join(mapping.offset, mapping.offset + bytes, spans);
  }
  uint64_t all = 0;
  size_t count = pages_.size();
  size_t name_bytes = 0;
  for (const auto& [file, what] : wanted) {
    count += what.second.size();
    name_bytes += what.second.size() * what.first.path.size();
  }
  name_bytes_ += name_bytes;
  if (count > kMostParts || name_bytes_ > kMostNameBytes) {
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
  for (const auto& [file, what] : wanted) {
    for (const auto& [begin, end] : what.second) {
      all += end - begin;
      if (auto pages = shared_.Find(file, begin, end)) {
        pages_.push_back(std::move(pages));
        Join(begin, end, held_[file]);
        continue;
      }
      parts_.push_back({.file = file,
                        .process = process,
                        .mapping = what.first,
                        .begin = begin,
                        .end = end});
    }
  }
  bytes_ += all;
  if (all <= most_bytes) return Status();
  parts_.clear();
  return Status(Code::kBackendUnavailable,
                "it maps " + std::to_string(all) +
                    " bytes of files, of which " + std::to_string(most_bytes) +
                    " can be held in memory: map less of them, or read them");
}

Result<bool> HeldFiles::Step() {
  auto done = Proceed();
  if (done) return done;
  // What failed for one process is not tried again for the next.
  parts_.clear();
  unread_ = {};
  mapped_.clear();
  return done;
}

Result<bool> HeldFiles::Proceed() {
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
  // Children need none of it.
  madvise(memory, bytes, MADV_DONTFORK);
  const auto whole = std::span(static_cast<std::byte*>(memory), bytes);
  // There are no pages after the end of the file.
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
