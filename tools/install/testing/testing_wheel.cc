// SPDX-License-Identifier: Apache-2.0
#include "tools/install/testing/testing_wheel.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zip.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

#include "core/base/digest.h"
#include "tools/install/record.h"

namespace bulkhead::install {
namespace {

namespace fs = std::filesystem;

std::string Sha256(std::string_view text) {
  Digest digest(HashAlgorithm::kSha256);
  digest.Append(text);
  return digest.Finish();
}

void WriteAll(const std::string& file, const std::string& contents) {
  fs::create_directories(fs::path(file).parent_path());
  std::ofstream(file, std::ios::binary | std::ios::trunc) << contents;
}

}  // namespace

TestingWheel::TestingWheel(std::string name, std::string version)
    : name_(std::move(name)), version_(std::move(version)) {
  Add(name_ + "/lib" + name_ + ".so", name_ + " " + version_ + " object",
      0100755);
  Add(dist_info() + "/METADATA", "Metadata-Version: 2.1\nName: " + name_ +
                                     "\nVersion: " + version_ + "\n");
  Add(dist_info() + "/WHEEL",
      "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: false\n"
      "Tag: py3-none-any\n");
  Add(dist_info() + "/entry_points.txt", "[bulkhead.backends]\n" + name_ +
                                             " = " + name_ + "." + name_ +
                                             ":backend\n");
}

std::string TestingWheel::file_name() const {
  return name_ + "-" + version_ + "-py3-none-" + platform_ + ".whl";
}

TestingWheel& TestingWheel::Add(const std::string& path,
                                const std::string& contents, uint32_t mode) {
  Remove(path);
  entries_.push_back({path, contents, mode});
  return *this;
}

TestingWheel& TestingWheel::Remove(const std::string& path) {
  std::erase_if(entries_, [&](const Entry& e) { return e.path == path; });
  return *this;
}

TestingWheel& TestingWheel::AddRecordLine(const std::string& line) {
  extra_lines_.push_back(line);
  return *this;
}

TestingWheel& TestingWheel::Unlisted(const std::string& path) {
  for (Entry& entry : entries_) {
    if (entry.path == path) entry.listed = false;
  }
  return *this;
}

TestingWheel& TestingWheel::SetRecord(const std::string& text) {
  record_ = text;
  return *this;
}

TestingWheel& TestingWheel::SetPlatform(const std::string& tag) {
  platform_ = tag;
  return *this;
}

std::string TestingWheel::Record() const {
  if (record_) return *record_;
  std::vector<RecordLine> lines;
  for (const Entry& entry : entries_) {
    if (!entry.listed || entry.path.ends_with('/')) continue;
    lines.push_back({entry.path, HashAlgorithm::kSha256, Sha256(entry.contents),
                     entry.contents.size()});
  }
  lines.push_back({dist_info() + "/RECORD", std::nullopt, "", std::nullopt});
  std::string text = FormatRecord(lines);
  for (const std::string& line : extra_lines_) text += line + "\n";
  return text;
}

std::string TestingWheel::Write(const std::string& directory) const {
  const std::string path = directory + "/" + file_name();
  int error = 0;
  zip_t* zip = zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &error);
  EXPECT_NE(zip, nullptr) << error;
  std::vector<Entry> entries = entries_;
  if (!record_ || !record_->empty()) {
    entries.push_back({dist_info() + "/RECORD", Record(), 0100644});
  }
  for (const Entry& entry : entries) {
    zip_source_t* source =
        zip_source_buffer(zip, entry.contents.data(), entry.contents.size(), 0);
    const zip_int64_t index =
        zip_file_add(zip, entry.path.c_str(), source, ZIP_FL_ENC_UTF_8);
    EXPECT_GE(index, 0) << entry.path << ": " << zip_strerror(zip);
    zip_file_set_external_attributes(zip, index, 0, ZIP_OPSYS_UNIX,
                                     entry.mode << 16);
  }
  EXPECT_EQ(zip_close(zip), 0) << zip_strerror(zip);
  return path;
}

void TestingWheel::Unpack(const std::string& directory) const {
  for (const Entry& entry : entries_) {
    const std::string path = directory + "/" + entry.path;
    WriteAll(path, entry.contents);
    chmod(path.c_str(), entry.mode & 07777);
  }
  if (!Record().empty()) {
    WriteAll(directory + "/" + dist_info() + "/RECORD", Record());
  }
}

std::string ReadAll(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

int ReplaceBytes(const std::string& file, std::string_view from,
                 std::string_view to) {
  EXPECT_EQ(from.size(), to.size());
  std::string bytes = ReadAll(file);
  int count = 0;
  for (size_t at = 0; (at = bytes.find(from, at)) != std::string::npos;
       at += to.size()) {
    bytes.replace(at, from.size(), to);
    ++count;
  }
  WriteAll(file, bytes);
  return count;
}

void ClaimSize(const std::string& file, const std::string& path,
               uint32_t size) {
  std::string bytes = ReadAll(file);
  const auto claim = [&](std::string_view magic, size_t size_at,
                         size_t name_at) {
    for (size_t at = 0; (at = bytes.find(magic, at)) != std::string::npos;
         ++at) {
      if (bytes.compare(at + name_at, path.size(), path) != 0) continue;
      std::memcpy(&bytes[at + size_at], &size, sizeof(size));
      return true;
    }
    return false;
  };
  EXPECT_TRUE(claim("PK\3\4", 22, 30));
  EXPECT_TRUE(claim("PK\1\2", 24, 46));
  WriteAll(file, bytes);
}

std::vector<std::string> Snapshot(const std::string& directory) {
  std::vector<std::string> lines;
  for (const fs::directory_entry& entry :
       fs::recursive_directory_iterator(directory)) {
    struct stat info;
    lstat(entry.path().c_str(), &info);
    lines.push_back(entry.path().lexically_relative(directory).string() + " " +
                    std::to_string(info.st_mode) + " " +
                    (S_ISREG(info.st_mode) ? ReadAll(entry.path()) : ""));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::string VerifyInstalled(const std::string& directory,
                            const std::string& dist_info) {
  const auto lines =
      ParseRecord(ReadAll(directory + "/" + dist_info + "/RECORD"));
  if (!lines) return lines.error().message();
  if (lines->empty()) return "no RECORD";
  for (const RecordLine& line : *lines) {
    const std::string path = directory + "/" + line.path;
    if (!fs::is_regular_file(path)) return line.path + " is missing";
    if (line.algorithm && Sha256(ReadAll(path)) != line.digest) {
      return line.path + " has another hash";
    }
  }
  return "";
}

}  // namespace bulkhead::install
