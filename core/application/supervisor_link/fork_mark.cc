// SPDX-License-Identifier: Apache-2.0
#include "core/application/supervisor_link/fork_mark.h"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace bulkhead::supervisor_link {

ForkMark::ForkMark() : mark_(nullptr), owner_(::getpid()) {
  const auto bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  void* page = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (::madvise(page, bytes, MADV_WIPEONFORK) != 0) {
    ::munmap(page, bytes);
    return;
  }
  mark_ = new (page) std::atomic<bool>(true);
}

ForkMark::~ForkMark() {
  if (mark_) ::munmap(mark_, static_cast<size_t>(::sysconf(_SC_PAGESIZE)));
}

bool ForkMark::forked() const {
  return mark_ ? !mark_->load(std::memory_order_relaxed) : ::getpid() != owner_;
}

Status ForkedError() {
  return Status(Code::kUnsupported,
                "this process was forked from the one whose Host this is, and "
                "cannot use it or its decoders; create a Host of its own after "
                "fork()");
}

}  // namespace bulkhead::supervisor_link
