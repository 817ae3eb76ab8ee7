// SPDX-License-Identifier: Apache-2.0
#include "tools/benchmark/peer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>
#include <system_error>

namespace bulkhead::benchmark {
namespace {

// Debian's Python. Another Python that is first in PATH would not find the
// packages of Debian.
constexpr char kPython[] = "/usr/bin/python3";

Status Failed(const std::string& what) {
  return Status(Code::kInternal,
                fmt::format("cannot {}: {}", what,
                            std::generic_category().message(errno)));
}

}  // namespace

Result<std::unique_ptr<Peer>> Peer::Start(std::vector<std::string> arguments) {
  int to[2];
  int from[2];
  if (pipe2(to, O_CLOEXEC) != 0) return Failed("make a pipe");
  if (pipe2(from, O_CLOEXEC) != 0) return Failed("make a pipe");
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, to[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, from[1], STDOUT_FILENO);
  std::string isolated = "-I";
  std::string python = kPython;
  std::vector<char*> argv = {python.data(), isolated.data()};
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int error =
      posix_spawn(&pid, kPython, &files, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  close(to[0]);
  close(from[1]);
  FILE* const requests = fdopen(to[1], "we");
  FILE* const answers = fdopen(from[0], "re");
  if (error != 0) {
    fclose(requests);
    fclose(answers);
    return Status(
        Code::kUnsupported,
        fmt::format("{}: {}", kPython, std::generic_category().message(error)));
  }
  std::unique_ptr<Peer> peer(new Peer(pid, requests, answers));
  Result<std::string> version = peer->ReadLine();
  if (!version) {
    return Status(Code::kUnsupported, arguments.at(1) + " is not installed");
  }
  peer->name_ = *version;
  return peer;
}

Peer::~Peer() {
  fclose(requests_);
  fclose(answers_);
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Result<std::string> Peer::ReadLine() {
  char line[256];
  if (fgets(line, sizeof(line), answers_) == nullptr) {
    return Status(Code::kInternal, name_ + " ended; see above");
  }
  std::string text(line);
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

Result<std::string> Peer::Ask(const std::string& request) {
  if (fmt::print(requests_, "{}\n", request); fflush(requests_) != 0) {
    return Failed("ask " + name_);
  }
  return ReadLine();
}

Result<SequentialPass> Peer::Sequential() {
  Result<std::string> answer = Ask("sequential");
  if (!answer) return answer.error();
  SequentialPass pass;
  std::istringstream(*answer) >> pass.seconds >> pass.frames;
  return pass;
}

Result<SequentialPass> Peer::Clips(int at_once, int count) {
  Result<std::string> answer = Ask(fmt::format("clips {} {}", at_once, count));
  if (!answer) return answer.error();
  SequentialPass pass;
  std::istringstream(*answer) >> pass.seconds >> pass.frames;
  return pass;
}

Result<RandomPass> Peer::Random(std::span<const int64_t> indices) {
  Result<std::string> answer =
      Ask(fmt::format("random {}", fmt::join(indices, ",")));
  if (!answer) return answer.error();
  RandomPass pass;
  std::istringstream(*answer) >> pass.open_ms >> pass.seconds >> pass.wrong;
  return pass;
}

Result<TensorPass> Peer::Tensors(const std::string& request) {
  Result<std::string> answer = Ask(request);
  if (!answer) return answer.error();
  TensorPass pass;
  std::istringstream(*answer) >> pass.seconds >> pass.frames >> pass.wrong;
  return pass;
}

}  // namespace bulkhead::benchmark
