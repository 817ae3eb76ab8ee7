// SPDX-License-Identifier: Apache-2.0
#include "tests/escape/tiers/promises.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "tests/escape/tiers/outside.h"

namespace bulkhead::tests {
namespace {

using Status = std::map<std::string, std::string>;

std::string YesIf(bool holds) { return holds ? "yes" : "no"; }

std::string Line(const Status& status, const std::string& name) {
  const auto line = status.find(name);
  return line == status.end() ? "" : line->second;
}

int Number(const Status& status, const std::string& name) {
  return std::atoi(Line(status, name).c_str());
}

std::string Outcome(const std::map<std::string, std::string>& outcomes,
                    const std::string& attempt) {
  const auto outcome = outcomes.find(attempt);
  return outcome == outcomes.end() ? "not made" : outcome->second;
}

// Checks every thread of the zygote and of the session worker.
std::string OfAllThreads(const Observed& backend,
                         const std::function<bool(const Status&)>& holds) {
  for (const int pid : {backend.zygote, backend.session}) {
    const auto threads = StatusOfThreads(pid);
    if (!std::all_of(threads.begin(), threads.end(), holds)) return "no";
  }
  return "yes";
}

// Checks that the process has `more` filters than this process, whose filters
// it inherits.
std::string HasFilters(int pid, int more) {
  const int own = Number(StatusOf("/proc/self"), "Seccomp_filters");
  const auto threads = StatusOfThreads(pid);
  return YesIf(
      std::all_of(threads.begin(), threads.end(), [&](const Status& status) {
        return Line(status, "Seccomp") == "2" &&
               Number(status, "Seccomp_filters") >= own + more;
      }));
}

std::string LimitIs(const Observed& backend, std::string_view name,
                    const std::function<bool(const std::string&)>& holds) {
  return YesIf(holds(LimitOf(backend.zygote, name)) &&
               holds(LimitOf(backend.session, name)));
}

bool IsZero(const std::string& limit) { return limit == "0"; }
bool IsOne(const std::string& limit) { return limit == "1"; }

std::string Namespaces(const Observed& backend) {
  std::string found;
  for (const int pid : {backend.zygote, backend.session}) {
    const auto shared = SharedNamespaces(pid);
    if (shared.empty()) {
      found += "yes";
    } else if (shared.size() == 6) {
      found += "no";
    } else {
      for (const std::string& name : shared) found += "shares " + name + " ";
    }
  }
  return found == "yesyes" ? "yes" : found == "nono" ? "no" : found;
}

std::string OwnRoot(const Observed& backend) {
  // In the new root, files outside do not exist; otherwise opening them is
  // refused.
  const std::string secret = Outcome(backend.while_loading, "read_secret");
  return secret == "ENOENT" ? "yes" : secret == "EACCES" ? "no" : secret;
}

std::string Landlock(const Observed& backend) {
  const std::string root = Outcome(backend.while_loading, "list_root");
  return root == "EACCES" ? "yes" : root == "allowed" ? "no" : root;
}

std::string NoCapabilities(const Observed& backend) {
  return OfAllThreads(backend, [](const Status& status) {
    const auto none = [&](const char* set) {
      return Line(status, set) == "0000000000000000";
    };
    return none("CapInh") && none("CapPrm") && none("CapEff") && none("CapAmb");
  });
}

// Checks that none of the four uids of each thread is root's or this process's.
std::string OwnIds(const Observed& backend) {
  return OfAllThreads(backend, [](const Status& status) {
    const Status own = StatusOf("/proc/self");
    return Line(status, "Uid") != Line(own, "Uid") &&
           Line(status, "Gid") != Line(own, "Gid") &&
           Number(status, "Uid") != 0 && Number(status, "Gid") != 0;
  });
}

std::string NothingInherited(const Observed& backend) {
  for (const auto* made : {&backend.while_loading, &backend.with_media}) {
    for (const char* look : {"environment", "descriptors"}) {
      if (const auto found = Outcome(*made, look); found != "ok") return found;
    }
  }
  return "yes";
}

constexpr Promise kPromises[] = {
    {"user, pid, mount, net, ipc and uts namespaces of its own", Namespaces},
    {"a root with only the loader's libraries and the plugin's files", OwnRoot},
    {"Landlock, where the kernel has it", Landlock},
    {"seccomp on every thread: stage 1 while loading",
     [](const Observed& backend) { return HasFilters(backend.zygote, 1); }},
    {"seccomp on every thread: stage 2 with media",
     [](const Observed& backend) { return HasFilters(backend.session, 3); }},
    {"no privileges through exec",
     [](const Observed& backend) {
       return OfAllThreads(backend, [](const Status& status) {
         return Line(status, "NoNewPrivs") == "1";
       });
     }},
    {"no capability", NoCapabilities},
    {"no capability in the bounding set either",
     [](const Observed& backend) {
       return OfAllThreads(backend, [](const Status& status) {
         return Line(status, "CapBnd") == "0000000000000000";
       });
     }},
    {"a uid and gid of its own", OwnIds},
    {"no supplementary groups",
     [](const Observed& backend) {
       return OfAllThreads(backend, [](const Status& status) {
         return Line(status, "Groups").find_first_not_of(' ') ==
                std::string::npos;
       });
     }},
    {"environment and descriptors that are all declared", NothingInherited},
    {"no core dumps, neither a file nor a program of core_pattern",
     [](const Observed& backend) {
       return LimitIs(backend, "Max core file size", IsOne);
     }},
    {"no file written, whatever its size",
     [](const Observed& backend) {
       return LimitIs(backend, "Max file size", IsZero);
     }},
    {"a limit to the address space of a process",
     [](const Observed& backend) {
       return LimitIs(backend, "Max address space",
                      [](const std::string& is) { return is != "unlimited"; });
     }},
    {"a limit to descriptors",
     [](const Observed& backend) {
       return LimitIs(backend, "Max open files", [](const std::string& is) {
         return std::atol(is.c_str()) <= 256;
       });
     }},
    {"a limit to its tasks, processes and threads together",
     [](const Observed& backend) {
       const std::string own = LimitOf(getpid(), "Max processes");
       return LimitIs(backend, "Max processes", [&](const std::string& is) {
         return is != own && is != "unlimited";
       });
     }},
    {"fewer processors than the application",
     [](const Observed& backend) {
       return YesIf(Line(StatusOf("/proc/" + std::to_string(backend.session)),
                         "Cpus_allowed") !=
                    Line(StatusOf("/proc/self"), "Cpus_allowed"));
     }},
};

}  // namespace

std::span<const Promise> Promises() { return kPromises; }

const std::vector<Reach>& Reaches() {
  static const std::vector<Reach> reaches = {
      {"to read a file of the host or of another backend",
       {"read_passwd", "read_secret", "read_other_backend", "host_environ",
        "dot_dot_from_own_file", "root_of_host", "dev_mem"}},
      {"to write, make, rename or remove a file",
       {"write_own_file", "truncate_by_open", "reopen_for_writing", "rename",
        "unlink", "chmod", "make_file", "make_unnamed_file", "symlink",
        "mknod"}},
      {"to learn names, sizes and times of files by stat()",
       {"stat_passwd", "stat_secret", "access_secret", "statfs_of_host"}},
      {"to learn the pids of others by stat()", {"stat_host_process"}},
      {"to hold a descriptor that reads nothing (O_PATH) of any file",
       {"open_path_only"}},
      {"to read the system's libraries", {"open_library"}},
      {"to connect to anything or send to it",
       {"connect_tcp", "connect_pathname", "connect_abstract", "sendto_address",
        "socketpair"}},
      {"to signal another process",
       {"kill_host", "tgkill_host", "tgkill_host_abort", "kill_everybody",
        "kill_sibling", "abort_sibling"}},
      {"to send its own reaper a SIGABRT", {"tgkill_reaper_abort"}},
      {"to list its own root directory", {"list_root"}},
      {"to read, write or trace another process",
       {"host_mem", "host_maps", "sibling_mem", "sibling_descriptor",
        "ptrace_seize_host", "process_vm_readv", "process_vm_writev",
        "pidfd_open_host", "pidfd_getfd"}},
      {"to learn how others are scheduled",
       {"read_affinity_of_host", "read_scheduler_of_host"}},
      {"to change how others are scheduled",
       {"affinity_of_host", "priority_of_host"}},
      {"to learn the host's name", {"host_name"}},
      {"to learn how much memory the machine has", {"memory_of_machine"}},
      {"to run another program",
       {"execve_shell", "execveat", "posix_spawn", "system", "execve_set_uid"}},
      {"to run code that it has written itself",
       {"map_execute", "mprotect_execute"}},
      {"to have memory that can be written and run at once",
       {"map_write_execute", "mprotect_write_execute"}},
      {"to make further processes", {"clone_sibling"}},
      {"to make further threads", {"pthread_create"}, "ok"},
      {"to add filters of system calls of its own",
       {"filter_allow_all", "filter_log"}},
      {"to make namespaces or mounts",
       {"clone_namespaces", "unshare_user", "setns", "mount", "pivot_root",
        "open_tree"}},
      {"to use io_uring, bpf, perf, userfaultfd or keys",
       {"io_uring_setup", "bpf", "perf_event_open", "userfaultfd", "add_key"}},
      {"to make system calls of i386, of x32 or of no known number",
       {"int80_open", "x32_read", "number_largest"}},
      {"to have an effect by the calls of the kernel's own probes",
       {"uretprobe", "uprobe"}},
      {"to have more address space than its limit", {"address_space"}},
      {"to have more descriptors than its limit", {"dup_bomb"}},
      {"to use the machine's memory up to that limit", {"touch_memory"}},
      {"to fill the log", {"log_flood"}},
      {"to set a name that everybody reads, or write where everybody watches",
       {"name_of_thread", "write_to_stdout"}},
      {"to block signals, which everybody can see",
       {"block_signals", "wait_with_signals_blocked"}},
      {"to wake or wait on a page of a file that others map",
       {"wake_page_of_file", "wake_by_end_of_thread"}},
      {"to drop pages of files from memory", {"page_out", "page_cold"}},
      {"to change how its faults are handled, which the kernel could log",
       {"handle_fault", "signal_stack"}},
  };
  return reaches;
}

}  // namespace bulkhead::tests
