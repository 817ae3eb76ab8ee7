// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/reference/man_page.h"

#include <bulkhead/version.h>

#include <sstream>

namespace bulkhead::cli::reference {
namespace {

// Escapes the text so that troff prints it unchanged: a hyphen stays the ASCII
// character, which can be copied, and no line is read as a request.
std::string Escape(const std::string& text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    line_begins = c == '\n';
  }
  return out;
}

std::string Bold(const std::string& text) {
  return "\\fB" + Escape(text) + "\\fR";
}
std::string Italic(const std::string& text) {
  return "\\fI" + Escape(text) + "\\fR";
}

// Returns the beginning of a page, up to its section NAME.
std::string Head(const std::string& page, const std::string& purpose) {
  return ".\\\" Made from the parser of the program; do not edit.\n.TH \"" +
         Escape(page) +
         "\" 1 \"\" \"Bulkhead " BULKHEAD_VERSION
         "\" \"User Commands\"\n.SH NAME\n" +
         Escape(page) + " \\- " + Escape(purpose) + "\n";
}

void WriteOption(const OptionReference& option, std::ostream& out) {
  out << ".TP\n";
  std::string separator;
  for (const std::string& name : option.names) {
    out << separator << (name.starts_with('-') ? Bold(name) : Italic(name));
    separator = ", ";
  }
  if (!option.value.empty() && option.names.front().starts_with('-')) {
    out << ' ' << Italic(option.value);
  }
  out << '\n' << Escape(option.help);
  if (!option.choices.empty()) {
    out << " (";
    separator.clear();
    for (const std::string& choice : option.choices) {
      out << separator << Escape(choice);
      separator = ", ";
    }
    out << ')';
  }
  out << ".\n";
}

void WriteOptions(const std::string& title,
                  const std::vector<OptionReference>& options,
                  std::ostream& out) {
  if (options.empty()) return;
  out << ".SH " << title << '\n';
  for (const OptionReference& option : options) WriteOption(option, out);
}

void WritePositionals(const CommandReference& command, std::ostream& out) {
  for (const OptionReference& positional : command.positionals) {
    const std::string name =
        Italic(positional.names.front()) + (positional.repeated ? " ..." : "");
    out << ' ' << (positional.required ? name : "[" + name + "]");
  }
}

void WriteSubcommands(const CommandReference& command, std::ostream& out) {
  if (command.subcommands.empty()) return;
  out << ".SH SUBCOMMANDS\n";
  for (const CommandReference& subcommand : command.subcommands) {
    out << ".TP\n" << Bold(command.name + " " + subcommand.name);
    WritePositionals(subcommand, out);
    out << '\n' << Escape(subcommand.purpose) << ".\n";
  }
}

void WriteFooter(const std::string& footer, std::ostream& out) {
  if (footer.empty()) return;
  out << ".SH NOTES\n.nf\n" << Escape(footer) << "\n.fi\n";
}

}  // namespace

std::string ProgramPage(const CommandReference& reference) {
  std::ostringstream out;
  out << Head("bulkhead",
              "decode video and audio through untrusted, sandboxed backends")
      << ".SH SYNOPSIS\n"
      << Bold("bulkhead") << " [" << Italic("OPTIONS") << "] "
      << Italic("SUBCOMMAND") << " ...\n.SH DESCRIPTION\n"
      << Escape(reference.purpose) << "\n.SH SUBCOMMANDS\n";
  for (const CommandReference& command : reference.subcommands) {
    out << ".TP\n"
        << Bold("bulkhead-" + command.name) << "(1)\n"
        << Escape(command.purpose) << ".\n";
  }
  WriteOptions("OPTIONS", reference.options, out);
  WriteFooter(reference.footer, out);
  return out.str();
}

std::string CommandPage(const CommandReference& command) {
  std::ostringstream out;
  out << Head("bulkhead-" + command.name, command.purpose) << ".SH SYNOPSIS\n"
      << Bold("bulkhead " + command.name) << " [" << Italic("OPTIONS") << ']';
  WritePositionals(command, out);
  out << '\n';
  WriteSubcommands(command, out);
  WriteOptions("ARGUMENTS", command.positionals, out);
  WriteOptions("OPTIONS", command.options, out);
  WriteFooter(command.footer, out);
  out << ".SH SEE ALSO\n" << Bold("bulkhead") << "(1)\n";
  return out.str();
}

}  // namespace bulkhead::cli::reference
