// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace bulkhead::cli {
namespace {

// Returns the names in text such as "-o,--output OUT".
std::string NamesIn(const std::string& text) {
  return text.substr(0, text.find(' '));
}

// Sets the placeholder that follows the names in `text`, if there is one.
Option WithPlaceholder(CLI::Option& option, const std::string& text) {
  const size_t space = text.find(' ');
  if (space != std::string::npos) option.type_name(text.substr(space + 1));
  return Option(option);
}

}  // namespace

Option Option::ShowDefault() {
  option_->capture_default_str();
  return *this;
}

Option Option::Required() {
  option_->required();
  return *this;
}

Option Option::Excludes(const std::string& name) {
  option_->excludes(name);
  return *this;
}

Option Option::Range(int least, int most) {
  option_->check(CLI::Range(least, most));
  return *this;
}

Option Option::OneOf(const std::vector<std::string>& words) {
  option_->check(CLI::IsMember(words));
  return *this;
}

Option Option::Check(std::function<std::string(const std::string&)> problem) {
  option_->check(std::move(problem));
  return *this;
}

Option Option::OneValueEach() {
  option_->allow_extra_args(false);
  return *this;
}

Option Option::SplitAt(char delimiter) {
  option_->delimiter(delimiter);
  return *this;
}

Command::Command(const std::string& name, const std::string& purpose)
    : program_(std::make_unique<CLI::App>(purpose, name)),
      app_(program_.get()) {}

Command::Command(CLI::App* app) : app_(app) {}

Command::~Command() = default;

Option Command::AddOption(const std::string& names, Destination value,
                          const std::string& help) {
  return std::visit(
      [&](auto* typed) {
        return WithPlaceholder(*app_->add_option(NamesIn(names), *typed, help),
                               names);
      },
      value);
}

Option Command::AddAction(const std::string& names,
                          std::function<Status(const std::string&)> take,
                          const std::string& help) {
  const auto checked = [take = std::move(take)](const std::string& value) {
    const Status status = take(value);
    if (!status.ok()) throw CLI::ValidationError(status.message());
  };
  return WithPlaceholder(
      *app_->add_option_function<std::string>(NamesIn(names), checked, help)
           ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
           ->trigger_on_parse(),
      names);
}

Option Command::AddWord(const std::string& names,
                        std::function<void(size_t)> take,
                        const std::vector<std::string>& words,
                        const std::string& help) {
  const auto add = [take = std::move(take), words](const std::string& word) {
    take(static_cast<size_t>(std::ranges::find(words, word) - words.begin()));
  };
  return WithPlaceholder(
      *app_->add_option_function<std::string>(NamesIn(names), add, help)
           ->check(CLI::IsMember(words)),
      names);
}

Option Command::AddFlag(const std::string& names, bool* given,
                        const std::string& help) {
  return Option(*app_->add_flag(names, *given, help));
}

Option Command::AddFlag(const std::string& names, std::function<void()> given,
                        const std::string& help) {
  return Option(*app_->add_flag_callback(names, std::move(given), help));
}

void Command::AddVersion(const std::string& text) {
  app_->set_version_flag("--version", text, "Print the version and exit");
}

void Command::SetFooter(const std::string& text) { app_->footer(text); }

Command& Command::AddSubcommand(const std::string& name,
                                const std::string& purpose) {
  subcommands_.emplace_back(new Command(app_->add_subcommand(name, purpose)));
  return *subcommands_.back();
}

void Command::TakeOneSubcommand() {
  // With a minimum of 1, CLI11 would report a missing subcommand instead of the
  // unknown word that the user typed. main.cc reports both.
  app_->require_subcommand(0, 1);
}

void Command::TakeOptionsBehindSubcommands() { app_->fallthrough(); }

void Command::OnChosen(std::function<void()> chosen) {
  app_->callback(std::move(chosen));
}

void Command::RefuseEmptyValues() {
  for (CLI::Option* option : app_->get_options({})) {
    const std::string cure = option->nonpositional()
                                 ? "write one, or leave the option out"
                                 : "write one";
    option->check([cure](const std::string& value) {
      return value.empty() ? "its value is empty; " + cure : std::string();
    });
  }
  for (const auto& subcommand : subcommands_) subcommand->RefuseEmptyValues();
}

Result<bool> Command::Parse(int argc, const char* const* argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::Success& answer) {  // --help or --version
    app_->exit(answer);
    return false;
  } catch (const CLI::ParseError& error) {
    return Status(Code::kInvalidArgument, error.what());
  }
  return true;
}

std::vector<std::string> Command::SubcommandNames() const {
  std::vector<std::string> names;
  for (const CLI::App* subcommand : app_->get_subcommands({})) {
    names.push_back(subcommand->get_name());
  }
  return names;
}

bool Command::HasOption(const std::string& name) const {
  return app_->get_option_no_throw(name) != nullptr;
}

std::string Command::Chosen() const {
  const auto chosen = app_->get_subcommands();
  return chosen.empty() ? std::string() : chosen.front()->get_name();
}

std::vector<std::string> Command::UnknownWords() const {
  return app_->remaining();
}

}  // namespace bulkhead::cli
