// SPDX-License-Identifier: Apache-2.0
#include "tools/install/record.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "core/base/text.h"
#include "core/discovery/distribution.h"

namespace bulkhead::install {
namespace {

constexpr size_t kMaxPathBytes = 2048;
constexpr size_t kMaxNameBytes = 255;

// Splits a line of CSV into fields. Returns false if a quote is not closed.
bool Split(std::string_view line, std::vector<std::string>& fields) {
  fields.assign(1, "");
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const bool quote = line[i] == '"';
    if (quote && quoted && line.substr(i + 1).starts_with('"')) {
      fields.back() += line[++i];
    } else if (quote) {
      quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += line[i];
    }
  }
  return !quoted;
}

Status Malformed(int line, const std::string& why) {
  return Status(Code::kBadInput,
                "RECORD, line " + std::to_string(line) + ": " + why);
}

// Returns whether the text can be a digest: URL-safe base64, not empty.
bool IsBase64(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return IsAsciiLetter(c) || IsAsciiDigit(c) || c == '-' || c == '_';
  });
}

// Parses the field ALGORITHM=DIGEST into `line`. An empty field means no hash.
Status AdoptHashIfValid(const std::string& field, RecordLine& line) {
  if (field.empty()) return Status();
  const size_t equals = field.find('=');
  line.algorithm = HashAlgorithmNamed(field.substr(0, equals));
  if (equals != std::string::npos) line.digest = field.substr(equals + 1);
  while (line.digest.ends_with('=')) line.digest.pop_back();
  if (!line.algorithm || !IsBase64(line.digest)) {
    return Malformed(line.line, Quoted(field) +
                                    " is no hash of sha256 or better; let the "
                                    "vendor pack the wheel anew");
  }
  return Status();
}

// Parses the field of the size into `line`. An empty field means no size.
Status AdoptSizeIfValid(const std::string& field, RecordLine& line) {
  if (field.empty()) return Status();
  uint64_t size = 0;
  const char* end = field.data() + field.size();
  const auto [stop, error] = std::from_chars(field.data(), end, size);
  if (error != std::errc() || stop != end) {
    return Malformed(line.line, Quoted(field) + " is no size");
  }
  line.size = size;
  return Status();
}

// Returns `text` as a field of CSV, in quotes if necessary.
std::string Field(std::string_view text) {
  if (text.find_first_of(",\"") == std::string_view::npos) {
    return std::string(text);
  }
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += c;
    quoted += c;
  }
  return quoted + '"';
}

const char* NameOf(HashAlgorithm algorithm) {
  switch (algorithm) {
    case HashAlgorithm::kSha256:
      return "sha256";
    case HashAlgorithm::kSha384:
      return "sha384";
    case HashAlgorithm::kSha512:
      break;
  }
  return "sha512";
}

}  // namespace

Result<std::vector<RecordLine>> ParseRecord(std::string_view text_untrusted) {
  std::vector<RecordLine> lines;
  std::set<std::string> paths;
  std::vector<std::string> fields;
  for (int number = 1; !text_untrusted.empty(); ++number) {
    const size_t end =
        std::min(text_untrusted.find('\n'), text_untrusted.size());
    std::string_view text = text_untrusted.substr(0, end);
    text_untrusted.remove_prefix(std::min(end + 1, text_untrusted.size()));
    if (text.ends_with('\r')) text.remove_suffix(1);
    if (text.empty()) continue;

    if (!Split(text, fields)) return Malformed(number, "an open quote");
    if (fields.size() != 3) {
      return Malformed(number, "not PATH,HASH,SIZE: " + Quoted(text));
    }
    RecordLine line;
    line.path = std::move(fields[0]);
    line.line = number;
    if (Status status = AdoptHashIfValid(fields[1], line); !status.ok()) {
      return status;
    }
    if (Status status = AdoptSizeIfValid(fields[2], line); !status.ok()) {
      return status;
    }
    if (!paths.insert(line.path).second) {
      return Malformed(number, Quoted(line.path) + " is listed twice");
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string FormatRecord(const std::vector<RecordLine>& lines) {
  std::string text;
  for (const RecordLine& line : lines) {
    text += Field(line.path) + ',';
    if (line.algorithm) {
      text += std::string(NameOf(*line.algorithm)) + '=' + line.digest;
    }
    text += ',';
    if (line.size) text += std::to_string(*line.size);
    text += '\n';
  }
  return text;
}

Status ValidatePath(std::string_view path_untrusted) {
  const auto refused = [&](const char* why) {
    return Status(Code::kBadInput, Quoted(path_untrusted) + ": " + why);
  };
  if (path_untrusted.starts_with('/')) return refused("an absolute path");
  const bool control =
      std::any_of(path_untrusted.begin(), path_untrusted.end(),
                  [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; });
  if (control || !IsValidUtf8(path_untrusted)) {
    return refused("a name with control characters or invalid UTF-8");
  }
  if (discovery::CleanedRelativePath(path_untrusted) != path_untrusted) {
    return refused("a path with \"..\", \".\" or an empty part");
  }
  if (path_untrusted.size() > kMaxPathBytes) return refused("too long");
  for (size_t begin = 0; begin < path_untrusted.size();) {
    const size_t end =
        std::min(path_untrusted.find('/', begin), path_untrusted.size());
    if (end - begin > kMaxNameBytes) return refused("too long a name");
    begin = end + 1;
  }
  if (path_untrusted.starts_with(kOwnPrefix)) {
    return refused("a name that the installer keeps for itself");
  }
  return Status();
}

}  // namespace bulkhead::install
