// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/file_mappings.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "ipc/unique_fd.h"

namespace bulkhead::sandbox {
namespace {

using Code = std::vector<sock_filter>;

constexpr size_t kMostRanges = 128;
// A placeholder for the distance to the filter that follows.
constexpr uint32_t kToFilter = 0xffffffff;

// The words of the filter's scratch memory: the halves of the address, and the
// answer if the address lies within a range.
enum Word : uint32_t { kHigh, kLow, kAnswer };

sock_filter Statement(int code, uint32_t k) {
  return {static_cast<uint16_t>(code), 0, 0, k};
}
sock_filter Jump(int test, uint32_t k, uint8_t if_true, uint8_t if_false) {
  return {static_cast<uint16_t>(BPF_JMP | test | BPF_K), if_true, if_false, k};
}
sock_filter Load(size_t offset) {
  return Statement(BPF_LD | BPF_W | BPF_ABS, static_cast<uint32_t>(offset));
}
sock_filter Recall(Word word) { return Statement(BPF_LD | BPF_MEM, word); }
sock_filter Store(Word word) { return Statement(BPF_ST, word); }
sock_filter Leave(uint32_t distance) {
  return Statement(BPF_JMP | BPF_JA, distance);
}

void Append(Code& code, const Code& more) {
  code.insert(code.end(), more.begin(), more.end());
}

size_t Argument(int number) {
  return offsetof(seccomp_data, args) +
         sizeof(uint64_t) * static_cast<size_t>(number);
}

// Returns code that stores the words: argument `number` of the call as the
// address, and `error` as the answer.
Code Take(int number, int error) {
  return {Statement(BPF_LD | BPF_IMM,
                    SECCOMP_RET_ERRNO | static_cast<uint32_t>(error)),
          Store(kAnswer),
          Load(Argument(number)),
          Store(kLow),
          Load(Argument(number) + sizeof(uint32_t)),
          Store(kHigh)};
}

// Returns code that searches the stored address among the bounds by bisection.
// The bounds are the begins and ends of the ranges in ascending order, so each
// bound switches between outside and within. `within` says whether an address
// below the first bound lies within a range.
Code Search(std::span<const uint64_t> bounds, bool within) {
  if (bounds.empty()) {
    return within ? Code{Recall(kAnswer), Statement(BPF_RET | BPF_A, 0)}
                  : Code{Leave(kToFilter)};
  }
  const size_t half = bounds.size() / 2;
  const auto high = static_cast<uint32_t>(bounds[half] >> 32);
  const auto low = static_cast<uint32_t>(bounds[half]);
  const Code below = Search(bounds.first(half), within);
  // Compares the address with the middle bound. A lower address goes on with
  // `below`, any other one jumps past it.
  Code code = {Recall(kHigh),
               Jump(BPF_JGT, high, 3, 0),
               Jump(BPF_JEQ, high, 0, 3),
               Recall(kLow),
               Jump(BPF_JGE, low, 0, 1),
               Leave(static_cast<uint32_t>(below.size()))};
  Append(code, below);
  // Above the middle bound, half + 1 bounds have each switched `within`.
  Append(code, Search(bounds.subspan(half + 1), within == (half % 2 == 1)));
  return code;
}

std::optional<uint64_t> ReadNumber(std::string_view text, int base) {
  uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

// Returns the parts of the text before and after the first `separator`.
std::pair<std::string_view, std::string_view> Halves(std::string_view text,
                                                     char separator) {
  const size_t at = std::min(text.find(separator), text.size());
  return {text.substr(0, at), text.substr(std::min(at + 1, text.size()))};
}

// Returns the next word of a line, and removes it.
std::string_view TakeWord(std::string_view& line) {
  const size_t length = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, length);
  line.remove_prefix(std::min(length + 1, line.size()));
  return word;
}

// Returns the text of /proc/PID/maps. Returns nullopt if the text cannot be
// read or is too long for a sound process. The limit is higher for bulkheadd
// itself, which maps the files of all backends (held_files.h).
std::optional<std::string> ReadMaps(pid_t process) {
  const size_t most_bytes = size_t{process == getpid() ? 32U : 4U} << 20;
  const std::string path = "/proc/" + std::to_string(process) + "/maps";
  const ipc::UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  // ESRCH means that the process has given up its memory; older kernels show an
  // empty file then.
  if (!file && errno == ESRCH) return std::string();
  if (!file) return std::nullopt;
  std::string text;
  std::array<char, 16 * 1024> part;
  ssize_t bytes = 0;
  while ((bytes = read(file.get(), part.data(), part.size())) > 0) {
    text.append(part.data(), static_cast<size_t>(bytes));
    if (text.size() > most_bytes) return std::nullopt;
  }
  if (bytes < 0) return std::nullopt;
  return text;
}

// Joins the ranges whose distance is at most `widest`.
void JoinWithin(uint64_t widest, std::vector<AddressRange>& ranges) {
  std::vector<AddressRange> fewer;
  for (const AddressRange& range : ranges) {
    if (!fewer.empty() && range.begin - fewer.back().end <= widest) {
      fewer.back().end = range.end;
    } else {
      fewer.push_back(range);
    }
  }
  ranges = std::move(fewer);
}

// Joins the ranges that are closest to each other until there are few enough.
void JoinClosest(std::vector<AddressRange>& ranges) {
  JoinWithin(0, ranges);
  if (ranges.size() <= kMostRanges) return;
  std::vector<uint64_t> gaps;
  for (size_t i = 1; i < ranges.size(); ++i) {
    gaps.push_back(ranges[i].begin - ranges[i - 1].end);
  }
  // Closing the smallest gaps, `to_close` of them, leaves kMostRanges ranges.
  const size_t to_close = ranges.size() - kMostRanges;
  const auto widest = gaps.begin() + static_cast<std::ptrdiff_t>(to_close - 1);
  std::ranges::nth_element(gaps, widest);
  JoinWithin(*widest, ranges);
}

}  // namespace

std::optional<std::vector<FileMapping>> FileMappings(pid_t process) {
  const auto text = ReadMaps(process);
  if (!text) return std::nullopt;
  std::vector<FileMapping> mappings;
  // BEGIN-END rwxp OFFSET MAJOR:MINOR INODE     PATH
  for (std::string_view rest = *text; !rest.empty();) {
    const size_t length = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, length);
    rest.remove_prefix(std::min(length + 1, rest.size()));
    const auto [begin, end] = Halves(TakeWord(line), '-');
    TakeWord(line);
    const auto offset = ReadNumber(TakeWord(line), 16);
    const auto [major, minor] = Halves(TakeWord(line), ':');
    const auto inode = ReadNumber(TakeWord(line), 10);
    if (inode == 0) continue;
    const auto begins = ReadNumber(begin, 16);
    const auto ends = ReadNumber(end, 16);
    const auto of_major = ReadNumber(major, 16);
    const auto of_minor = ReadNumber(minor, 16);
    if (!begins || !ends || !offset || !of_major || !of_minor || !inode) {
      return std::nullopt;
    }
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    mappings.push_back({.range = {*begins, *ends},
                        .offset = *offset,
                        .device = makedev(*of_major, *of_minor),
                        .inode = *inode,
                        .path = std::string(line)});
  }
  return mappings;
}

std::vector<AddressRange> RangesOf(const std::vector<FileMapping>& mappings) {
  std::vector<AddressRange> ranges;
  for (const FileMapping& mapping : mappings) ranges.push_back(mapping.range);
  return ranges;
}

Code KeptFromFiles(std::vector<AddressRange> ranges, const Code& filter) {
  JoinClosest(ranges);
  std::vector<uint64_t> bounds;
  for (const AddressRange& range : ranges) {
    bounds.push_back(range.begin);
    bounds.push_back(range.end);
  }
  constexpr uint32_t kCommand = FUTEX_CMD_MASK & 0xffffffff;
  const Code clones = Take(3, EAGAIN);
  const Code remaps = Take(0, EPERM);
  const Code wakes = Take(0, EINVAL);
  const Code waits = Take(0, EAGAIN);
  // Returns the distance of a jump past all of `code`.
  const auto past = [](const auto&... code) {
    return static_cast<uint32_t>((code.size() + ...));
  };
  // A private futex goes on with `filter`. FUTEX_WAKE goes on with `wakes`, any
  // other command with `waits`.
  Code futexes = {
      Load(Argument(1)), Jump(BPF_JSET, FUTEX_PRIVATE_FLAG, 0, 1),
      Leave(kToFilter), Statement(BPF_ALU | BPF_AND | BPF_K, kCommand),
      Jump(BPF_JEQ, FUTEX_WAKE, 0, static_cast<uint8_t>(wakes.size() + 1))};
  Append(futexes, wakes);
  futexes.push_back(Leave(past(waits)));
  Append(futexes, waits);

  // The order is: a choice by call, the parts for futex(), clone() and
  // mremap(), the search, and `filter`. A part stores the words and jumps over
  // the later parts to the search. A conditional jump cannot reach far, so the
  // choice jumps in two steps.
  Code code = {Load(offsetof(seccomp_data, arch)),
               Jump(BPF_JEQ, AUDIT_ARCH_X86_64, 1, 0),
               Leave(kToFilter),
               Load(offsetof(seccomp_data, nr)),
               Jump(BPF_JEQ, SYS_futex, 3, 0),
               Jump(BPF_JEQ, SYS_clone, 3, 0),
               Jump(BPF_JEQ, SYS_mremap, 3, 0),
               Leave(kToFilter),
               Leave(2),
               Leave(past(futexes) + 2),
               Leave(past(futexes, clones) + 2)};
  Append(code, futexes);
  code.push_back(Leave(past(clones, remaps) + 1));
  Append(code, clones);
  code.push_back(Leave(past(remaps)));
  Append(code, remaps);
  Append(code, Search(bounds, false));
  for (size_t i = 0; i < code.size(); ++i) {
    if (code[i].code == (BPF_JMP | BPF_JA) && code[i].k == kToFilter) {
      code[i].k = static_cast<uint32_t>(code.size() - i - 1);
    }
  }
  Append(code, filter);
  return code;
}

}  // namespace bulkhead::sandbox
