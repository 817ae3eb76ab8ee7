// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/records/log_tail.h"

#include <unistd.h>

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "core/base/clean_text.h"

namespace bulkhead::records {
namespace {

constexpr size_t kTailBytes = 2048;
// Enough reads for a full socket. Bounds ExpectMedia(), which a process that
// writes all the time would otherwise keep busy.
constexpr int kMaxReads = 32;
// The pause between two reads, in which the event loop does other work.
constexpr kj::Duration kPause = 10 * kj::MILLISECONDS;

}  // namespace

LogTail::LogTail(kj::UnixEventPort& port, ipc::UniqueFd fd)
    : timer_(port.getTimer()),
      fd_(std::move(fd)),
      observer_(port, fd_.get(), kj::UnixEventPort::FdObserver::OBSERVE_READ) {}

kj::Promise<void> LogTail::Drain() {
  if (Read()) {
    return timer_.afterDelay(kPause).then([this] { return Drain(); });
  }
  if (ended_) return kj::READY_NOW;
  return observer_.whenBecomesReadable().then([this] { return Drain(); });
}

void LogTail::ExpectMedia() {
  if (expects_media_) return;
  for (int i = 0; i < kMaxReads && Read(); ++i) {
  }
  expects_media_ = true;
}

bool LogTail::Read() {
  std::array<char, 4096> chunk;
  const ssize_t bytes = ::read(fd_.get(), chunk.data(), chunk.size());
  if (bytes <= 0) {
    ended_ = bytes == 0;
    return false;
  }
  std::string& text = expects_media_ ? media_text_ : text_;
  std::string_view left_untrusted(chunk.data(), static_cast<size_t>(bytes));
  while (!left_untrusted.empty()) {
    const size_t end = left_untrusted.find('\n');
    text += CleanText(left_untrusted.substr(0, end), chunk.size());
    if (end == std::string_view::npos) break;
    text += '\n';
    left_untrusted.remove_prefix(end + 1);
  }
  if (text.size() > kTailBytes) text.erase(0, text.size() - kTailBytes);
  return true;
}

}  // namespace bulkhead::records
