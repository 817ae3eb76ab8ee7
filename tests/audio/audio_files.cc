// SPDX-License-Identifier: Apache-2.0
#include "tests/audio/audio_files.h"

#include <cstdlib>
#include <cstring>
#include <fstream>

#include "tests/support/program.h"
#include "tests/support/test_paths.h"

namespace bulkhead::tests {
namespace {

std::string LittleEndian(uint32_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
  return out;
}

}  // namespace

std::string MakeAudio(const std::string& name,
                      const std::vector<std::string>& encoding,
                      double seconds) {
  const std::string path = TemporaryDirectory() + "/" + name;
  std::vector<std::string> arguments = {
      "ffmpeg",
      "-nostdin",
      "-v",
      "error",
      "-y",
      "-f",
      "lavfi",
      "-i",
      "aevalsrc=exprs=0.4*sin(t*900*(1+t/9))+0.2*(random(0)-0.5)|"
      "0.3*sin(t*333)+0.1*random(1):s=44100:d=" +
          std::to_string(seconds)};
  arguments.insert(arguments.end(), encoding.begin(), encoding.end());
  arguments.push_back(path);
  return RunProgram(arguments).exit_code == 0 ? path : "";
}

std::vector<float> SamplesByFfmpeg(const std::string& path,
                                   const std::vector<std::string>& options) {
  std::vector<std::string> arguments = {"ffmpeg",   "-nostdin", "-v", "quiet",
                                        "-threads", "1",        "-i", path,
                                        "-map",     "0:a:0"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  arguments.insert(arguments.end(), {"-f", "f32le", "-"});
  const std::string output = RunProgram(arguments).output;
  std::vector<float> samples(output.size() / sizeof(float));
  std::memcpy(samples.data(), output.data(), samples.size() * sizeof(float));
  return samples;
}

std::string WriteWav(const std::string& name, uint16_t format,
                     uint16_t channels, uint32_t sample_rate, uint16_t bits,
                     const std::string& data, const std::string& trailer) {
  const auto align = static_cast<uint16_t>(channels * bits / 8);
  std::string file = "WAVEfmt " + LittleEndian(16, 4) +
                     LittleEndian(format, 2) + LittleEndian(channels, 2) +
                     LittleEndian(sample_rate, 4) +
                     LittleEndian(sample_rate * align, 4) +
                     LittleEndian(align, 2) + LittleEndian(bits, 2) + "data" +
                     LittleEndian(static_cast<uint32_t>(data.size()), 4) +
                     data + std::string(data.size() % 2, '\0') + trailer;
  file = "RIFF" + LittleEndian(static_cast<uint32_t>(file.size()), 4) + file;
  const std::string path = TemporaryDirectory() + "/" + name;
  std::ofstream(path, std::ios::binary) << file;
  return path;
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
  return files;
}

}  // namespace bulkhead::tests
