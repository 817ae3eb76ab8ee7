// SPDX-License-Identifier: Apache-2.0
//
// An application for a test to kill. Decodes a clip on two backends for ever.
//
//   decoding_application LIBEXEC CLIP [forked]
//
// Once both backends decode, it prints one line, "bulkheadd PID reaper PID ...
// child PID". With `forked`, the child is a fork of the application that holds
// all of its descriptors.
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "bulkhead/host.h"

namespace {

using bulkhead::Host;
using bulkhead::VideoDecoder;

std::string DescribeProcesses(Host& host) {
  std::ostringstream line;
  line << "bulkheadd " << host.supervisor_pid();
  const bulkhead::BackendReport report = host.Backends().value();
  for (const bulkhead::BackendInfo& backend : report.backends) {
    if (backend.reaper_pid <= 0) continue;
    line << " reaper " << backend.reaper_pid;
    line << " zygote " << backend.zygote_pid;
    for (int pid : backend.session_pids) line << " worker " << pid;
  }
  return line.str();
}

// Returns only when a call fails.
void DecodeForEver(std::vector<VideoDecoder>& videos) {
  for (;;) {
    for (VideoDecoder& video : videos) {
      if (!video.Next().value()) video.Rewind();
    }
  }
}

int Run(int argc, char** argv) {
  if (argc < 3) return 2;
  bulkhead::HostOptions options;
  options.libexec_dir = argv[1];
  const auto host = Host::Create(options).value();
  std::vector<VideoDecoder> videos;
  for (const char* device : {"cpu", "openreg:0", "openreg:1", "cpu"}) {
    videos.push_back(host->OpenVideo(argv[2], {.device = device}).value());
    if (!videos.back().Next().value()) return 1;
  }
  std::string line = DescribeProcesses(*host);
  if (argc > 3 && std::strcmp(argv[3], "forked") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      for (;;) poll(nullptr, 0, -1);
    }
    line += " child " + std::to_string(child);
  }
  std::cout << line << std::endl;
  DecodeForEver(videos);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return Run(argc, argv);
  } catch (const bulkhead::StatusError& error) {
    std::cerr << error.status() << std::endl;
    return 1;
  }
}
