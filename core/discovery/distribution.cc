// SPDX-License-Identifier: Apache-2.0
#include "core/discovery/distribution.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "core/base/bounded_file.h"
#include "core/base/status_macros.h"
#include "core/base/text.h"

namespace bulkhead::discovery {
namespace {

constexpr size_t kMaxRecordDiagnostics = 20;

bool EqualsIgnoringCase(std::string_view text, std::string_view lower) {
  return text.size() == lower.size() &&
         std::equal(text.begin(), text.end(), lower.begin(),
                    [](char a, char b) { return AsciiLower(a) == b; });
}

// The headers of METADATA up to the first empty line. If a header is repeated,
// the first one is used.
struct Metadata {
  std::string_view name;
  std::string_view version;
  bool complete = false;  // True if the empty line was reached.
};

Metadata ParseMetadata(std::string_view text) {
  Metadata metadata;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  while (true) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    const size_t colon = line.find(':');
    if (colon != std::string_view::npos) {
      const std::string_view key = line.substr(0, colon);
      if (metadata.name.empty() && EqualsIgnoringCase(key, "name")) {
        metadata.name = Trimmed(line.substr(colon + 1));
      } else if (metadata.version.empty() &&
                 EqualsIgnoringCase(key, "version")) {
        metadata.version = Trimmed(line.substr(colon + 1));
      }
    } else if (end != std::string_view::npos && Trimmed(line).empty()) {
      metadata.complete = true;
      return metadata;
    }
    if (end == std::string_view::npos) return metadata;
    text.remove_prefix(end + 1);
  }
}

// Stops the reading of METADATA after its headers, since a description of any
// length follows them.
bool HasAllHeaders(std::string_view beginning) {
  return ParseMetadata(beginning).complete;
}

// Splits one CSV line into fields; false if its quotes do not match.
bool SplitCsv(std::string_view line, std::vector<std::string>& fields) {
  fields.assign(1, "");
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"') {
      if (quoted && i + 1 < line.size() && line[i + 1] == '"') {
        fields.back() += c;
        ++i;
      } else {
        quoted = !quoted;
      }
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return !quoted;
}

// Bounded, because every entry point has a copy of name and version.
constexpr size_t kMaxNameBytes = 255;

// Versions that PEP 440 does not accept ("2004d") are in use. Versions with
// spaces, control characters or non-ASCII characters are not.
bool IsPlainVersion(std::string_view text) {
  return !text.empty() && text.size() <= kMaxNameBytes &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return c > ' ' && c < '\x7f'; });
}

// Replaces name and version of `distribution` by those of METADATA, if valid.
void AdoptNames(const std::string& metadata_file, const Metadata& metadata,
                Distribution& distribution, Diagnostics& diagnostics) {
  const auto warn = [&](std::string message) {
    diagnostics.push_back(
        {Diagnostic::Severity::kWarning, metadata_file, 0, std::move(message)});
  };
  if (!IsDistributionName(metadata.name)) {
    warn("no valid Name: the folder's, " + Quoted(distribution.name) +
         ", is used");
  } else if (metadata.name != distribution.name &&
             NormalizedName(metadata.name) != distribution.normalized_name) {
    // This METADATA belongs to another distribution, so its version is not used
    // either.
    warn("its Name is " + Quoted(metadata.name) + ": the folder's, " +
         Quoted(distribution.name) + ", and its version are used");
    return;
  } else {
    distribution.has_metadata = true;
    distribution.name = metadata.name;
  }
  if (!IsPlainVersion(metadata.version)) {
    warn("no valid Version: the folder's, " + Quoted(distribution.version) +
         ", is used");
  } else {
    distribution.version = metadata.version;
  }
}

}  // namespace

bool IsDistributionName(std::string_view text_untrusted) {
  const auto alphanumeric = [](char c) {
    return IsAsciiLetter(c) || IsAsciiDigit(c);
  };
  return !text_untrusted.empty() && text_untrusted.size() <= kMaxNameBytes &&
         alphanumeric(text_untrusted.front()) &&
         alphanumeric(text_untrusted.back()) &&
         std::all_of(text_untrusted.begin(), text_untrusted.end(), [&](char c) {
           return alphanumeric(c) || c == '-' || c == '_' || c == '.';
         });
}

std::optional<FolderName> ParseFolderName(std::string_view dist_info) {
  if (!dist_info.ends_with(kDistInfoSuffix)) return std::nullopt;
  dist_info.remove_suffix(kDistInfoSuffix.size());
  const size_t dash = dist_info.rfind('-');
  FolderName parsed{std::string(dist_info.substr(0, dash)), ""};
  if (dash != std::string_view::npos) {
    parsed.version = dist_info.substr(dash + 1);
  }
  if (!IsDistributionName(parsed.name) ||
      (!parsed.version.empty() && !IsPlainVersion(parsed.version))) {
    return std::nullopt;
  }
  return parsed;
}

Result<Distribution> ReadDistribution(int directory_fd,
                                      const std::string& directory,
                                      const std::string& dist_info, bool plain,
                                      Diagnostics& diagnostics,
                                      std::string_view group) {
  std::optional<FolderName> folder = ParseFolderName(dist_info);
  if (!folder) {
    return Status(Code::kInvalidArgument,
                  Quoted(dist_info) + " is not called NAME-VERSION.dist-info");
  }
  Distribution distribution;
  distribution.normalized_name = NormalizedName(folder->name);
  distribution.name = std::move(folder->name);
  distribution.version = std::move(folder->version);
  distribution.directory = directory;
  distribution.dist_info = dist_info;

  const Result<std::string> text =
      ReadFileBeneath(directory_fd, dist_info + "/entry_points.txt",
                      ReadOptions{.plain_folders = plain});
  const auto file = [&] {
    return distribution.dist_info_path() + "/entry_points.txt";
  };
  if (!text) {
    // Find out whether only the file is missing, or there is no such folder.
    RETURN_IF_ERROR(FindDirectoryBeneath(directory_fd, dist_info));
    if (text.error().code() != Code::kNotFound) {
      diagnostics.push_back(
          {Diagnostic::Severity::kError, file(), 0, text.error().message()});
    }
  } else if (text->find(group) != std::string::npos) {
    EntryPoint origin;
    origin.distribution = distribution.name;
    origin.version = distribution.version;
    origin.file = file();
    ParsedEntryPoints parsed = ParseEntryPoints(*text, origin);
    distribution.entry_points = std::move(parsed.entries);
    std::move(parsed.diagnostics.begin(), parsed.diagnostics.end(),
              std::back_inserter(diagnostics));
    if (!group.empty()) {
      std::erase_if(distribution.entry_points, [&](const EntryPoint& entry) {
        return entry.group != group;
      });
    }
  }
  return distribution;
}

void ReadMetadata(int directory_fd, bool plain, Distribution& distribution,
                  Diagnostics& diagnostics) {
  const std::string file = distribution.dist_info_path() + "/METADATA";
  const Result<std::string> text = ReadFileBeneath(
      directory_fd, distribution.dist_info + "/METADATA",
      ReadOptions{.saw_enough = HasAllHeaders, .plain_folders = plain});
  if (!text) {
    diagnostics.push_back(
        {Diagnostic::Severity::kWarning, file, 0,
         text.error().message() + "; name and version are the folder's"});
    return;
  }
  AdoptNames(file, ParseMetadata(*text), distribution, diagnostics);
  for (EntryPoint& entry_point : distribution.entry_points) {
    entry_point.distribution = distribution.name;
    entry_point.version = distribution.version;
  }
}

std::string RecordLacks(const std::string& plugin_path) {
  return "RECORD does not list " + Quoted(plugin_path) +
         ": install the distribution again, or without a RECORD";
}

std::string RecordTooLong(size_t rows) {
  return "RECORD has " + std::to_string(rows) +
         " rows, and that of a backend "
         "may have " +
         std::to_string(kMaxBackendsRecordRows) +
         ": ship fewer files beside the backend";
}

Result<std::optional<std::vector<RecordedFile>>> ReadRecord(
    int directory_fd, const Distribution& distribution,
    Diagnostics& diagnostics, size_t max_bytes) {
  const std::string file = distribution.dist_info_path() + "/RECORD";
  const Result<std::string> text = ReadFileBeneath(
      directory_fd, distribution.dist_info + "/RECORD", max_bytes);
  if (!text) {
    if (text.error().code() != Code::kNotFound) return text.error();
    return std::optional<std::vector<RecordedFile>>();
  }
  std::vector<RecordedFile> files;
  std::vector<std::string> fields;
  std::string_view rest = *text;
  size_t reported = 0;
  for (uint32_t line = 1; !rest.empty(); ++line) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view text_of_line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (text_of_line.ends_with('\r')) text_of_line.remove_suffix(1);
    if (text_of_line.empty()) continue;

    const bool well_formed = SplitCsv(text_of_line, fields);
    std::optional<std::string> path = CleanedRelativePath(fields[0]);
    if (well_formed && path) {
      files.push_back(
          {std::move(*path), fields.size() > 1 ? fields[1] : std::string()});
    } else if (reported++ < kMaxRecordDiagnostics) {
      diagnostics.push_back({well_formed ? Diagnostic::Severity::kNote
                                         : Diagnostic::Severity::kWarning,
                             file, line,
                             "left out: " + Quoted(fields[0]) +
                                 (well_formed ? " is not below the directory"
                                              : " has an open quote")});
    }
  }
  return std::optional(std::move(files));
}

std::optional<std::string> CleanedRelativePath(
    std::string_view path_untrusted) {
  if (path_untrusted.starts_with('/') ||
      path_untrusted.find('\0') != std::string_view::npos) {
    return std::nullopt;
  }
  std::string cleaned;
  while (!path_untrusted.empty()) {
    const size_t slash = path_untrusted.find('/');
    const std::string_view part = path_untrusted.substr(0, slash);
    if (part == "..") return std::nullopt;
    if (!part.empty() && part != ".") {
      if (!cleaned.empty()) cleaned += '/';
      cleaned += part;
    }
    if (slash == std::string_view::npos) break;
    path_untrusted.remove_prefix(slash + 1);
  }
  if (cleaned.empty()) return std::nullopt;
  return cleaned;
}

}  // namespace bulkhead::discovery
