// SPDX-License-Identifier: Apache-2.0
#include "tests/audio/audio_files.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {

std::string MakeAudio(const std::string& name,
                      const std::vector<std::string>& encoding,
                      double seconds) {
  const std::string path = TemporaryDirectory() + "/" + name;
  std::vector<std::string> arguments = {
      "-f", "lavfi", "-i",
      "aevalsrc=exprs=0.4*sin(t*900*(1+t/9))+0.2*(random(0)-0.5)|"
      "0.3*sin(t*333)+0.1*random(1):s=44100:d=" +
          std::to_string(seconds)};
  arguments.insert(arguments.end(), encoding.begin(), encoding.end());
  arguments.push_back(path);
  return RunFfmpeg(arguments).exit_code == 0 ? path : "";
}

std::vector<float> SamplesByFfmpeg(const std::string& path,
                                   const std::vector<std::string>& options) {
  std::vector<std::string> arguments = {"ffmpeg",   "-nostdin", "-v", "quiet",
                                        "-threads", "1",        "-i", path,
                                        "-map",     "0:a:0"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.insert(arguments.end(), {"-f", "f32le", "-"});
  return FloatsIn(RunProgram(arguments).output);
}

std::vector<float> FloatsIn(const std::string& output) {
  std::vector<float> samples(output.size() / sizeof(float));
  std::memcpy(samples.data(), output.data(), samples.size() * sizeof(float));
  return samples;
}

std::vector<std::string> SharedMedia() {
  std::vector<std::string> files;
  const char* shared = std::getenv("BULKHEAD_SHARED");
  if (shared == nullptr) return files;
  const std::string media = std::string(shared) + "/media/";
  std::ifstream manifest(media + "MANIFEST.tsv");
  std::string line;
  std::getline(manifest, line);
  while (std::getline(manifest, line)) {
    files.push_back(media + line.substr(0, line.find('\t')));
  }
  // A table over no rows would pass.
  if (files.empty()) {
    throw std::runtime_error(media + " has no sample files");
  }
  return files;
}

}  // namespace bulkhead::tests
