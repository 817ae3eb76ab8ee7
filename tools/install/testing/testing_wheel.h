// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bulkhead::install {

// A builder of valid and invalid wheels for tests. `TestingWheel("acme",
// "1.0")` is valid: it has acme/libacme.so, which contains the version, and the
// metadata.
class TestingWheel {
 public:
  explicit TestingWheel(std::string name, std::string version = "1.0");

  std::string dist_info() const {
    return name_ + "-" + version_ + ".dist-info";
  }
  std::string file_name() const;

  // Adds an entry, or replaces the entry with this path. `mode` includes the
  // file type, as in st_mode.
  TestingWheel& Add(const std::string& path, const std::string& contents,
                    uint32_t mode = 0100644);
  TestingWheel& Remove(const std::string& path);
  // Adds a line to RECORD for which the wheel has no entry.
  TestingWheel& AddRecordLine(const std::string& line);
  // Removes the line of an existing entry from RECORD.
  TestingWheel& Unlisted(const std::string& path);
  // Replaces the whole RECORD by `text`. An empty text makes a wheel without a
  // RECORD.
  TestingWheel& SetRecord(const std::string& text);
  TestingWheel& SetPlatform(const std::string& tag);

  // Returns the text set by SetRecord, or the RECORD made from the entries.
  std::string Record() const;

  // Writes the wheel as a zip file into `directory` and returns the path.
  std::string Write(const std::string& directory) const;
  // Writes the files below `directory` as an installer would.
  void Unpack(const std::string& directory) const;

 private:
  struct Entry {
    std::string path;
    std::string contents;
    uint32_t mode;
    bool listed = true;
  };

  std::string name_;
  std::string version_;
  std::string platform_ = "any";
  std::vector<Entry> entries_;
  std::vector<std::string> extra_lines_;
  std::optional<std::string> record_;
};

// Replaces every occurrence of `from` in a file by `to`, which must have the
// same length. Makes archives that no packer makes. Returns the number of
// occurrences.
int ReplaceBytes(const std::string& file, std::string_view from,
                 std::string_view to);

// Overwrites the unpacked size in both headers of the entry `path` of a zip
// file, so that the entry claims a wrong size.
void ClaimSize(const std::string& file, const std::string& path, uint32_t size);

std::string ReadAll(const std::string& file);

// Returns every file and folder below `directory` with type, mode and contents,
// sorted. Two trees are equal if their snapshots are.
std::vector<std::string> Snapshot(const std::string& directory);

// Returns an error text if the distribution `dist_info` below `directory` does
// not agree with its RECORD, or an empty text if it does.
std::string VerifyInstalled(const std::string& directory,
                            const std::string& dist_info);

}  // namespace bulkhead::install
