// SPDX-License-Identifier: Apache-2.0
#include "tests/support/program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "tests/support/process_watch.h"

namespace bulkhead::tests {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

struct Pipe {
  ipc::UniqueFd read;
  ipc::UniqueFd write;
};

Pipe MakePipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {};
  return {ipc::UniqueFd(ends[0]), ipc::UniqueFd(ends[1])};
}

int Left(Clock::time_point end) {
  const auto left =
      std::chrono::duration_cast<milliseconds>(end - Clock::now());
  return static_cast<int>(std::max<int64_t>(left.count(), 0));
}

std::vector<std::string> EnvironmentWith(const ProgramOptions& options) {
  std::vector<std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    const bool replaced = std::any_of(
        options.environment.begin(), options.environment.end(),
        [&](const auto& variable) { return variable.first == name; });
    if (!replaced) variables.push_back(text);
  }
  for (const auto& [name, value] : options.environment) {
    if (value) variables.push_back(name + "=" + *value);
  }
  return variables;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Starts a program. Returns its pid, or -1 on failure.
pid_t Spawn(std::vector<std::string> arguments, const ProgramOptions& options,
            int output, int errors) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY,
                                   0);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  if (errors >= 0) {
    posix_spawn_file_actions_adddup2(&files, errors, STDERR_FILENO);
  }
  std::vector<std::string> environment = EnvironmentWith(options);
  pid_t pid = -1;
  const int error =
      posix_spawnp(&pid, arguments[0].c_str(), &files, nullptr,
                   Pointers(arguments).data(), Pointers(environment).data());
  posix_spawn_file_actions_destroy(&files);
  return error == 0 ? pid : -1;
}

// Appends what can be read. Returns false at the end of the file.
bool Append(int fd, std::string& text) {
  char block[1 << 16];
  const ssize_t bytes = read(fd, block, sizeof block);
  if (bytes < 0) return errno == EINTR || errno == EAGAIN;
  text.append(block, static_cast<size_t>(bytes));
  return bytes > 0;
}

// Reads both pipes to their ends. Returns false if `end` comes first.
bool ReadBoth(Pipe& output, Pipe& errors, Clock::time_point end,
              ProgramResult& result) {
  bool open[2] = {true, true};
  while (open[0] || open[1]) {
    pollfd ready[2] = {{open[0] ? output.read.get() : -1, POLLIN, 0},
                       {open[1] ? errors.read.get() : -1, POLLIN, 0}};
    const int count = poll(ready, 2, Left(end));
    if (count == 0) return false;
    if (count < 0) continue;
    if (ready[0].revents) open[0] = Append(output.read.get(), result.output);
    if (ready[1].revents) open[1] = Append(errors.read.get(), result.errors);
  }
  return true;
}

}  // namespace

std::string ProgramResult::Describe() const {
  std::string text;
  if (!started) text = "not started";
  if (timed_out) text = "ran out of time";
  if (text.empty() && signal != 0) text = "signal " + std::to_string(signal);
  if (text.empty()) text = "exit code " + std::to_string(exit_code);
  return text + "; stderr: " + errors;
}

ProgramResult RunProgram(const std::vector<std::string>& arguments,
                         const ProgramOptions& options) {
  ProgramResult result;
  const auto end = Clock::now() + options.limit;
  Pipe output = MakePipe();
  Pipe errors = MakePipe();
  const pid_t pid =
      Spawn(arguments, options, output.write.get(), errors.write.get());
  output.write.reset();
  errors.write.reset();
  if (pid < 0) return result;
  result.started = true;

  const ProcessWatch process(pid);
  result.timed_out = !ReadBoth(output, errors, end, result) ||
                     !process.AwaitEnd(milliseconds(Left(end)));
  if (result.timed_out) kill(pid, SIGKILL);
  int status = 0;
  rusage usage = {};
  while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  result.max_rss_kib = usage.ru_maxrss;
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

ProgramResult RunFfmpeg(const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"ffmpeg", "-nostdin", "-v", "error", "-y"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return RunProgram(words);
}

std::string ListTests(const std::string& path) {
  // Unsets the variables of the output files, which only the caller may write.
  return RunProgram({path, "--gtest_list_tests"},
                    {.environment = {{"TEST_PREMATURE_EXIT_FILE", std::nullopt},
                                     {"XML_OUTPUT_FILE", std::nullopt}}})
      .output;
}

std::unique_ptr<RunningProgram> RunningProgram::Start(
    const std::vector<std::string>& arguments) {
  Pipe output = MakePipe();
  const pid_t pid = Spawn(arguments, {}, output.write.get(), -1);
  if (pid < 0) return nullptr;
  return std::unique_ptr<RunningProgram>(
      new RunningProgram(pid, std::move(output.read)));
}

RunningProgram::RunningProgram(pid_t pid, ipc::UniqueFd output)
    : pid_(pid), output_(std::move(output)) {}

RunningProgram::~RunningProgram() { Kill(SIGKILL); }

std::optional<std::string> RunningProgram::ReadLine(milliseconds limit) {
  const auto end = Clock::now() + limit;
  for (;;) {
    const size_t newline = unread_.find('\n');
    if (newline != std::string::npos) {
      std::string line = unread_.substr(0, newline);
      unread_.erase(0, newline + 1);
      return line;
    }
    pollfd ready = {output_.get(), POLLIN, 0};
    const int count = poll(&ready, 1, Left(end));
    if (count == 0) return std::nullopt;
    if (count > 0 && !Append(output_.get(), unread_)) return std::nullopt;
  }
}

void RunningProgram::Kill(int signal) {
  if (pid_ < 0) return;
  kill(pid_, signal);
  if (signal != SIGKILL) return;
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

}  // namespace bulkhead::tests
