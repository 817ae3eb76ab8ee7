// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace bulkhead::tests {

// An entry point as either side reads it.
struct ReadEntry {
  std::string group;
  std::string name;
  std::string value;
  std::string module;
  std::string attr;
  std::vector<std::string> extras;

  bool operator==(const ReadEntry&) const = default;
};

// As importlib.metadata reads it.
struct OracleEntry {
  ReadEntry entry;
  bool valid = false;        // Its module, attr and extras can be asked for.
  bool identifiers = false;  // Those of the first two are identifiers.
};

struct OracleFile {
  std::string exception;  // Its type; empty: there was none.
  std::vector<OracleEntry> entries;
};

struct OracleDistribution {
  std::string folder;  // With the path entry before it.
  std::string version;
  std::vector<OracleEntry> entries;
};

struct OracleTree {
  std::string exception;
  std::vector<OracleDistribution> distributions;
};

struct OracleQuestions {
  // What stands before "entry_points.txt" in the files' paths, relative to the
  // directory.
  std::vector<std::string> files;
  // Module search paths, relative too.
  std::vector<std::vector<std::string>> trees;
  bool characters = false;
};

struct OracleAnswers {
  std::string python;  // Its version.
  std::vector<OracleFile> files;
  std::vector<OracleTree> trees;
  // By code point: "-" for those that this Python has not heard of, else a
  // digit, the sum of 1 for str.isspace(), 2 for what starts an identifier, 4
  // for what continues one.
  std::string characters;
};

// Asks the machine's own Python, in one run. No answers, and why in `reason`:
// there is none that could be compared with, to be taken as a reason to skip.
std::optional<OracleAnswers> AskImportlib(const std::string& directory,
                                          const OracleQuestions& questions,
                                          std::string& reason);

}  // namespace bulkhead::tests
