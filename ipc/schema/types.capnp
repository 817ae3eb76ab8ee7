# SPDX-License-Identifier: Apache-2.0
# Types that several protocols share. Nothing in a message is trusted because
# of its type: the reader validates every field against what it knows itself.
@0xaad39f8d14ac28d0;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("bulkhead::ipc::schema");

enum ErrorCode {
  # The values of ipc::Code, in its order. Only ever appended to.
  invalidArgument @0;
  notFound @1;
  outOfRange @2;
  badInput @3;
  poisonedInput @4;
  unsupported @5;
  backendUnavailable @6;
  backendLost @7;
  backendMisbehaved @8;
  deadlineExceeded @9;
  resourceExhausted @10;
  sandboxUnavailable @11;
  internal @12;
}

struct Failure {
  code @0 :ErrorCode;
  message @1 :Text;
}

struct KeyValue {
  key @0 :Text;
  value @1 :Text;
}

struct Rational {
  numerator @0 :Int32;
  denominator @1 :Int32;
}

struct ExitReport {
  # How a process ended, as its parent (the reaper, our code) saw it.
  enum Kind {
    unknown @0;     # nobody could learn it
    exited @1;      # value is the exit code
    signaled @2;    # value is the signal
    violation @3;   # killed for a system call that its seccomp filters forbid
    late @4;        # killed by its host: a step took too long
    outOfMemory @5; # its backend was at the limit of its cgroup's memory
  }
  kind @0 :Kind;
  value @1 :Int32;
  syscallTrusted @2 :Bool;
  # Of a violation: the kernel told bulkheadd what follows.
  syscallNumber @3 :Int32;
  syscall @4 :Text;
  # Its name; empty where the number has none.
  architecture @5 :Text;
  stage @6 :UInt8;
  # 1 or 2; 0: not known.
  crash @7 :UInt64;
  # Number of the record of it; 0: there is none.
}

struct CrashNote {
  # The last thing that a process of a backend says, at most once, to its host
  # or as a zygote to bulkheadd: what it dies of. It may be made up; only the
  # reaper knows how it ended.
  signal @0 :UInt8;
  address @1 :UInt64;
  # That it touched, or of the instruction.
  frameCount @2 :UInt32;
  # Of `frames`, whose size never changes: a signal handler fills them in.
  frames @3 :List(StackFrame);
  # The innermost call first.
}

struct StackFrame {
  place @0 :Data;
  # "libacme.so+0x1f30 (acme_decode+0x12)", zero bytes behind it.
}
