// SPDX-License-Identifier: Apache-2.0
//
// `bulkhead top` in a real terminal, beside real applications with real
// sessions: what it shows, what its keys do, and that the terminal is as it was
// when it has ended.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "bulkhead/host.h"
#include "bulkhead/operators.h"
#include "tests/chaos/chaos_installation.h"
#include "tests/cli/tmux_terminal.h"
#include "tests/media/generated_clips.h"
#include "tests/media/required_clip.h"
#include "tests/support/own_world.h"
#include "tests/support/process_watch.h"
#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::string> LinesOf(const std::string& screen) {
  std::vector<std::string> lines;
  std::istringstream text(screen);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// The application is the test itself, with the chaos backend.
class Top : public testing::Test {
 protected:
  void SetUp() override {
    if (!HasOwnNetwork()) {
      GTEST_SKIP() << "without a network namespace of its own, this test would "
                      "show the applications of others";
    }
    clip_ = ClipOrSkip(Clip::kOddSize);
    if (clip_.empty()) return;
    state_ = TemporaryDirectory() + "/state";
    std::filesystem::remove_all(state_);
    HostOptions options = installation_.options();
    options.state_directory = state_;
    host_ = Host::Create(options).value();
    terminal_ = TmuxTerminal::Start(80, 24, Environment());
    ASSERT_TRUE(terminal_);
  }

  decltype(ProgramOptions::environment) Environment() const {
    return {{"LC_ALL", "C.UTF-8"},
            {"BULKHEAD_STATE_DIR", state_},
            {"BULKHEAD_LIBEXEC_DIR", LibexecDirectory()},
            {"BULKHEAD", PathFromEnvironment("BULKHEAD_TEST_CLI")}};
  }

  ProgramResult Cli(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(),
                     PathFromEnvironment("BULKHEAD_TEST_CLI"));
    return RunProgram(arguments, {.environment = Environment()});
  }

  VideoDecoder Open(const std::string& device = "chaos") const {
    auto video = host_->OpenVideo(clip_, {.device = device});
    EXPECT_TRUE(video) << video.error();
    return std::move(*video);
  }

  void StartTop() {
    terminal_->Type("$BULKHEAD top\n");
    terminal_->Await(HasSubstr("q quit"));
  }

  // Moves the selection to the row of the chaos backend.
  void SelectChaos() {
    // A screen that is half drawn may show no selection.
    std::string screen = terminal_->Await(HasSubstr("\n> "));
    for (int row = 0; row < 10; ++row) {
      if (screen.find("\nchaos of process") != std::string::npos) return;
      const size_t mark = screen.find("\n> ");
      const size_t end = screen.find('\n', mark + 1);
      const std::string selected = screen.substr(mark, end - mark);
      terminal_->Type("j");
      screen =
          terminal_->Await(AllOf(HasSubstr("\n> "), Not(HasSubstr(selected))));
    }
    ADD_FAILURE() << "there is no such row: " << screen;
  }

  // The number of starts of the chaos backend, as operators see it.
  static uint32_t Incarnation() {
    for (const RunningHost& host :
         FindRunningHosts(milliseconds(0)).value().hosts) {
      if (host.pid != ::getpid()) continue;
      for (const RunningBackend& backend : host.backends) {
        if (backend.name == "chaos") return backend.incarnation;
      }
    }
    return 0;
  }

  const ChaosInstallation installation_;
  std::string clip_;
  std::string state_;
  std::unique_ptr<Host> host_;
  std::unique_ptr<TmuxTerminal> terminal_;
};

TEST_F(Top, ShowsSessionsInATerminalOfAnySize) {
  std::vector<VideoDecoder> videos;
  for (int i = 0; i < 30; ++i) videos.push_back(Open());
  StartTop();
  const std::string screen = terminal_->Await(
      AllOf(HasSubstr(" 30 sessions"), HasSubstr("chaos:0 #1")));
  EXPECT_THAT(screen, HasSubstr("OF FASTEST"));
  terminal_->Press("End");
  terminal_->Await(ContainsRegex("\n> [^\n]*\n[^\n]*\n[^\n]*\n[^\n]*\nq quit"));
  terminal_->Resize(40, 10);
  // The keys are written last, into the last of the 10 lines.
  terminal_->Await(AllOf(HasSubstr("FRAMES/S\n"), Not(HasSubstr("OF FASTEST")),
                         ContainsRegex("^([^\n]*\n){9}q quit[^\n]*\n$")));
  terminal_->Resize(20, 4);
  terminal_->Await(StartsWith("too small: needs"));
  terminal_->Resize(200, 60);
  terminal_->Await(AllOf(HasSubstr("OF FASTEST"), HasSubstr("chaos:0 #1 "),
                         HasSubstr(clip_.substr(0, 20))));
}

TEST_F(Top, ABackendThatCrashesMovesToTheTop) {
  VideoDecoder video = Open("cpu");
  StartTop();
  terminal_->Await(AllOf(HasSubstr("cpu:0 #1"), Not(HasSubstr("backing off"))));
  installation_.SetFaults("at=load do=abort\n");
  EXPECT_FALSE(host_->OpenVideo(clip_, {.device = "chaos"}));
  terminal_->Await(AllOf(
      ContainsRegex("CAUSE[^\n]*\n> (backing off|quarantined) +[0-9]+ chaos "),
      HasSubstr("signal 6")));
  terminal_->Type("c");
  terminal_->Await(AllOf(HasSubstr("records of crashes of chaos in process " +
                                   std::to_string(::getpid())),
                         ContainsRegex("\n> +1 ")));
  terminal_->Press("Enter");
  terminal_->Await(
      AllOf(HasSubstr("crash 1: "), HasSubstr("to blame      start")));
  terminal_->Type("qq");
  terminal_->Await(HasSubstr("Bulkhead: "));
}

TEST_F(Top, ARestartIsAskedForAndDone) {
  { VideoDecoder video = Open(); }
  ASSERT_EQ(Incarnation(), 1u);
  StartTop();
  terminal_->Await(HasSubstr("\n> "));
  SelectChaos();
  terminal_->Type("r");
  terminal_->Await(HasSubstr("restart chaos in process " +
                             std::to_string(::getpid()) + "? y/n"));
  terminal_->Type("n");
  terminal_->Await(HasSubstr("did not restart chaos"));
  EXPECT_EQ(Incarnation(), 1u);
  terminal_->Type("ry");
  terminal_->Await(HasSubstr("done: restart chaos"));
  { VideoDecoder video = Open(); }
  EXPECT_EQ(Incarnation(), 2u);
  terminal_->Type("dy");
  terminal_->Await(AllOf(HasSubstr("done: disable chaos"),
                         ContainsRegex("> disabled +[0-9]+ chaos ")));
  EXPECT_FALSE(host_->OpenVideo(clip_, {.device = "chaos"}));
  terminal_->Type("ey");
  terminal_->Await(HasSubstr("done: enable chaos"));
  EXPECT_TRUE(host_->OpenVideo(clip_, {.device = "chaos"}));
}

TEST_F(Top, TheTerminalIsAsItWasWhicheverWayItEnds) {
  const std::string settings = state_ + ".stty";
  terminal_->Type("stty -g > " + settings + "\n");
  const std::string check =
      "stty -g | cmp - " + settings + " && echo sa\"\"me\n";
  const std::string pid_file = state_ + ".pid";
  for (const char* end : {"q", "C-c", "C-\\", "TERM", "HUP"}) {
    SCOPED_TRACE(end);
    terminal_->Type("clear; sh -c 'echo $$ > " + pid_file +
                    "; exec $BULKHEAD top'; echo status $?\n");
    terminal_->Await(HasSubstr("q quit"));
    EXPECT_TRUE(terminal_->InAlternateScreen());
    int pid = 0;
    ASSERT_TRUE(std::ifstream(pid_file) >> pid);
    if (std::string(end) == "TERM") {
      ::kill(pid, SIGTERM);
    } else if (std::string(end) == "HUP") {
      ::kill(pid, SIGHUP);
    } else {
      terminal_->Press(end);
    }
    terminal_->Await(HasSubstr("status 0"));
    EXPECT_FALSE(terminal_->InAlternateScreen());
    terminal_->Type(check);
    terminal_->Await(HasSubstr("\nsame"));
  }
}

TEST_F(Top, IsStoppedAndContinued) {
  const std::string settings = state_ + ".stty";
  terminal_->Type("stty -g > " + settings + "\n");
  StartTop();
  terminal_->Press("C-z");
  terminal_->Await(HasSubstr("Stopped"));
  EXPECT_FALSE(terminal_->InAlternateScreen());
  terminal_->Type("stty -g | cmp - " + settings + " && echo sa\"\"me\n");
  terminal_->Await(HasSubstr("\nsame"));
  terminal_->Resize(60, 20);
  terminal_->Type("fg\n");
  const auto lines = LinesOf(
      terminal_->Await(AllOf(StartsWith("Bulkhead: "), HasSubstr("q quit"))));
  EXPECT_EQ(lines.size(), 20u);
  terminal_->Press("C-z");
  terminal_->Await(HasSubstr("Stopped"));
  terminal_->Type("fg\n");
  terminal_->Await(StartsWith("Bulkhead: "));
}

TEST_F(Top, AnApplicationMayEndWhileItIsShown) {
  // It fills the pipe of its output and waits.
  const auto application = RunningProgram::Start(
      {"env", "BULKHEAD_LIBEXEC_DIR=" + LibexecDirectory(),
       PathFromEnvironment("BULKHEAD_TEST_CLI"), "decode", clip_, "--format",
       "rawvideo", "-o", "-"});
  ASSERT_TRUE(application);
  StartTop();
  terminal_->Await(AllOf(HasSubstr("2 applications"), HasSubstr("1 sessions")));
  application->Kill(SIGKILL);
  terminal_->Await(AllOf(HasSubstr("1 applications"), HasSubstr("0 sessions")));
  host_.reset();
  terminal_->Await(
      AllOf(HasSubstr("0 applications"), HasSubstr("no application of")));
}

TEST_F(Top, KeysWorkWhileAnApplicationIsSilent) {
  VideoDecoder video = Open();
  StartTop();
  terminal_->Await(HasSubstr("chaos:0 #1"));
  const ProcessWatch supervisor(host_->supervisor_pid());
  ASSERT_TRUE(supervisor.Signal(SIGSTOP));
  // This is shown while the answer is awaited.
  terminal_->Await(HasSubstr("has not answered for"));
  terminal_->Type("?");
  terminal_->Await(HasSubstr("The worst comes first"));
  terminal_->Type("q");
  terminal_->Await(ContainsRegex("\n> silent "));
  terminal_->Await(HasSubstr("has not answered for"));
  terminal_->Type("q");
  terminal_->Await(EndsWith("$\n"));
  EXPECT_TRUE(supervisor.Signal(SIGCONT));
}

TEST_F(Top, OnceAndWithoutATerminalItPrintsTheTable) {
  VideoDecoder video = Open();
  const ProgramResult once = Cli({"top", "--once"});
  EXPECT_EQ(once.exit_code, 0) << once.Describe();
  EXPECT_THAT(once.output, AllOf(HasSubstr("1 applications"),
                                 HasSubstr("chaos:0 #1"), HasSubstr(clip_)));
  EXPECT_EQ(once.errors, "");
  const ProgramResult piped = Cli({"top"});
  EXPECT_EQ(piped.exit_code, 0) << piped.Describe();
  EXPECT_THAT(piped.output, HasSubstr("chaos:0 #1"));
  EXPECT_THAT(piped.errors, HasSubstr("no terminal"));
  terminal_->Resize(200, 60);
  for (const char* terminal : {"dumb", "no-such-terminal"}) {
    SCOPED_TRACE(terminal);
    terminal_->Type("clear; TERM=" + std::string(terminal) +
                    " $BULKHEAD top; echo status $?\n");
    terminal_->Await(AllOf(HasSubstr(std::string("the terminal ") + terminal),
                           HasSubstr("here is the table, once"),
                           HasSubstr("chaos:0 #1"), HasSubstr("status 0")));
  }
}

TEST_F(Top, WorksOnAnOldTerminalAndWithoutColours) {
  VideoDecoder video = Open();
  for (const char* variables :
       {"TERM=vt100", "TERM=xterm-256color", "NO_COLOR=1", "LC_ALL=C"}) {
    SCOPED_TRACE(variables);
    terminal_->Type("clear; " + std::string(variables) + " $BULKHEAD top\n");
    terminal_->Await(AllOf(HasSubstr("chaos:0 #1"), HasSubstr("q quit")));
    terminal_->Type("?");
    terminal_->Await(HasSubstr("The worst comes first"));
    terminal_->Type("qq");
    terminal_->Await(EndsWith("$\n"));
  }
}

}  // namespace
}  // namespace bulkhead::tests
