# SPDX-License-Identifier: Apache-2.0
# Types that several protocols share. A comment stands below the declaration
# that it describes.
#
# The type of a message does not make its content trustworthy: the receiver of a
# hostile process' message validates every field.
@0xaad39f8d14ac28d0;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("bulkhead::ipc::schema");

enum ErrorCode {
  # The values of ipc::Code (ipc/error.h), in the same order. New values are
  # only appended.
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
  cancelled @13;
}

struct Failure {
  # One ipc::Error.
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
  # Describes how a process ended, as seen by its parent. The parent is the
  # reaper, which is Bulkhead's own code.
  enum Kind {
    unknown @0;     # nobody could learn how the process ended
    exited @1;      # `value` is the exit code
    signaled @2;    # `value` is the signal
    violation @3;   # killed for a system call that its seccomp filters forbid
    late @4;        # killed by its host, because a step took too long
    outOfMemory @5; # killed while its backend was at its cgroup's memory limit
    brokeProtocol @6;
    # killed by its host, because it broke the protocol or reported that its
    # backend broke the C ABI
  }
  kind @0 :Kind;
  value @1 :Int32;
  # The exit code or the signal, depending on `kind`.
  syscallTrusted @2 :Bool;
  # True if the kernel told bulkheadd the system call of a violation. Otherwise
  # syscallNumber, syscall and architecture are empty.
  syscallNumber @3 :Int32;
  # The number of the forbidden system call. Only for a violation.
  syscall @4 :Text;
  # The name of the system call; empty if the number has no name. Only for a
  # violation.
  architecture @5 :Text;
  # The architecture to which the number of the system call belongs. Only for a
  # violation.
  stage @6 :UInt8;
  # The lock-down stage, 1 or 2, whose filter forbade the call; 0 if unknown.
  # Only for a violation.
  crash @7 :UInt64;
  # The number of the crash record of this exit; 0 if there is no record.
}

struct CrashNote {
  # The last message of a process of a backend that dies of a fault, or that
  # ends because its device is lost or because its backend failed. A session
  # worker sends it to its host; a zygote and a probe worker send it to
  # bulkheadd (ZygoteEvent.crashed, DeviceList.crashed). Each sends at most one.
  # The sender may be hostile, so the note may be made up: only the reaper knows
  # how the process ended.
  signal @0 :UInt8;
  # The signal of the fault.
  address @1 :UInt64;
  # The address that the process touched, or the address of the faulting
  # instruction.
  frameCount @2 :UInt32;
  # The number of valid entries in `frames`.
  frames @3 :List(StackFrame);
  # The call stack, innermost call first. The list always has its full size,
  # because a signal handler fills it in.
  deviceLost @4 :Bool;
  # True if a call of the backend's interface returned BULKHEAD_DEVICE_LOST.
  # Then the only entry in `frames` has the backend's own message, and the other
  # fields mean nothing. Only a session worker sets this.
  backendFailed @5 :Bool;
  # True if a call of the backend's interface returned BULKHEAD_FAILED. The
  # other fields are as for deviceLost.
}

struct StackFrame {
  place @0 :Data;
  # A text such as "libacme.so+0x1f30 (acme_decode+0x12)", padded with zero
  # bytes.
}
