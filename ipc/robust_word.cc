// SPDX-License-Identifier: Apache-2.0
#include "ipc/robust_word.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace bulkhead::ipc {
namespace {

static_assert(RobustWord::kOwnerDied == FUTEX_OWNER_DIED);

// The list that the kernel reads when the thread ends. It is thread-local, so
// that it lives for exactly as long as the kernel may read it.
struct OwnedList {
  robust_list entry;
  robust_list_head head;
};
thread_local OwnedList list;

}  // namespace

bool RobustWord::Own(std::atomic<uint32_t>* word) {
  list.head.list.next = &list.entry;
  list.head.futex_offset =
      reinterpret_cast<char*>(word) - reinterpret_cast<char*>(&list.entry);
  list.head.list_op_pending = nullptr;
  list.entry.next = &list.head.list;
  if (::syscall(SYS_set_robust_list, &list.head, sizeof(list.head)) != 0) {
    return false;
  }
  // The word is stored last, so that a thread which it names cannot end
  // unnoticed. FUTEX_WAITERS is needed because the kernel wakes a waiter only
  // if the word has this bit.
  word->store(static_cast<uint32_t>(::gettid()) | FUTEX_WAITERS);
  return true;
}

}  // namespace bulkhead::ipc
