// SPDX-License-Identifier: Apache-2.0
#include "tools/benchmark/generated_backends.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <utility>

namespace bulkhead::benchmark {
namespace {

namespace fs = std::filesystem;

// The backend that is copied.
struct Original {
  fs::path object;            // The shared object.
  std::string symbol;         // The entry function.
  std::string hash_and_size;  // The line of RECORD after the path.
};

// Finds the installed openreg. Its RECORD lists the shared object, and its
// entry_points.txt names the entry function.
Result<Original> FindOpenreg(const std::string& libexec) {
  const fs::path directory = fs::path(libexec) / "backends";
  Original original;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    const fs::path& info = entry.path();
    if (info.extension() != ".dist-info" ||
        !info.filename().string().starts_with("bulkhead_openreg-")) {
      continue;
    }
    std::ifstream record(info / "RECORD");
    for (std::string line; std::getline(record, line);) {
      const size_t comma = line.find(',');
      const std::string path = line.substr(0, comma);
      if (!path.ends_with(".so")) continue;
      original.object = directory / path;
      original.hash_and_size = line.substr(comma);
    }
    std::ifstream entry_points(info / "entry_points.txt");
    for (std::string line; std::getline(entry_points, line);) {
      const size_t colon = line.find(':');
      if (colon != std::string::npos) original.symbol = line.substr(colon + 1);
    }
  }
  if (!original.object.empty() && !original.symbol.empty()) return original;
  return Status(Code::kNotFound, "no openreg in " + directory.string() +
                                     "; name its directory with --libexec");
}

std::string NameOf(int i) { return fmt::format("copy{:03}", i); }

// Writes copy `i` as an installed distribution below `path`.
void Install(const Original& original, const fs::path& path, int i) {
  const std::string name = NameOf(i);
  const std::string object = fmt::format("{0}/lib{0}.so", name);
  const fs::path info = path / (name + "-1.0.dist-info");
  fs::create_directory(path / name);
  fs::create_directory(info);
  fs::copy_file(original.object, path / object);
  std::ofstream(info / "METADATA")
      << "Metadata-Version: 2.1\nName: " << name << "\nVersion: 1.0\n";
  std::ofstream(info / "bulkhead.toml") << "abi = 1\ndevices = [\"openreg\"]\n";
  std::ofstream(info / "RECORD") << object << original.hash_and_size << "\n";
  std::ofstream(info / "entry_points.txt") << fmt::format(
      "[bulkhead.backends]\n{0} = {0}.{0}:{1}\n", name, original.symbol);
}

}  // namespace

Result<GeneratedBackends> GeneratedBackends::Make(const std::string& libexec,
                                                  int count) {
  const Result<Original> original = FindOpenreg(libexec);
  if (!original) return original.error();
  std::string path = fs::temp_directory_path() / "bulkhead-bench-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    return Status(Code::kInternal, "cannot make a directory " + path);
  }
  GeneratedBackends generated(fs::canonical(path));
  // Backends run under other user ids and must be able to read the directory.
  fs::permissions(generated.path(), fs::perms(0755));
  try {
    for (int i = 0; i < count; ++i) Install(*original, generated.path(), i);
  } catch (const fs::filesystem_error& error) {
    return Status(Code::kInternal, error.what());
  }
  return generated;
}

GeneratedBackends::GeneratedBackends(GeneratedBackends&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

GeneratedBackends::~GeneratedBackends() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

std::string GeneratedBackends::Device(int i) {
  return NameOf(i) + "/openreg:0";
}

}  // namespace bulkhead::benchmark
