# SPDX-License-Identifier: Apache-2.0
# The control protocols, each plain messages over SOCK_SEQPACKET with
# descriptors beside them; no RPC layer, whose use of resources under a hostile
# peer has no bound. One message is one packet of at most 64 KiB.
@0xeeaf19515820c539;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("bulkhead::ipc::schema");
using Types = import "types.capnp";

# --- application <-> bulkheadd: both trusted ---------------------------------
# One request, one answer on a connection. A thread that would have to wait for
# another's answer opens a further connection with `connect`.

struct HostRequest {
  union {
    configure @0 :Configuration;
    # First message on the first connection. Descriptor: pidfd of the
    # application. Answered by configured or failed.
    connect @1 :Void;
    # Descriptor: a socket on which bulkheadd serves from now on. Answered by
    # configured.
    listBackends @2 :Void;
    openSession @3 :OpenSession;
    # Descriptor: the worker's end of the session's socket.
    # Answered by sessionStarted or failed.
    sessionExit @4 :SessionEnd;
    # Its worker ended. Answered by exit as soon as it is known how; at most two
    # seconds later by a report of kind unknown.
    closeSession @5 :UInt64;
    # The host is done with it: its worker is killed, if it serves no other.
    # Answered by configured.
    describeSandbox @6 :Void;
    # Answered by sandbox.
    prepare @7 :Text;
    # A device: its backend is started if it is not. Answered by configured.
    load @8 :ExplicitLoad;
    # Registers the backends there, whatever the autoload switch says, and
    # starts them. Answered by loaded.
    confirmSession @9 :UInt64;
    # The session's worker said hello: is every thread of it under stage 2?
    # Answered by configured or failed, before it gets any media.
    frameDelivered @10 :DeliveredFrame;
    # After deaths: the input is not to blame for them. Answered by configured.
    command @11 :BackendCommand;
    # Of an operator. Answered by configured or failed, a reload once it is
    # decided what serves from now on.
    nextEvents @12 :EventsRequest;
    # Answered by events. Nothing else may be asked before the answer.
    countSessions @13 :Void;
    # Descriptor: a memfd of sealed size with the host's session counters, see
    # core/control/session_counters.h. Answered by configured or failed.
    describeHost @14 :Void;
    # Answered by host.
    crashOutcome @15 :CrashOutcome;
    # What came of ends that were recorded. Answered by configured.
  }
}

struct EventsRequest {
  after @0 :UInt64;
  # The number of the last one that is known; 0: none is.
  wait @1 :Bool;
  # Answered only once there is one.
}

struct Events {
  events @0 :List(Event);
  # At most 64, the oldest first.
  lost @1 :UInt64;
  # Of those that were asked for: too old to be kept.
}

struct Event {
  enum Kind {
    backendState @0;
    zygoteEnded @1;
    workerEnded @2;
    sessionOpened @3;
    sessionClosed @4;
    command @5;
  }
  number @0 :UInt64;
  # From 1, without gaps.
  unixMs @1 :Int64;
  kind @2 :Kind;
  backend @3 :Text;
  session @4 :UInt64;
  device @5 :Text;
  state @6 :Text;
  text @7 :Text;
  exit @8 :Types.ExitReport;
  # Of workerEnded.
}

struct HostDescription {
  hostPid @0 :Int32;
  supervisorPid @1 :Int32;
  uptimeMs @2 :UInt64;
  tier @3 :Tier;
  # none: no backend was needed yet.
  memoryBytes @4 :UInt64;
  # Of bulkheadd.
  backends @5 :List(RunningBackend);
  writtenOff @6 :List(WrittenOffWorker);
}

struct WrittenOffWorker {
  # It was sent a SIGKILL two seconds ago or more, and has not ended.
  backend @0 :Text;
  pid @1 :Int32;
  sinceMs @2 :UInt64;
}

struct RunningBackend {
  name @0 :Text;
  state @1 :Text;
  reason @2 :Text;
  incarnation @3 :UInt32;
  restarts @4 :UInt32;
  workerPids @5 :List(Int32);
  memoryBytes @6 :UInt64;
  # Of its reaper, zygote and workers, pages that they share counted for each.
  sessions @7 :List(RunningSession);
}

struct RunningSession {
  session @0 :UInt64;
  device @1 :Text;
  input @2 :Text;
  workerPid @3 :Int32;
  frames @4 :UInt64;
  # Delivered to the application, also by earlier workers.
  restarts @5 :UInt32;
}

struct BackendCommand {
  enum Action {
    restart @0;
    reload @1;
    disable @2;
    enable @3;
  }
  backend @0 :Text;
  # By the name of its entry point.
  action @1 :Action;
}

struct HostReply {
  union {
    configured @0 :Void;
    failed @1 :Types.Failure;
    backends @2 :Backends;
    sessionStarted @3 :SessionStarted;
    # Descriptor: pidfd of the worker, opened by the reaper.
    exit @4 :SessionExit;
    sandbox @5 :SandboxReport;
    elsewhere @6 :UInt64;
    # Descriptor: a memfd with that many bytes, the reply itself, which is too
    # large for a packet.
    loaded @7 :List(KnownDevice);
    # What the backends that were named offer.
    poisoned @8 :PoisonedPosition;
    # Of openSession: the input has killed too many workers while opening.
    events @9 :Events;
    host @10 :HostDescription;
  }
}

struct Configuration {
  pluginPath @0 :List(SearchDirectory);
  # Directories that hold distributions, in order of precedence.
  autoload @1 :Bool;
  enabled @2 :List(Text);
  # Globs on entry-point names; empty is all.
  disabled @3 :List(Text);
  floor @4 :Tier;
  reaperPath @5 :Text;
  workerPath @6 :Text;
  startDeadlineMs @7 :UInt32;
  workerDeadlineMs @8 :UInt32;
  protocolVersion @9 :UInt32;
  autoloadRule @10 :Text;
  enabledRule @11 :Text;
  disabledRule @12 :Text;
  # How the three are called in messages.
  eager @13 :Bool;
  # Start every backend now instead of when it is asked for.
  loads @14 :List(ExplicitLoad);
  # What was loaded explicitly in an earlier life of bulkheadd.
  grantFiles @15 :List(Text);
  # Absolute paths of files that may grant something; each may be missing.
  attemptsPerPosition @16 :UInt32;
  # Deaths of workers for which an input is to blame until it is refused.
  stateDirectory @17 :Text;
  # Absolute; need not exist. Empty: nothing outlives bulkheadd.
  failuresPerBackend @18 :UInt32;
  # Within ten minutes, until it is quarantined.
  cgroup @19 :Text;
  # A directory in which backends get cgroups; empty: one is looked for.
}

struct ExplicitLoad {
  path @0 :Text;
  # Absolute: a dist-info, a directory that holds some, or a shared object that
  # an entry point of one means.
  entryPoint @1 :Text;
  # Only the one of that name; empty: all.
}

struct SearchDirectory {
  path @0 :Text;
  origin @1 :Text;
  # Why it is searched, in words.
  builtIn @2 :Bool;
}

enum Tier {
  none @0;
  reduced @1;
  full @2;
}

struct OpenSession {
  device @0 :Text;
  # "cpu", "openreg:1".
  alone @1 :Bool;
  # In a worker that serves nobody else, whatever the backend's worker_scope:
  # for a session whose worker died, so that the guilty one shows itself.
  input @2 :Text;
  # What will be decoded, and with which options: equal texts mean equal input.
  path @3 :Text;
  # Of the input, for people.
  counter @4 :UInt32;
  # Its place among the session counters.
  audio @5 :Bool;
  # That is what it decodes, else video.
  workerBytes @6 :UInt64;
  # Private memory that its worker may take beyond what its zygote has. Not of
  # one that serves others too.
}

struct SessionStarted {
  session @0 :UInt64;
  backend @1 :Text;
  device @2 :Text;
  # Canonical: "openreg:1".
  deviceOrdinal @3 :UInt32;
  tier @4 :Tier;
  shared @5 :Bool;
  # The worker may serve others too: a host that is done with it leaves it
  # alive, and kills it only for what it did.
  poisoned @6 :List(PoisonedPosition);
  # Where the input has killed too many workers of this backend.
}

struct InputPosition {
  union {
    opening @0 :Void;
    scanning @1 :Void;
    frame @2 :UInt64;
    # The one that the caller waits for.
  }
}

struct PoisonedPosition {
  position @0 :InputPosition;
  deaths @1 :UInt32;
  last @2 :Types.ExitReport;
}

struct SessionEnd {
  enum Seen {
    died @0;
    late @1;  # killed by its host: a step took too long
    lied @2;  # killed by its host for what it sent
  }
  session @0 :UInt64;
  seen @1 :Seen;
  metMedia @2 :Bool;
  # It had been given the input.
  position @3 :InputPosition;
  claim @4 :Types.CrashNote;
  # The worker's last words, cleaned; signal 0: it said none.
  attempt @5 :UInt32;
  # At this position, from 1.
  cause @6 :Text;
  # What the host killed it for.
  input @7 :SessionInput;
  request @8 :SessionRequest;
  lastMessage @9 :Text;
  # That the worker was sent, in words.
  device @10 :Text;
  positionText @11 :Text;
}

struct SessionInput {
  path @0 :Text;
  # Absolute.
  bytes @1 :Int64;
  modifiedNs @2 :Int64;
  device @3 :UInt64;
  inode @4 :UInt64;
}

struct SessionRequest {
  # What the application waited for.
  enum Kind {
    start @0;
    open @1;
    scan @2;
    next @3;
    frameAt @4;
  }
  kind @0 :Kind;
  frame @1 :UInt64;
  streamIndex @2 :Int32 = -1;
  threads @3 :UInt32;
  options @4 :List(Types.KeyValue);
  complete @5 :Bool;
  # Those are all of its options.
  deadlineMs @6 :UInt32;
  ignoresErrors @7 :Bool;
  # Its decoder does: OnCorrupt::kSkip or kNearest.
  audio @8 :Bool;
  # Else video. Frames are samples then.
  sampleRate @9 :UInt32;
  channelCount @10 :UInt32;
  # Of audio, as asked for; 0: as in the stream.
  dtype @11 :UInt8;
  # bulkhead::OutputDtype.
  transforms @12 :List(AskedTransform);
}

struct AskedTransform {
  # bulkhead::Transform, as the application wrote it.
  enum Kind {
    resize @0;
    centerCrop @1;
    crop @2;
    randomCrop @3;
  }
  kind @0 :Kind;
  width @1 :UInt32;
  height @2 :UInt32;
  filter @3 :UInt8;
  # Of resize: bulkhead::Resize::Filter.
  top @4 :UInt32;
  left @5 :UInt32;
  # Of crop.
  seed @6 :UInt64;
  # Of randomCrop.
}

struct CrashOutcome {
  crashes @0 :List(UInt64);
  outcome @1 :Text;
}

struct SessionExit {
  report @0 :Types.ExitReport;
  blamed @1 :Bool;
  # The input or the backend is to blame for it.
  deathsHere @2 :UInt32;
  # For which the input is to blame at this position, of all its sessions.
  inputToBlame @3 :Bool;
  deviceToBlame @4 :Bool;
}

struct DeliveredFrame {
  session @0 :UInt64;
  position @1 :InputPosition;
}

struct Backends {
  backends @0 :List(Backend);
  diagnostics @1 :List(Diagnostic);
  places @2 :List(SearchedPlace);
}

struct SearchedPlace {
  path @0 :Text;
  origin @1 :Text;
  outcome @2 :Text;
  # What came of it, in words.
}

struct KnownDevice {
  name @0 :Text;
  # As a caller has to say it: "openreg:1" or "BACKEND/openreg:1".
  description @1 :Text;
  backend @2 :Text;
}

struct Backend {
  enum State {
    discovered @0;
    starting @1;
    ready @2;
    draining @3;
    backingOff @4;
    quarantined @5;
    disabled @6;
  }
  name @0 :Text;
  distribution @1 :Text;
  version @2 :Text;
  file @3 :Text;
  state @4 :State;
  reason @5 :Text;
  devices @6 :List(KnownDevice);
  tier @7 :Tier;
  zygotePid @8 :Int32;
  # As the application sees it; 0 when there is none.
  reaperPid @9 :Int32;
  incarnation @10 :UInt32;
  sessionPids @11 :List(Int32);
  asked @12 :List(Text);
  # Permissions, as the command line has them: "read=/usr/share/acme".
  granted @13 :List(Text);
  # What of them it has, or would have if it were started now.
  streams @14 :List(Text);
  # Kinds that its manifest says it decodes: "audio", "video".
}

struct Diagnostic {
  enum Severity {
    note @0;
    warning @1;
    error @2;
  }
  severity @0 :Severity;
  file @1 :Text;
  line @2 :UInt32;
  message @3 :Text;
}

struct SandboxReport {
  tier @0 :Tier;
  gaps @1 :List(SandboxGap);
  # Why it is not full, and what full still lacks here.
  landlockAbi @2 :UInt32;
  ownUid @3 :Bool;
  # Workers run under a uid that is not the application's.
  cgroup @4 :Text;
  # In which backends get cgroups of their own; empty: they get none.
  cgroupControllers @5 :List(Text);
}

struct SandboxGap {
  missing @0 :Text;
  evidence @1 :Text;
  # Why: what was seen.
  remedy @2 :Text;
  # What an operator does about it; lines.
  cost @3 :Text;
  # What it means to leave it as it is.
}

# --- bulkheadd <-> reaper: both ours -----------------------------------------

struct ReaperRequest {
  union {
    watch @0 :Int32;
    # Pid, as the zygote claimed it, in the reaper's namespace. Answered by
    # watched or refused.
    kill @1 :Int32;
    # A watched pid. SIGKILL; no answer but its exited.
  }
}

struct ReaperEvent {
  union {
    started @0 :Int32;
    # Descriptor: pidfd of the zygote. First message.
    watched @1 :Int32;
    # Descriptor: pidfd of that pid.
    refused @2 :Int32;
    # Not an unwatched, unreaped child of the reaper: the zygote lied.
    exited @3 :Exited;
  }
}

struct Exited {
  pid @0 :Int32;
  waitStatus @1 :Int32;
  # As waitpid() gives it.
}

# --- bulkheadd <-> zygote: hostile once it has loaded the vendor's object ----

struct ZygoteRequest {
  clone @0 :CloneWorker;
}

struct CloneWorker {
  # Descriptor: the worker's own socket. Answered by cloned or failed.
  ticket @0 :UInt64;
  probe @1 :Bool;
  # True: a probe worker, which sends one DeviceList over its socket and ends.
  shared @2 :Bool;
  # True: a worker for many sessions, which receives a SharedWorkerRequest for
  # each over its socket. Neither: that socket is its one session's.
  dataBytes @3 :UInt64;
  # The worker's RLIMIT_DATA; 0: that of the zygote.
}

struct ZygoteEvent {
  union {
    ready @0 :Void;
    failed @1 :Types.Failure;
    cloned @2 :Cloned;
    cloneFailed @3 :CloneFailed;
    locked @4 :Void;
    # Descriptor: the listener of its filter. First message, and only where the
    # lock-down says so; from before the vendor's code was loaded.
    crashed @5 :Types.CrashNote;
  }
}

struct Cloned {
  ticket @0 :UInt64;
  pid @1 :Int32;
}

struct CloneFailed {
  ticket @0 :UInt64;
  failure @1 :Types.Failure;
}

# --- bulkheadd -> shared worker: hostile, answers nothing --------------------

struct SharedWorkerRequest {
  serve @0 :Void;
  # Descriptor: the worker's end of a session's socket. Closing the other end
  # ends that session.
}

# --- probe worker -> bulkheadd: hostile --------------------------------------

struct DeviceList {
  union {
    devices @0 :List(Device);
    failed @1 :Types.Failure;
  }
}

struct Device {
  name @0 :Text;
  # Without index; must be one that the manifest reserved.
  description @1 :Text;
}
