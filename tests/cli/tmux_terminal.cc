// SPDX-License-Identifier: Apache-2.0
#include "tests/cli/tmux_terminal.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

namespace bulkhead::tests {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

std::unique_ptr<TmuxTerminal> TmuxTerminal::Start(
    int columns, int lines,
    const decltype(ProgramOptions::environment)& environment) {
  std::string directory = "/tmp/bulkhead-tmux-XXXXXX";
  if (!::mkdtemp(directory.data())) {
    ADD_FAILURE() << "no directory in /tmp";
    return nullptr;
  }
  std::unique_ptr<TmuxTerminal> terminal(new TmuxTerminal(directory));
  const std::string pipe = directory + "/output";
  if (::mkfifo(pipe.c_str(), 0600) != 0) {
    ADD_FAILURE() << "no pipe " << pipe;
    return nullptr;
  }
  terminal->output_ =
      ipc::UniqueFd(::open(pipe.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  ProgramOptions options{.environment = environment};
  options.environment.push_back({"TMUX", std::nullopt});
  // bash takes no prompt from the environment when it runs as root.
  std::ofstream(directory + "/bashrc") << "PS1='$ '\n";
  const ProgramResult started = terminal->Tmux(
      {"new-session", "-d", "-x", std::to_string(columns), "-y",
       std::to_string(lines), "bash --rcfile " + directory + "/bashrc", ";",
       "pipe-pane", "exec cat > " + pipe},
      options);
  if (started.exit_code != 0) {
    ADD_FAILURE() << "tmux, which tools/setup installs: " << started.Describe();
    return nullptr;
  }
  return terminal;
}

TmuxTerminal::~TmuxTerminal() {
  Tmux({"kill-server"});
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

ProgramResult TmuxTerminal::Tmux(std::vector<std::string> arguments,
                                 const ProgramOptions& options) {
  arguments.insert(arguments.begin(), {"tmux", "-u", "-f", "/dev/null", "-S",
                                       directory_ + "/socket"});
  return RunProgram(arguments, options);
}

void TmuxTerminal::Type(const std::string& text) {
  const ProgramResult sent = Tmux({"send-keys", "-l", text});
  EXPECT_EQ(sent.exit_code, 0) << sent.Describe();
}

void TmuxTerminal::Press(const std::string& key) {
  const ProgramResult sent = Tmux({"send-keys", key});
  EXPECT_EQ(sent.exit_code, 0) << sent.Describe();
}

void TmuxTerminal::Resize(int columns, int lines) {
  Tmux({"resize-window", "-x", std::to_string(columns), "-y",
        std::to_string(lines)});
}

std::string TmuxTerminal::Screen() {
  std::string screen = Tmux({"capture-pane", "-p"}).output;
  screen.resize(screen.find_last_not_of('\n') + 1);
  return screen + "\n";
}

bool TmuxTerminal::InAlternateScreen() {
  return Tmux({"display-message", "-p", "#{alternate_on}"}).output == "1\n";
}

void TmuxTerminal::AwaitOutput(milliseconds limit) {
  pollfd waiting{output_.get(), POLLIN, 0};
  ::poll(&waiting, 1, static_cast<int>(limit.count()));
  char written[4096];
  while (::read(output_.get(), written, sizeof written) > 0) {
  }
}

std::string TmuxTerminal::Await(
    const testing::Matcher<const std::string&>& matcher) {
  const auto end = Clock::now() + kLimit;
  std::string screen = Screen();
  while (!matcher.Matches(screen) && Clock::now() < end) {
    // bound: not for ever, since a change of the size alone writes nothing.
    AwaitOutput(milliseconds(200));
    screen = Screen();
  }
  EXPECT_THAT(screen, matcher);
  return screen;
}

}  // namespace bulkhead::tests
