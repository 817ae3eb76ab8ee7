// SPDX-License-Identifier: Apache-2.0
#include "backends/worker/session/allowed_lists.h"

#include <capnp/list.h>

#include <string>
#include <vector>

namespace bulkhead::worker::session {
namespace {

std::vector<std::string> NamesOf(capnp::List<capnp::Text>::Reader list) {
  std::vector<std::string> names;
  for (const auto name : list) names.emplace_back(name.cStr());
  return names;
}

}  // namespace

demux::AllowedMedia AllowedMediaOf(ipc::schema::AllowedMedia::Reader allowed) {
  demux::AllowedMedia media;
  if (allowed.getContainersAreListed()) {
    media.containers = NamesOf(allowed.getContainers());
  }
  if (allowed.getCodecsAreListed()) media.codecs = NamesOf(allowed.getCodecs());
  return media;
}

}  // namespace bulkhead::worker::session
