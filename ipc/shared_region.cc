// SPDX-License-Identifier: Apache-2.0
#include "ipc/shared_region.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "ipc/try.h"

namespace bulkhead::ipc {
namespace {

// The value of MFD_NOEXEC_SEAL (Linux 6.3), which the headers of this C library
// lack.
constexpr unsigned kMfdNoexecSeal = 0x0008;

Expected<UniqueFd> CreateMemfd(const char* name) {
  constexpr unsigned kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  UniqueFd fd(memfd_create(name, kFlags | kMfdNoexecSeal));
  if (!fd && errno == EINVAL) fd = UniqueFd(memfd_create(name, kFlags));
  if (!fd) {
    return FailErrno(Code::kResourceExhausted, "cannot create shared memory",
                     errno);
  }
  return fd;
}

// Refuses a size beyond this process's limit for files.
Expected<void> CheckFileSize(size_t bytes) {
  // Growing a file beyond this limit raises SIGXFSZ, which would kill the
  // application.
  rlimit limit = {};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes > limit.rlim_cur) {
    return Fail(Code::kResourceExhausted,
                "shared memory of " + std::to_string(bytes) +
                    " bytes is above this process's limit of " +
                    std::to_string(limit.rlim_cur / 1024) +
                    " KiB for a file (ulimit -f); raise it");
  }
  return {};
}

tl::unexpected<Error> NoMemory(size_t bytes, int error) {
  return FailErrno(Code::kResourceExhausted,
                   "cannot allocate " + std::to_string(bytes) +
                       " bytes of shared memory: ask for fewer or smaller "
                       "frames",
                   error);
}

Expected<void> Allocate(int fd, size_t bytes) {
  // Allocates in pieces, since a signal undoes a whole call of fallocate(). A
  // piece of this size is done between two ticks of an application's profiling
  // timer.
  constexpr size_t kPiece = 1 << 20;
  for (size_t done = 0; done < bytes;) {
    const size_t piece = std::min(kPiece, bytes - done);
    if (fallocate(fd, 0, done, piece) == 0) {
      done += piece;
    } else if (errno != EINTR) {
      return NoMemory(bytes, errno);
    }
  }
  return {};
}

// Allocates and maps the pages of a part of a mapping. Returns 0, or -1 with
// errno, which is EINVAL on kernels that cannot do it (before Linux 5.14).
int PopulatePages(std::span<std::byte> pages) {
  int result = -1;
  do {
    result = madvise(pages.data(), pages.size(), MADV_POPULATE_READ);
  } while (result != 0 && (errno == EINTR || errno == EAGAIN));
  return result;
}

// Asks the kernel with an empty range, which allocates nothing.
bool CanPopulate(std::span<std::byte> pages) {
  return PopulatePages(pages.first(0)) == 0 || errno != EINVAL;
}

Expected<Mapping> Map(int fd, size_t offset, size_t bytes, int protection,
                      int kind) {
  void* start =
      mmap(nullptr, bytes, protection, kind, fd, static_cast<off_t>(offset));
  if (start == MAP_FAILED) {
    return FailErrno(
        errno == ENOMEM ? Code::kResourceExhausted : Code::kInternal,
        "cannot map " + std::to_string(bytes) + " bytes of shared memory",
        errno);
  }
  return Mapping({static_cast<std::byte*>(start), bytes});
}

Expected<Mapping> MapShared(int fd, size_t bytes, bool writable) {
  return Map(fd, 0, bytes, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED);
}

}  // namespace

Mapping::~Mapping() {
  if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
}

Expected<OwnedRegion> OwnedRegion::CreateWritable(const char* name,
                                                  size_t bytes) {
  return Create(name, bytes, /*writable=*/true, Pages::kAllocated);
}

Expected<OwnedRegion> OwnedRegion::CreateReadable(const char* name,
                                                  size_t bytes) {
  return Create(name, bytes, /*writable=*/false, Pages::kAllocated);
}

Expected<OwnedRegion> OwnedRegion::CreateSparse(const char* name,
                                                size_t bytes) {
  return Create(name, bytes, /*writable=*/false, Pages::kSparse);
}

Expected<OwnedRegion> OwnedRegion::Create(const char* name, size_t bytes,
                                          bool writable, Pages pages) {
  if (bytes == 0) {
    return Fail(Code::kInvalidArgument, "shared memory cannot be empty");
  }
  IPC_ASSIGN_OR_RETURN(auto fd, CreateMemfd(name));
  IPC_TRY(CheckFileSize(bytes));
  if (pages == Pages::kAllocated) {
    IPC_TRY(Allocate(fd.get(), bytes));
  } else if (ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
    return NoMemory(bytes, errno);
  }
  IPC_ASSIGN_OR_RETURN(auto mapping, MapShared(fd.get(), bytes, writable));
  // A kernel that cannot allocate parts later allocates everything now.
  if (pages == Pages::kSparse && !CanPopulate(mapping.bytes())) {
    IPC_TRY(Allocate(fd.get(), bytes));
  }
  const int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL |
                    (writable ? F_SEAL_FUTURE_WRITE : 0);
  if (fcntl(fd.get(), F_ADD_SEALS, seals) != 0) {
    return FailErrno(Code::kInternal, "cannot seal shared memory", errno);
  }
  return OwnedRegion(std::move(fd), std::move(mapping), writable);
}

Expected<void> OwnedRegion::Populate(size_t offset, size_t bytes) const {
  if (PopulatePages(mapping_.bytes().subspan(offset, bytes)) != 0 &&
      errno != EINVAL) {
    return NoMemory(bytes, errno);
  }
  return {};
}

Expected<void> OwnedRegion::KeepTemplate() {
  // Read-only, so that it counts against no limit on private memory.
  IPC_ASSIGN_OR_RETURN(
      template_, Map(fd_.get(), 0, bytes().size(), PROT_READ, MAP_PRIVATE));
  return {};
}

Expected<Mapping> OwnedRegion::MapPrivate(size_t offset, size_t bytes) const {
  if (fd_) {
    return Map(fd_.get(), offset, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE);
  }
  if (template_.bytes().empty()) {
    return Fail(Code::kUnsupported, "shared memory without its descriptor");
  }
  // With MREMAP_DONTUNMAP, mremap() leaves the template in place. No page of
  // the template was ever written, so the copy shows the file's pages.
  void* const copy = mremap(template_.bytes().data() + offset, bytes, bytes,
                            MREMAP_MAYMOVE | MREMAP_DONTUNMAP, nullptr);
  if (copy == MAP_FAILED) {
    if (errno == EINVAL) {
      return Fail(Code::kUnsupported,
                  "this kernel cannot copy a mapping of shared memory; Linux "
                  "5.13 is the minimum");
    }
    return FailErrno(
        Code::kResourceExhausted,
        "cannot map " + std::to_string(bytes) + " bytes of shared memory",
        errno);
  }
  Mapping mapping({static_cast<std::byte*>(copy), bytes});
  if (mprotect(copy, bytes, PROT_READ | PROT_WRITE) != 0) {
    return FailErrno(Code::kResourceExhausted,
                     "cannot make " + std::to_string(bytes) +
                         " bytes of shared memory writable",
                     errno);
  }
  return mapping;
}

Expected<MappedRegion> MappedRegion::Map(int fd, bool writable,
                                         size_t expected_bytes_min) {
  constexpr int kRequired = F_SEAL_SHRINK | F_SEAL_GROW;
  const int seals = fcntl(fd, F_GET_SEALS);
  if (seals < 0 || (seals & kRequired) != kRequired) {
    return Fail(Code::kInvalidArgument,
                "received shared memory whose size is not sealed");
  }
  // lseek returns the size, since the worker's seccomp filter refuses fstat.
  const off_t size = lseek(fd, 0, SEEK_END);
  if (size <= 0 || static_cast<size_t>(size) < expected_bytes_min) {
    return Fail(Code::kInvalidArgument,
                "received shared memory of " + std::to_string(size) +
                    " bytes, fewer than the " +
                    std::to_string(expected_bytes_min) + " expected");
  }
  IPC_ASSIGN_OR_RETURN(auto mapping,
                       MapShared(fd, static_cast<size_t>(size), writable));
  return MappedRegion(std::move(mapping), writable);
}

}  // namespace bulkhead::ipc
