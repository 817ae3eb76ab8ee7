// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bulkhead::install {

// Wheels for tests, good ones and others. `TestingWheel("acme", "1.0")` is a
// good one: acme/libacme.so, whose contents tell the version, and the metadata.
class TestingWheel {
 public:
  explicit TestingWheel(std::string name, std::string version = "1.0");

  std::string dist_info() const {
    return name_ + "-" + version_ + ".dist-info";
  }
  std::string file_name() const;

  // Replaces an entry of that path. Mode with file type, as in st_mode.
  TestingWheel& Add(const std::string& path, const std::string& contents,
                    uint32_t mode = 0100644);
  TestingWheel& Remove(const std::string& path);
  // In RECORD only: another line, or the path without its own.
  TestingWheel& AddRecordLine(const std::string& line);
  TestingWheel& Unlisted(const std::string& path);
  // Instead of the correct RECORD.
  TestingWheel& SetRecord(const std::string& text);
  TestingWheel& SetPlatform(const std::string& tag);

  // The RECORD that it has, or should have.
  std::string Record() const;

  // Writes the zip into `directory` and returns its path.
  std::string Write(const std::string& directory) const;
  // Lays the files out below `directory` as an installer would.
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

// What no packer makes: replaces bytes of a file by as many others, wherever
// they occur. Returns how often that was.
int ReplaceBytes(const std::string& file, std::string_view from,
                 std::string_view to);

// Lets the headers of the first entry `path` of a zip file claim this size.
void ClaimSize(const std::string& file, const std::string& path, uint32_t size);

std::string ReadAll(const std::string& file);

// Every file and folder below `directory` with type, mode and contents, sorted:
// equal snapshots are equal trees.
std::vector<std::string> Snapshot(const std::string& directory);

// Why the only distribution there, or the one named, is not what its RECORD
// says: empty if it is.
std::string VerifyInstalled(const std::string& directory,
                            const std::string& dist_info);

}  // namespace bulkhead::install
