// SPDX-License-Identifier: Apache-2.0
#include "tools/benchmark/pipe_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace bulkhead::benchmark {
namespace {

// The default of /proc/sys/fs/pipe-max-size.
constexpr int kPipeBytes = 1024 * 1024;

Status Failed(std::string_view what, int error) {
  return Status(Code::kNotFound,
                fmt::format("cannot {}: {}", what,
                            std::generic_category().message(error)));
}

}  // namespace

Result<std::unique_ptr<PipeReader>> PipeReader::Start(const std::string& path,
                                                      uint32_t width,
                                                      uint32_t height) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Failed("make a pipe", errno);
  fcntl(ends[0], F_SETPIPE_SZ, kPipeBytes);
  std::vector<std::string> arguments = {
      "ffmpeg", "-v",        "error",       "-threads", "1",
      "-i",     path,        "-map",        "0:v:0",    "-filter_threads",
      "1",      "-fps_mode", "passthrough", "-pix_fmt", "rgb24",
      "-f",     "rawvideo",  "pipe:1"};
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY,
                                   0);
  posix_spawn_file_actions_adddup2(&files, ends[1], STDOUT_FILENO);
  pid_t pid = 0;
  const int error =
      posix_spawnp(&pid, "ffmpeg", &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  close(ends[1]);
  if (error != 0) {
    close(ends[0]);
    return Failed("run ffmpeg", error);
  }
  return std::unique_ptr<PipeReader>(
      new PipeReader(pid, ends[0], width, height));
}

PipeReader::PipeReader(pid_t pid, int pipe, uint32_t width, uint32_t height)
    : pid_(pid), pipe_(pipe), pixels_(size_t{3} * width * height) {
  picture_.pixels = pixels_.data();
  picture_.width = width;
  picture_.height = height;
  picture_.stride = 3 * width;
}

PipeReader::~PipeReader() {
  close(pipe_);
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Result<bool> PipeReader::Next() {
  size_t done = 0;
  while (done < pixels_.size()) {
    const ssize_t bytes =
        read(pipe_, pixels_.data() + done, pixels_.size() - done);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) return Failed("read from ffmpeg", errno);
    if (bytes == 0) break;
    done += static_cast<size_t>(bytes);
  }
  if (done != 0 && done != pixels_.size()) {
    return Failed("read a whole frame from ffmpeg", EPIPE);
  }
  return done != 0;
}

}  // namespace bulkhead::benchmark
