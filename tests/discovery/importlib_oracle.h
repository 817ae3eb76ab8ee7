// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace bulkhead::tests {

// An entry point as Bulkhead or importlib.metadata reads it.
struct ReadEntry {
  std::string group;
  std::string name;
  std::string value;
  std::string module;
  std::string attr;
  std::vector<std::string> extras;

  bool operator==(const ReadEntry&) const = default;
};

// An entry point as importlib.metadata reads it.
struct OracleEntry {
  ReadEntry entry;
  bool valid = false;        // True if module, attr and extras can be read.
  bool identifiers = false;  // True if module and attr are identifiers.
};

struct OracleFile {
  std::string exception;  // The type of the exception; empty if none.
  std::vector<OracleEntry> entries;
};

struct OracleDistribution {
  std::string folder;  // The folder's path, with the path entry in front.
  std::string version;
  std::vector<OracleEntry> entries;
};

struct OracleTree {
  std::string exception;
  std::vector<OracleDistribution> distributions;
};

struct OracleQuestions {
  // The folders of the files "entry_points.txt", relative to the directory.
  std::vector<std::string> files;
  // Module search paths, whose entries are relative to the directory.
  std::vector<std::vector<std::string>> trees;
  // True to describe every character; see OracleAnswers::characters.
  bool characters = false;
};

struct OracleAnswers {
  std::string python;  // The version of Python.
  std::vector<OracleFile> files;
  std::vector<OracleTree> trees;
  // One character for each code point: "-" if this Python does not know the
  // code point, else a digit, which is the sum of 1 for str.isspace(), 2 if the
  // code point starts an identifier, and 4 if it continues one.
  std::string characters;
};

// Asks the Python of this machine, in one run. Returns nullopt, with the reason
// in `reason`, if this machine has no Python that can be compared with. The
// test should then be skipped.
std::optional<OracleAnswers> AskImportlib(const std::string& directory,
                                          const OracleQuestions& questions,
                                          std::string& reason);

}  // namespace bulkhead::tests
