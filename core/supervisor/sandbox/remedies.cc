// SPDX-License-Identifier: Apache-2.0
#include "core/supervisor/sandbox/remedies.h"

namespace bulkhead::sandbox {
namespace {

// Returns the path of the profile for containers, which lies beside bulkheadd.
std::string SeccompProfile(const MachineFacts& facts) {
  return facts.executable.substr(0, facts.executable.rfind('/') + 1) +
         "container_seccomp.json";
}

}  // namespace

std::string AllowCalls(const MachineFacts& facts, const std::string& calls) {
  if (facts.container == "kubernetes") {
    return "copy " + SeccompProfile(facts) +
           " to /var/lib/kubelet/seccomp/bulkhead.json on each node, and in "
           "the container's spec: securityContext: {seccompProfile: {type: "
           "Localhost, localhostProfile: bulkhead.json}, appArmorProfile: "
           "{type: Unconfined}}\n"
           "or a profile of your own that allows " +
           calls;
  }
  if (!facts.container.empty()) {
    return facts.container +
           " run --security-opt seccomp=FILE --security-opt "
           "apparmor=unconfined ..., where FILE is a copy, outside of the "
           "container, of " +
           SeccompProfile(facts) + "\nor a profile of your own that allows " +
           calls;
  }
  return "if systemd starts it: in its unit, RestrictNamespaces=no and no "
         "SystemCallFilter= that refuses " +
         calls + "\nif another sandbox does: the same there";
}

std::string AddCapabilities(const MachineFacts& facts,
                            const std::vector<std::string>& names) {
  if (facts.container == "kubernetes") {
    std::string list;
    for (const std::string& name : names) {
      list += (list.empty() ? "" : ", ") + name;
    }
    return "in the container's spec: securityContext: {capabilities: {add: [" +
           list + "]}}";
  }
  std::string text =
      facts.container.empty() ? "give it" : facts.container + " run";
  for (const std::string& name : names) {
    text += (facts.container.empty() ? " CAP_" : " --cap-add=") + name;
  }
  return text;
}

std::string SetSysctl(const std::string& setting) {
  return "as root: sysctl -w " + setting + "\nand to keep it: echo " + setting +
         " >> /etc/sysctl.d/60-bulkhead.conf";
}

}  // namespace bulkhead::sandbox
