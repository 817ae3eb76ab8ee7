// SPDX-License-Identifier: Apache-2.0
#include "tests/remote/served_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

namespace bulkhead::tests {
namespace {

constexpr uint32_t kMostWritten = 4096;
// The least that the kernel takes (FUSE_MIN_READ_BUFFER), and one page more.
constexpr size_t kRequestBytes = 8192 + 4096;

// Answers the kernel's requests, one after the other, until it closes the
// connection. A node is the place of its path in a list.
class Server {
 public:
  Server(int kernel, const std::string& source)
      : kernel_(kernel), paths_{"", source} {}

  int Run() {
    alignas(fuse_in_header) char request[kRequestBytes];
    for (;;) {
      const ssize_t got = ::read(kernel_, request, sizeof(request));
      if (got < 0 && (errno == EINTR || errno == ENOENT)) continue;
      if (got < static_cast<ssize_t>(sizeof(fuse_in_header))) return 0;
      const auto& header = *reinterpret_cast<fuse_in_header*>(request);
      Answer(header, request + sizeof(header));
    }
  }

 private:
  void Answer(const fuse_in_header& header, const char* body) {
    switch (header.opcode) {
      case FUSE_INIT:
        return Begin(header);
      case FUSE_LOOKUP:
        return LookUp(header, body);
      case FUSE_GETATTR: {
        fuse_attr_out out = {};
        if (!Examine(paths_[header.nodeid], out.attr)) break;
        return Reply(header, out);
      }
      case FUSE_OPEN:
      case FUSE_OPENDIR: {
        const int fd =
            ::open(paths_[header.nodeid].c_str(), O_RDONLY | O_CLOEXEC);
        if (fd < 0) break;
        fuse_open_out out = {};
        out.fh = static_cast<uint64_t>(fd);
        return Reply(header, out);
      }
      case FUSE_READ:
        return Read(header, *reinterpret_cast<const fuse_read_in*>(body));
      case FUSE_READDIR:
        return List(header, *reinterpret_cast<const fuse_read_in*>(body));
      case FUSE_RELEASE:
      case FUSE_RELEASEDIR:
        ::close(static_cast<int>(
            reinterpret_cast<const fuse_release_in*>(body)->fh));
        return Send(header, 0, nullptr, 0);
      case FUSE_FORGET:
      case FUSE_BATCH_FORGET:
      case FUSE_INTERRUPT:
        return;  // they have no answer
      default:
        errno = ENOSYS;
    }
    Send(header, errno, nullptr, 0);
  }

  void Begin(const fuse_in_header& header) {
    fuse_init_out out = {};
    out.major = FUSE_KERNEL_VERSION;
    out.minor = FUSE_KERNEL_MINOR_VERSION;
    out.max_write = kMostWritten;
    Reply(header, out);
  }

  void LookUp(const fuse_in_header& header, const char* name) {
    const std::string path = paths_[header.nodeid] + "/" + name;
    fuse_entry_out out = {};
    if (!Examine(path, out.attr)) return Send(header, errno, nullptr, 0);
    const auto known = std::find(paths_.begin(), paths_.end(), path);
    out.nodeid = static_cast<uint64_t>(known - paths_.begin());
    if (known == paths_.end()) paths_.push_back(path);
    Reply(header, out);
  }

  void Read(const fuse_in_header& header, const fuse_read_in& in) {
    std::vector<char> piece(in.size);
    const ssize_t got = ::pread(static_cast<int>(in.fh), piece.data(), in.size,
                                static_cast<off_t>(in.offset));
    got < 0 ? Send(header, errno, nullptr, 0)
            : Send(header, 0, piece.data(), static_cast<size_t>(got));
  }

  // An offset is the number of entries before.
  void List(const fuse_in_header& header, const fuse_read_in& in) {
    DIR* const directory = ::opendir(paths_[header.nodeid].c_str());
    if (directory == nullptr) return Send(header, errno, nullptr, 0);
    std::vector<char> entries;
    uint64_t count = 0;
    while (const dirent* const found = ::readdir(directory)) {
      if (++count <= in.offset) continue;
      const size_t length = std::strlen(found->d_name);
      std::vector<char> entry(FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + length));
      auto& out = *reinterpret_cast<fuse_dirent*>(entry.data());
      out.ino = found->d_ino;
      out.off = count;
      out.namelen = static_cast<uint32_t>(length);
      out.type = found->d_type;
      std::memcpy(out.name, found->d_name, length);
      if (entries.size() + entry.size() > in.size) break;
      entries.insert(entries.end(), entry.begin(), entry.end());
    }
    ::closedir(directory);
    Send(header, 0, entries.data(), entries.size());
  }

  static bool Examine(const std::string& path, fuse_attr& out) {
    struct stat info = {};
    if (::lstat(path.c_str(), &info) != 0) return false;
    out.ino = info.st_ino;
    out.size = static_cast<uint64_t>(info.st_size);
    out.blocks = static_cast<uint64_t>(info.st_blocks);
    out.atime = static_cast<uint64_t>(info.st_atim.tv_sec);
    out.mtime = static_cast<uint64_t>(info.st_mtim.tv_sec);
    out.ctime = static_cast<uint64_t>(info.st_ctim.tv_sec);
    out.atimensec = static_cast<uint32_t>(info.st_atim.tv_nsec);
    out.mtimensec = static_cast<uint32_t>(info.st_mtim.tv_nsec);
    out.ctimensec = static_cast<uint32_t>(info.st_ctim.tv_nsec);
    out.mode = info.st_mode;
    out.nlink = static_cast<uint32_t>(info.st_nlink);
    out.uid = info.st_uid;
    out.gid = info.st_gid;
    out.blksize = static_cast<uint32_t>(info.st_blksize);
    return true;
  }

  template <typename Out>
  void Reply(const fuse_in_header& header, Out& out) {
    Send(header, 0, &out, sizeof(out));
  }

  void Send(const fuse_in_header& header, int error, void* data, size_t bytes) {
    fuse_out_header out = {.len = static_cast<uint32_t>(sizeof(out) + bytes),
                           .error = -error,
                           .unique = header.unique};
    const iovec parts[] = {{.iov_base = &out, .iov_len = sizeof(out)},
                           {.iov_base = data, .iov_len = bytes}};
    // Fails for a request that was given up.
    (void)!::writev(kernel_, parts, 2);
  }

  const int kernel_;
  std::vector<std::string> paths_;
};

}  // namespace

std::unique_ptr<ServedDirectory> ServedDirectory::Mount(
    const std::string& source, const std::string& place) {
  ipc::UniqueFd kernel(::open("/dev/fuse", O_RDWR | O_CLOEXEC));
  const std::string options = "fd=" + std::to_string(kernel.get()) +
                              ",rootmode=40000,user_id=0,group_id=0,"
                              "allow_other,default_permissions";
  if (!kernel || ::mount("served", place.c_str(), "fuse", MS_NOSUID | MS_NODEV,
                         options.c_str()) != 0) {
    return nullptr;
  }
  return std::unique_ptr<ServedDirectory>(
      new ServedDirectory(std::move(kernel), source, place));
}

ServedDirectory::ServedDirectory(ipc::UniqueFd kernel,
                                 const std::string& source, std::string place)
    : place_(std::move(place)),
      server_([&] { return Server(kernel.get(), source).Run(); }) {}

ServedDirectory::~ServedDirectory() {
  server_.Kill();
  ::umount2(place_.c_str(), MNT_DETACH);
}

void ServedDirectory::Stop() {
  server_.Signal(SIGSTOP);
  server_.AwaitStop();
}

void ServedDirectory::GoOn() { server_.Signal(SIGCONT); }

}  // namespace bulkhead::tests
