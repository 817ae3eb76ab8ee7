# SPDX-License-Identifier: Apache-2.0
# The control protocols. Each consists of plain messages over a SOCK_SEQPACKET
# socket, with descriptors beside them. One message is one packet of at most 64
# KiB. There is no RPC layer, since a hostile peer could make an RPC layer use
# resources without bound.
#
# A comment stands below the declaration that it describes. "Descriptor: ..."
# names the descriptor that travels with a message; a message without that
# remark carries none. Texts "for people" may contain anything and are never
# parsed.
@0xeeaf19515820c539;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("bulkhead::ipc::schema");
using Types = import "types.capnp";
using Session = import "session.capnp";

# --- application <-> bulkheadd: both trusted ---------------------------------
# A connection carries one request and one answer at a time. A thread that finds
# the connection in use by another thread opens a further connection with
# `connect`.
#
# Operators (the command line, bulkhead/operators.h) send describeHost,
# nextEvents and command over a socket of their own. bulkheadd refuses every
# other request there, and a connection that sends too many.

struct HostRequest {
  # Application or operator to bulkheadd. `configured` and `failed` are members
  # of HostReply, as are all other answers.
  union {
    configure @0 :Configuration;
    # The first message on the first connection. Descriptors: the pidfd of the
    # application; then, if the application could open both, the programs of
    # reaper and worker. Answered by configured or failed.
    connect @1 :Void;
    # Opens a further connection. Descriptor: a socket on which bulkheadd serves
    # from now on. Answered by configured.
    listBackends @2 :Void;
    # Answered by backends.
    openSession @3 :OpenSession;
    # Starts a session, and its backend if needed. Descriptors: the request
    # region, the reply region, and the further descriptors of Attach. bulkheadd
    # sends them to the worker once every thread of the worker is under the
    # stage 2 filter. Answered by sessionStarted, poisoned, describeFirst or
    # failed. If the connection is closed before its next request, bulkheadd
    # closes the session that it has just started: nobody read the answer.
    sessionExit @4 :SessionEnd;
    # Reports that the worker of a session has ended, or that the host gives the
    # worker up. Answered by exit as soon as bulkheadd knows how the worker
    # ended, and after at most two seconds with a report of kind unknown.
    closeSession @5 :UInt64;
    # The number of a session that the host has finished with. bulkheadd kills
    # the session's worker unless the worker serves another session. Answered by
    # configured at once.
    describeSandbox @6 :Void;
    # Answered by sandbox.
    prepare @7 :Text;
    # The name of a device. bulkheadd starts the device's backend if it does not
    # run. Answered by configured or failed.
    load @8 :ExplicitLoad;
    # Registers the backends at a path, whatever the autoload switch says, and
    # starts them. Answered by loaded or failed.
    endWorker @9 :EndWorker;
    # Ends a session's worker, or waits for its end. Answered by ended.
    frameDelivered @10 :DeliveredFrame;
    # Reports that a worker delivered this frame after an earlier worker had
    # died at it: the input is not to blame for the deaths at this position.
    # Answered by configured.
    command @11 :BackendCommand;
    # A command of an operator. Answered by configured or failed; a reload is
    # answered once bulkheadd knows which version serves from now on.
    nextEvents @12 :EventsRequest;
    # Answered by events. The sender sends no other request on this connection
    # before the answer.
    countSessions @13 :Void;
    # Descriptors: a memfd with a sealed size that holds the host's session
    # counters (SessionCounter in core), and one in which bulkheadd reports the
    # ends of workers (SessionEnds in core). Answered by configured or failed.
    describeHost @14 :Void;
    # Answered by host.
    crashOutcome @15 :CrashOutcome;
    # Reports the outcome for sessions whose workers ended, for the crash
    # records of those ends. Answered by configured.
    shadow @16 :Shadow;
    # Asks for a shadow: a worker of another device decodes the media of a
    # session as well. Descriptors: the media, unless `leftOut` is set; then a
    # socket. Over the socket the application sends a ShadowedFrame for each
    # frame of the session, and closes the socket after the last frame. Once
    # bulkheadd needs no more hashes, it shuts down its direction of the socket.
    # Answered by configured at once, before it is known whether the shadow
    # works.
    findDevice @17 :Text;
    # The name of a device. Starts nothing. Answered by deviceFound or failed.
    failedOver @18 :FailedOver;
    # Reports that a stream continues on another device, or that it failed there
    # as well. Answered by configured.
    attachPool @19 :AttachPool;
    # Sends the worker of a session its frame pool. Descriptor: the pool's memfd,
    # unless bulkheadd has kept it. Answered by configured or failed.
  }
}

struct EndWorker {
  enum How {
    await @0;  # wait only: the worker seems to have ended
    kill @1;  # kill it: it broke the protocol, or was late
    close @2;  # the session is over, as with closeSession
    lacking @3;
    # The worker reported that a resource ran out. If its backend may have run
    # out of tasks (processes and threads), bulkheadd ends the workers that have
    # too many, and this worker, which is not to blame. It answers `ended` once
    # there are free tasks again. Otherwise the worker lives.
  }
  session @0 :UInt64;
  how @1 :How;
  patienceMs @2 :UInt32;
  # The time after which `ended` is answered even if the worker lives. For
  # `await`, up to twice as long if the worker had to wait for a processor. The
  # time starts anew each time the worker has fewer threads than before.
}

struct AttachPool {
  session @0 :UInt64;
  slotCount @1 :UInt32;
  slotBytes @2 :UInt64;
  keptFor @3 :UInt64;
  # The session, not closed yet, whose worker had the pool before: bulkheadd has
  # kept its descriptor. 0 if the descriptor comes with this message.
}

struct Shadow {
  session @0 :UInt64;
  # The session whose frames are compared.
  against @1 :Text;
  # The name of the device that decodes the media as well.
  path @2 :Text;
  # The path of the input, for people.
  open @3 :Session.Open;
  # The request for the worker of that device; bulkheadd sets Open.device.
  key @4 :UInt64;
  # The key of the hashes (core/control/picture_hasher.h).
  stepMs @5 :UInt32;
  # The time in milliseconds that each step of the worker may take, and that the
  # worker has to catch up once the application has closed the stream.
  workerBytes @6 :UInt64;
  sharedBytes @7 :UInt64;
  # As in OpenSession.
  leftOut @8 :Text;
  # The reason why a stream that was drawn gets no shadow, for people; empty if
  # it gets one. If it is not empty, there is no `open`, and the frames are only
  # counted.
}

struct ShadowedFrame {
  # Application to bulkheadd, over the socket of `shadow`.
  number @0 :UInt64;
  # The number of the frame in the stream.
  pts @1 :Int64;
  # The timestamp in the time base of the stream, or kNoTimestamp.
  seconds @2 :Float64;
  # The same in seconds, for people.
  hash @3 :UInt64;
  inOrder @4 :Bool;
  # True for a frame of VideoDecoder::Next().
  damaged @5 :Bool;
  ended @6 :Bool;
  # True if this message is about no frame: the stream ended after `number`
  # frames.
  notSent @7 :UInt64;
  # The number of frames since the last message whose messages could not be
  # sent.
  closed @8 :Bool;
  # True if this message is about no frame: the application has closed the
  # stream, and only `notSent` has a meaning.
}

struct ShadowReport {
  # bulkhead::ShadowReport.
  streams @0 :UInt64;
  failed @1 :UInt64;
  lastFailure @2 :Text;
  compared @3 :UInt64;
  differing @4 :UInt64;
  notCompared @5 :UInt64;
  first @6 :ShadowDifference;
  # Absent if `differing` is 0.
  trials @7 :UInt32;
  failedTrials @8 :UInt32;
  lastTrial @9 :Text;
}

struct ShadowDifference {
  # bulkhead::ShadowDifference.
  path @0 :Text;
  device @1 :Text;
  frame @2 :UInt64;
  seconds @3 :Float64;
  words @4 :Text;
  compared @5 :UInt64;
}

struct EventsRequest {
  after @0 :UInt64;
  # The number of the last event that the sender knows; 0 if it knows none.
  wait @1 :Bool;
  # True if bulkheadd delays the answer until there is a later event.
}

struct Events {
  events @0 :List(Event);
  # At most 64 events, the oldest first.
  lost @1 :UInt64;
  # The number of requested events that bulkheadd no longer keeps.
}

struct Event {
  enum Kind {
    backendState @0;
    zygoteEnded @1;
    workerEnded @2;
    sessionOpened @3;
    sessionClosed @4;
    command @5;
    shadowDiffers @6;
    shadowClosed @7;
    trial @8;
    failover @9;
    failoverFailed @10;
  }
  number @0 :UInt64;
  # Counts from 1 without gaps.
  unixMs @1 :Int64;
  # The time of the event, in milliseconds since the Unix epoch.
  kind @2 :Kind;
  backend @3 :Text;
  # The name of the entry point; empty where an event concerns no backend.
  session @4 :UInt64;
  # The number of the session, where the event concerns one.
  device @5 :Text;
  state @6 :Text;
  # The new state (backendState) or the outcome (trial), in words.
  text @7 :Text;
  # Details for people.
  exit @8 :Types.ExitReport;
  # The report of the worker's end. Only for workerEnded.
}

struct HostDescription {
  hostPid @0 :Int32;
  # The pid of the application.
  supervisorPid @1 :Int32;
  # The pid of bulkheadd.
  uptimeMs @2 :UInt64;
  tier @3 :Tier;
  # The tier of the sandbox; none until a backend was needed for the first time.
  memoryBytes @4 :UInt64;
  # The memory of bulkheadd.
  backends @5 :List(RunningBackend);
  writtenOff @6 :List(WrittenOffWorker);
  counts @7 :List(BackendCounts);
  # One entry for each name of a backend that was counted.
}

struct BackendCounts {
  # The counts of a backend since bulkheadd started: see
  # core/include/bulkhead/backend_counts.h.
  backend @0 :Text;
  starts @1 :UInt64;
  quarantines @2 :UInt64;
  streams @3 :UInt64;
  frames @4 :UInt64;
  sessionMs @5 :Int64;
  workerEnds @6 :List(UInt64);
  # Indexed by bulkhead::WorkerEnd.
  recoveries @7 :List(UInt64);
  # Indexed by DurationCounts::kBounds; the last count is for recoveries above
  # all bounds.
  recoveryUs @8 :Int64;
  # The sum of the recoveries' durations, in microseconds.
  poisonedInputs @9 :UInt64;
  refusedStreams @10 :UInt64;
  failovers @11 :UInt64;
  failedFailovers @12 :UInt64;
}

struct WrittenOffWorker {
  # A worker that has not ended although bulkheadd sent it SIGKILL at least two
  # seconds ago.
  backend @0 :Text;
  pid @1 :Int32;
  sinceMs @2 :UInt64;
  # The milliseconds since the SIGKILL.
}

struct RunningBackend {
  name @0 :Text;
  state @1 :Text;
  # In words.
  reason @2 :Text;
  # The reason for the state, for people; may be empty.
  incarnation @3 :UInt32;
  # The number of times the backend was started.
  restarts @4 :UInt32;
  # The number of workers that ended while they had a session.
  workerPids @5 :List(Int32);
  memoryBytes @6 :UInt64;
  # The memory of the backend's reaper, zygote and workers. A page that several
  # processes share counts once for each.
  sessions @7 :List(RunningSession);
  shadow @8 :ShadowReport;
  failovers @9 :UInt32;
  # The number of streams that moved to another device (failover).
  failedFailovers @10 :UInt32;
  # The number of streams for which the other device failed as well.
}

struct RunningSession {
  session @0 :UInt64;
  device @1 :Text;
  input @2 :Text;
  # The path of the input, for people.
  workerPid @3 :Int32;
  frames @4 :UInt64;
  # The number of frames delivered to the application, also by
  # earlier workers of the session.
  restarts @5 :UInt32;
  # The number of workers that the session has lost.
  waitingMs @6 :UInt32;
  # The duration of the application's call that waits for the session; 0 if no
  # call waits. At least 1 for a call that waits.
}

struct BackendCommand {
  enum Action {
    restart @0;
    reload @1;
    disable @2;
    enable @3;
  }
  backend @0 :Text;
  # The name of the backend's entry point.
  action @1 :Action;
}

struct HostReply {
  # bulkheadd to application or operator.
  union {
    configured @0 :Void;
    failed @1 :Types.Failure;
    backends @2 :Backends;
    sessionStarted @3 :SessionStarted;
    # Answers openSession.
    exit @4 :SessionExit;
    sandbox @5 :SandboxReport;
    elsewhere @6 :UInt64;
    # The reply is too large for a packet. Descriptor: a memfd that holds the
    # reply in this number of bytes.
    loaded @7 :List(KnownDevice);
    # Answers load: the devices of the backends at that path.
    poisoned @8 :PoisonedPosition;
    # Answers openSession: the input has killed too many workers while they
    # opened it.
    events @9 :Events;
    host @10 :HostDescription;
    describeFirst @11 :Text;
    # Answers an openSession without `described`: the backend does not run yet,
    # and its manifest says which codecs it decodes. The text names a device.
    # The application asks a worker of that device for the input's codec
    # (Request.describe). If the backend decodes the codec, the application
    # sends openSession again, with `described`.
    deviceFound @12 :Text;
    # Answers findDevice: the backend that has the device.
    ended @13 :Bool;
    # Answers endWorker: whether the process is known to have ended.
  }
}

struct Configuration {
  pluginPath @0 :List(SearchDirectory);
  # The directories that hold distributions, in order of precedence.
  autoload @1 :Bool;
  # True if bulkheadd registers the backends that it finds on the plugin path.
  # The backends of Bulkhead's own installation are always registered.
  enabled @2 :List(Text);
  # Globs on entry-point names. An empty list means all.
  disabled @3 :List(Text);
  # Globs on entry-point names. Takes precedence over `enabled`.
  floor @4 :Tier;
  # The lowest tier of the sandbox that the application accepts.
  reaperPath @5 :Text;
  # Absolute path of the reaper's executable.
  workerPath @6 :Text;
  # Absolute path of the worker's executable.
  startDeadlineMs @7 :UInt32;
  # The time that a backend may take to start, in milliseconds.
  workerDeadlineMs @8 :UInt32;
  # The time that a worker may take to start, in milliseconds.
  protocolVersion @9 :UInt32;
  # bulkheadd refuses any version but its own (../protocol_version.h).
  autoloadRule @10 :Text;
  enabledRule @11 :Text;
  disabledRule @12 :Text;
  # The names by which messages call the settings autoload, enabled and
  # disabled.
  eager @13 :Bool;
  # True if bulkheadd starts every backend now instead of on first use.
  loads @14 :List(ExplicitLoad);
  # The explicit loads of an earlier bulkheadd of the same host, to be repeated.
  grantFiles @15 :List(Text);
  # Absolute paths of the files that may grant permissions. Each file may be
  # missing.
  attemptsPerPosition @16 :UInt32;
  # The number of worker deaths at one position for which the input is to blame,
  # after which bulkheadd refuses the input at this position.
  stateDirectory @17 :Text;
  # Absolute path of a directory, which need not exist. Empty: nothing is kept
  # beyond the life of bulkheadd.
  failuresPerBackend @18 :UInt32;
  # The number of failures within ten minutes after which a backend is
  # quarantined.
  cgroup @19 :Text;
  # A directory in which bulkheadd creates the cgroups of backends. Empty:
  # bulkheadd looks for one.
  requireMemoryCgroup @20 :Bool;
  # True if no backend may run without a cgroup that limits its memory.
  exec @21 :List(Text);
  # Globs on entry-point names: the backends that each session loads anew.
  execRule @22 :Text;
  # The name by which messages call the setting exec.
}

struct ExplicitLoad {
  path @0 :Text;
  # Absolute path of a dist-info directory, of a directory that holds dist-info
  # directories, or of a shared object that an entry point names.
  entryPoint @1 :Text;
  # The only entry point to load. Empty: all.
}

struct SearchDirectory {
  path @0 :Text;
  origin @1 :Text;
  # The reason why the directory is searched, in words.
  builtIn @2 :Bool;
  # True if the directory belongs to Bulkhead's own installation. Its backends
  # are registered even if autoload is off.
}

enum Tier {
  none @0;
  reduced @1;
  full @2;
}

struct OpenSession {
  device @0 :Text;
  # The device's name: "cpu", "openreg:1".
  alone @1 :Bool;
  # True if the session gets a worker that serves no other session, whatever the
  # backend's worker_scope. Set for a session whose worker died: if the session
  # is to blame, only its own worker dies again.
  input @2 :Text;
  # Identifies the input and the options of decoding: equal texts mean equal
  # input.
  path @3 :Text;
  # The path of the input, for people.
  counter @4 :UInt32;
  # The index of the session among the session counters.
  audio @5 :Bool;
  # True if the session decodes audio; otherwise it decodes video.
  workerBytes @6 :UInt64;
  # The private memory that the session's worker may take, in bytes, beyond the
  # memory of its zygote. Ignored for a worker that serves several sessions.
  sharedBytes @7 :UInt64;
  # The memory that the session's worker may share with the application, in
  # bytes.
  continues @8 :UInt64;
  # The earlier session of the same stream, whose worker died after it had
  # delivered something; otherwise 0. If the earlier session's backend was
  # replaced meanwhile and can still clone workers, it also gets the new
  # session. So the earlier session is closed only after this request: a backend
  # that was replaced ends with its last session.
  described @9 :Bool;
  # True if bulkheadd must not answer describeFirst.
  served @10 :Bool;
  # True if the last descriptor is a window to the media: Attach.servedSession.
  end @11 :UInt32;
  # The place among the SessionEnds at which bulkheadd reports the worker's end.
  warning @12 :Text;
  # A warning about the application, for people who follow the events; may be
  # empty.
}

struct SessionStarted {
  session @0 :UInt64;
  # The number by which later requests name the session.
  backend @1 :Text;
  device @2 :Text;
  # The canonical name of the device: "openreg:1".
  deviceOrdinal @3 :UInt32;
  # The ordinal of the device within its backend.
  tier @4 :Tier;
  shared @5 :Bool;
  # True if the worker may serve other sessions too. A host that has finished
  # with such a worker leaves the worker alive, and kills it only for
  # misbehaviour.
  poisoned @6 :List(PoisonedPosition);
  # The positions at which the input has killed too many workers of this
  # backend.
  workerPid @7 :Int32;
  # The worker's pid in the application's pid namespace.
  unattached @8 :Types.Failure;
  # The reason why the worker was sent neither memory nor media:
  # deadlineExceeded if it did not report its lock-down in time,
  # backendMisbehaved if it broke the protocol, backendLost if it ended. Absent
  # if both were sent.
}

struct InputPosition {
  # The position of the input at which a worker died.
  union {
    opening @0 :Void;
    scanning @1 :Void;
    frame @2 :UInt64;
    # The frame that the caller waits for.
  }
}

struct PoisonedPosition {
  position @0 :InputPosition;
  deaths @1 :UInt32;
  # The number of worker deaths at the position.
  last @2 :Types.ExitReport;
  # The report of the end of the last of these workers.
}

struct SessionEnd {
  # The host's report of the end of a session's worker.
  enum Seen {
    died @0;
    late @1;  # the host killed the worker because a step took too long
    lied @2;  # the host killed the worker because of a message from it
  }
  session @0 :UInt64;
  seen @1 :Seen;
  metMedia @2 :Bool;
  # True if the worker had been given the input.
  position @3 :InputPosition;
  # The position of the input for which the worker was asked.
  attempt @4 :UInt32;
  # The number of this attempt at the position, from 1.
  cause @5 :Text;
  # The reason why the host killed the worker; empty if the worker died by
  # itself.
  input @6 :SessionInput;
  request @7 :SessionRequest;
  lastMessage @8 :Text;
  # The last message that the host sent to the worker, in words.
  device @9 :Text;
  positionText @10 :Text;
  # `position` in words.
  claimsCause @11 :Bool;
  # True if the worker itself reported the text after the first colon of
  # `cause`.
}

struct SessionInput {
  # Identifies the file that a session decodes.
  path @0 :Text;
  # Absolute path.
  bytes @1 :Int64;
  modifiedNs @2 :Int64;
  # The modification time, in nanoseconds since the Unix epoch.
  device @3 :UInt64;
  # The device number of the file system.
  inode @4 :UInt64;
}

struct SessionRequest {
  # Describes the call that the application waited for when the worker ended.
  enum Kind {
    start @0;
    open @1;
    scan @2;
    next @3;
    frameAt @4;
  }
  kind @0 :Kind;
  frame @1 :UInt64;
  # The number of the frame (or audio sample), for `next` and `frameAt`.
  streamIndex @2 :Int32 = -1;
  # The absolute index of the stream that the application asked for; -1 if it
  # named none.
  threads @3 :UInt32;
  # The number of decoder threads; 0 if the decoder chooses.
  options @4 :List(Types.KeyValue);
  complete @5 :Bool;
  # True if `options` and `transforms` hold everything that the application
  # passed. Otherwise at least one of them was too large and is empty.
  deadlineMs @6 :UInt32;
  # The deadline of the step, in milliseconds.
  onCorrupt @7 :UInt8;
  # A bulkhead::OnCorrupt.
  audio @8 :Bool;
  # True if the session decodes audio; otherwise it decodes video.
  sampleRate @9 :UInt32;
  channelCount @10 :UInt32;
  # The sample rate in hertz and the number of channels, as the application
  # asked for them; 0 for the stream's. Audio only.
  dtype @11 :UInt8;
  # A bulkhead::OutputDtype.
  transforms @12 :List(AskedTransform);
  bestStream @13 :Bool;
  # The value of Open.bestStream.
}

struct AskedTransform {
  # One bulkhead::Transform, as the application passed it.
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
  # A bulkhead::Resize::Filter. Only for resize.
  top @4 :UInt32;
  left @5 :UInt32;
  # The upper left corner, in pixels. Only for crop.
  seed @6 :UInt64;
  # The seed of the place. Only for randomCrop.
}

struct CrashOutcome {
  crashes @0 :List(UInt64);
  # The numbers of the crash records: ExitReport.crash.
  outcome @1 :Text;
  # The outcome for the session, in words.
}

struct FailedOver {
  session @0 :UInt64;
  # The session on the new device.
  device @1 :Text;
  # The device that failed, as the application named it.
  text @2 :Text;
  # The event in one sentence, for people.
  failed @3 :Bool;
  # True if the new device failed as well. `session` may then be 0.
}

struct SessionExit {
  report @0 :Types.ExitReport;
  blamed @1 :Bool;
  # True if something is to blame for the end: the input, the device or the
  # backend.
  deathsHere @2 :UInt32;
  # The number of worker deaths at this position, in all sessions, for which the
  # input is to blame.
  inputToBlame @3 :Bool;
  # True if the input is to blame for this end.
  deviceToBlame @4 :Bool;
  # True if the worker reported that its device is lost.
  claim @5 :Types.CrashNote;
  # The worker's crash note, with unprintable characters removed. The signal is
  # 0 if the worker sent none.
  lackedTasks @6 :Bool;
  # True if the backend had run out of tasks (processes and threads) at this
  # end: other workers had taken them and are to blame.
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
  # The reason why the place was searched, in words.
  outcome @2 :Text;
  # The result of the search, in words.
}

struct KnownDevice {
  name @0 :Text;
  # The name that a caller passes: "openreg:1", or "BACKEND/openreg:1" where two
  # backends offer a device of the same name.
  description @1 :Text;
  backend @2 :Text;
  capabilities @3 :Capabilities;
}

struct Capabilities {
  # The abilities of a device, as its backend states them.
  streams @0 :List(StreamCapability);
  # The only streams that the device decodes. Empty: not stated.
  maxSessions @1 :UInt32;
  # The largest number of sessions at the same time; 0 if there is no limit.
  outputs @2 :UInt32;
  # The bits of bulkhead_device.outputs (bulkhead_backend.h).
  asBefore @3 :Bool;
  # Only in a DeviceList: True if `streams` is left empty and means the same as
  # the list of the previous device.
}

struct StreamCapability {
  audio @0 :Bool;
  # True for streams of audio, false for video.
  codecs @1 :List(Text);
  profiles @2 :List(Text);
  # Empty: all.
  formats @3 :List(Text);
  # The pixel or sample formats of the frames. Empty: not stated.
  maxWidth @4 :UInt32;
  maxHeight @5 :UInt32;
  # The largest picture; 0 if there is no limit.
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
  # The name of the entry point.
  distribution @1 :Text;
  version @2 :Text;
  file @3 :Text;
  # The path of the shared object.
  state @4 :State;
  reason @5 :Text;
  # The reason for the state, for people; may be empty.
  devices @6 :List(KnownDevice);
  tier @7 :Tier;
  zygotePid @8 :Int32;
  # The zygote's pid in the application's pid namespace; 0 if there is no
  # zygote.
  reaperPid @9 :Int32;
  # The reaper's pid in the application's pid namespace; 0 if there is no
  # reaper.
  incarnation @10 :UInt32;
  # The number of times the backend was started.
  sessionPids @11 :List(Int32);
  # The pids of the backend's workers.
  asked @12 :List(Text);
  # The permissions that the backend's manifest asks for, in the notation of the
  # command line: "read=/usr/share/acme".
  granted @13 :List(Text);
  # The permissions in `asked` that the backend has, or would have if it were
  # started now.
  streams @14 :List(Text);
  # The kinds of stream that the manifest names: "audio", "video".
  startsByExec @15 :Bool;
  # True if each session loads the backend anew.
  startReason @16 :Text;
  # The manifest or the setting that decided it, for people; empty if
  # startsByExec is false.
  shadow @17 :ShadowReport;
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
  # The line in `file`; 0 if the message concerns the whole file.
  message @3 :Text;
}

struct SandboxReport {
  tier @0 :Tier;
  gaps @1 :List(SandboxGap);
  # The reasons why the tier is not full, and the protections that even the full
  # tier lacks on this machine.
  landlockAbi @2 :UInt32;
  # The Landlock ABI version; 0 if the kernel has no Landlock.
  ownUid @3 :Bool;
  # True if workers run under another uid than the application.
  cgroup @4 :Text;
  # The directory in which backends get cgroups of their own; empty if they get
  # none.
  cgroupControllers @5 :List(Text);
  # The cgroup controllers that are enabled there.
  memoryCgroupRequired @6 :Bool;
  # True if no backend runs without the controller "memory".
}

struct SandboxGap {
  missing @0 :Text;
  # The protection that is missing.
  evidence @1 :Text;
  # The observation that shows the gap.
  remedy @2 :Text;
  # The steps with which an operator closes the gap, one per line.
  cost @3 :Text;
  # The consequence of leaving the gap open.
}

# --- bulkheadd <-> reaper: both trusted --------------------------------------

struct ReaperRequest {
  # bulkheadd to reaper.
  union {
    watch @0 :Int32;
    # Asks the reaper to watch a worker: its pid in the reaper's pid namespace,
    # as the zygote claimed it. Answered by watched or refused.
    kill @1 :Int32;
    # Asks the reaper to send SIGKILL to a watched pid. Not answered; the reaper
    # sends exited once the process has ended.
  }
}

struct ReaperEvent {
  # Reaper to bulkheadd.
  union {
    started @0 :Int32;
    # The first message: the pid of the zygote in the reaper's pid namespace.
    # Descriptor: the pidfd of the zygote.
    watched @1 :Int32;
    # Answers `watch`, with the same pid. Descriptor: the pidfd of that process.
    refused @2 :Int32;
    # Answers `watch`, with the same pid, if it belongs to no child of the
    # reaper, or to a child that is watched already: the zygote lied.
    exited @3 :Exited;
    # A watched process, or the zygote, has ended and was reaped.
    starved @4 :Int32;
    # Sent instead of `watched` or `started` if the descriptor cannot be sent
    # now, because other programs of the user have too many descriptors in
    # flight. Instead of `watched`: bulkheadd may send the same `watch` again.
    # Instead of `started`: the reaper ends.
  }
}

struct Exited {
  pid @0 :Int32;
  waitStatus @1 :Int32;
  # The status as waitpid() gives it.
}

# --- bulkheadd <-> zygote: hostile once it has loaded the vendor's object ----

struct ZygoteRequest {
  # bulkheadd to zygote.
  clone @0 :CloneWorker;
}

struct CloneWorker {
  # Asks the zygote to clone a worker. Descriptor: the worker's end of the
  # worker's own socket, unless `socketComesLater`. Answered by cloned or
  # cloneFailed. At most one of
  # `probe` and `shared` is set; without either, the socket belongs to the
  # worker's only session.
  ticket @0 :UInt64;
  # The number of this request, repeated in the answer.
  probe @1 :Bool;
  # True if the worker is a probe worker, which sends one DeviceList over its
  # socket and exits.
  shared @2 :Bool;
  # True if the worker serves many sessions and receives a SharedWorkerRequest
  # for each over its socket.
  dataBytes @3 :UInt64;
  # The worker's RLIMIT_DATA in bytes; 0 for the zygote's limit.
  addressBytes @4 :UInt64;
  # The worker's RLIMIT_AS in bytes; 0 for the zygote's limit.
  socketComesLater @5 :Bool;
  # True if bulkheadd gives the worker its socket, as descriptor kWorkerSocketFd
  # of ipc/descriptors.h, when the worker installs its last filter.
  reserve @6 :Bool;
  # True if the worker may use the tasks (processes and threads) that are
  # reserved for the case that workers with media have used up all others.
}

struct ZygoteEvent {
  # Zygote to bulkheadd. The zygote may be hostile: bulkheadd validates every
  # field, and the pid in `cloned` through the reaper.
  union {
    ready @0 :Void;
    # The plugin is loaded and the zygote can clone workers.
    failed @1 :Types.Failure;
    # The plugin could not be loaded.
    cloned @2 :Cloned;
    cloneFailed @3 :CloneFailed;
    locked @4 :Void;
    # Descriptor: the listener of the zygote's seccomp filter. The first
    # message, sent before vendor code is loaded, and only if Lockdown.notifies
    # is set.
    crashed @5 :Types.CrashNote;
    # The last message of a zygote that dies of a fault.
  }
}

struct Cloned {
  ticket @0 :UInt64;
  pid @1 :Int32;
  # The worker's pid in the reaper's pid namespace.
}

struct CloneFailed {
  ticket @0 :UInt64;
  failure @1 :Types.Failure;
}

# --- bulkheadd -> shared worker: hostile, answers nothing --------------------

struct SharedWorkerRequest {
  serve @0 :Void;
  # Starts one session. Descriptor: the worker's end of the session's socket.
  # The session ends when the host closes the other end.
}

# --- probe worker -> bulkheadd: hostile --------------------------------------

struct DeviceList {
  # Sent once; the worker then exits.
  union {
    devices @0 :List(Device);
    failed @1 :Types.Failure;
    crashed @2 :Types.CrashNote;
    # The last message of a worker that dies of a fault.
  }
}

struct Device {
  name @0 :Text;
  # The device's name without an index. bulkheadd accepts only a name that the
  # backend's manifest reserves.
  description @1 :Text;
  capabilities @2 :Capabilities;
}
