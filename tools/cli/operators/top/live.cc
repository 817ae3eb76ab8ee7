// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/operators/top/live.h"

#include <bulkhead/crashes.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/cli/operators/top/commands.h"
#include "tools/cli/operators/top/readings.h"
#include "tools/cli/operators/top/screen.h"
#include "tools/cli/operators/top/signals.h"
#include "tools/cli/operators/top/view.h"
#include "tools/cli/operators/top/wake.h"
#include "tools/cli/terminal.h"
#include "tools/cli/user_name.h"

namespace bulkhead::cli::top {
namespace {

using std::chrono::milliseconds;

// The time after which the screen says that an application does not answer, and
// the interval at which the screen updates this message.
constexpr milliseconds kPatience{1'000};
constexpr milliseconds kLookAgain{250};

std::string DescribeWaiting(Readings::Clock::duration time) {
  return fmt::format(
      "an application has not answered for {:.1f} s; this table is older",
      std::chrono::duration<double>(time).count());
}

// The event loop of the thread that owns the screen. Connects the screen, the
// View, the readings and the commands.
class Live {
 public:
  explicit Live(Screen& screen) : screen_(screen) {}

  // Runs until the user quits, a signal ends the program or the terminal is
  // gone.
  void Run(Signals& signals);
  // Returns whether a thread still waits for an application.
  bool busy() const { return readings_.asking() || commands_.running(); }
  bool commanding() const { return commands_.running(); }

 private:
  // The functions that return bool return false if the program has to end.
  bool TakeSignals(Signals& signals);
  bool TakeKeys();
  // Shows the outcome of a command and the latest reading, if there are any.
  void TakeNews();
  bool Do(const Action& action);
  void ShowCrashes(const Action& action);

  Screen& screen_;
  View view_;
  std::string notice_ = "asking the applications of this user";
  const Wake wake_;  // Declared before the two members that signal it.
  Readings readings_{wake_};
  Commands commands_{wake_};
};

void Live::Run(Signals& signals) {
  for (bool go_on = true; go_on;) {
    view_.Resize(screen_.lines(), screen_.columns());
    screen_.Draw(view_.Draw());
    pollfd waiting[] = {{STDIN_FILENO, POLLIN, 0},
                        {signals.fd(), POLLIN, 0},
                        {wake_.fd(), POLLIN, 0}};
    // During a reading, wakes up regularly to update the notice about it.
    const bool asking = readings_.asking().has_value();
    ::poll(waiting, std::size(waiting),
           asking ? static_cast<int>(kLookAgain.count()) : -1);
    wake_.Clear();
    TakeNews();
    go_on = TakeSignals(signals) && TakeKeys() &&
            (waiting[0].revents & (POLLHUP | POLLERR | POLLNVAL)) == 0;
  }
}

bool Live::TakeSignals(Signals& signals) {
  while (const std::optional<int> signal = signals.Take()) {
    if (*signal == SIGWINCH) {
      screen_.TakeSize();
    } else if (*signal == SIGTSTP) {
      screen_.Leave();
      signals.Stop();
      screen_.Return();
    } else {
      return false;
    }
  }
  return true;
}

bool Live::TakeKeys() {
  while (const std::optional<int> key = screen_.ReadKey()) {
    if (!Do(view_.Press(*key))) return false;
  }
  return true;
}

void Live::TakeNews() {
  if (auto outcome = commands_.TakeOutcome()) {
    view_.ShowMessage(*std::move(outcome));
    readings_.ReadNow();
  }
  if (auto reading = readings_.Take()) {
    notice_ = reading->error;
    if (reading->error.empty() && reading->table.rows.empty()) {
      notice_ = DescribeNoApplication();
    }
    view_.ShowTable(std::move(reading->table));
  }
  const auto asking = readings_.asking();
  view_.ShowNotice(asking && *asking > kPatience ? DescribeWaiting(*asking)
                                                 : notice_);
}

bool Live::Do(const Action& action) {
  if (action.kind == Action::Kind::kCommand) {
    view_.ShowMessage(
        commands_.Start(action.pid, action.backend, action.command));
  }
  if (action.kind == Action::Kind::kCrashes) ShowCrashes(action);
  return action.kind != Action::Kind::kQuit;
}

void Live::ShowCrashes(const Action& action) {
  Result<CrashList> list = ReadCrashes();
  if (!list) return view_.ShowMessage(list.error().message());
  std::erase_if(list->crashes, [&](const Crash& crash) {
    return crash.application.pid != action.pid ||
           (!action.backend.empty() && crash.backend.name != action.backend);
  });
  if (list->crashes.empty()) {
    return view_.ShowMessage(
        "there are no records of its crashes in the default state directory");
  }
  std::string title = fmt::format(
      "{} records of crashes of {} in process {}", list->crashes.size(),
      action.backend.empty() ? "all backends" : action.backend, action.pid);
  view_.ShowCrashes(std::move(title), std::move(list->crashes));
}

}  // namespace

Status RunLive() {
  Signals signals;
  Result<std::unique_ptr<Screen>> screen = Screen::Open();
  if (!screen) return screen.error();
  Live live(**screen);
  live.Run(signals);
  screen->reset();
  if (live.commanding()) {
    Say("left before the outcome of the command; see `bulkhead events`");
  }
  // The destructor of `live` would wait for the application.
  if (live.busy()) {
    std::fflush(nullptr);
    std::_Exit(0);
  }
  return Status();
}

}  // namespace bulkhead::cli::top
