# SPDX-License-Identifier: Apache-2.0
"""Decodes many files on the workers of a cluster of dask.

    from dask.distributed import Client
    from bulkhead.distributed import decode_files

    summary = decode_files(Client("tcp://head:8786"), paths, "framemd5", "/shared/out")

Each process of dask has one bulkhead.Host (HostPlugin), so that no file and no backend can
crash a dask worker. Only paths, options and records are sent between machines; media and
outputs are on storage that all machines share. The output directory and its manifest are
those of `bulkhead batch` (tools/cli/batch/README.md): the command can continue a batch that
decode_files() has begun, and the other way round.

In this module, as in dask, a worker is a process of the cluster. The sandboxed processes
that decode are called workers of Bulkhead.
"""

import collections
import collections.abc
import contextlib
import os
import threading
import time
import traceback
import uuid
from typing import Any, Callable, Deque, Dict, List, Optional, Union, cast

try:
    from distributed import Client, KilledWorker, Worker, WorkerPlugin, as_completed, get_worker
except ImportError as _error:
    raise ImportError(
        f"{_error}: bulkhead.distributed needs dask.distributed; apt-get install "
        "python3-distributed"
    ) from None

from bulkhead import _core
from bulkhead._arguments import COUNT, SECONDS, checked
from bulkhead._batch_decode import Loss, Result, decode_item
from bulkhead._batch_recipe import Item, Recipe, plan
from bulkhead._batch_report import Report, Summary
from bulkhead._errors import BackendUnavailableError, Error, InvalidArgumentError
from bulkhead._host import Host, default_host

__all__ = ["HostPlugin", "Summary", "decode_files", "device_counts"]

# The number of tasks that dask has at once, for each thread of its workers. More than one,
# so that no thread waits for a task; few, because dask counts the death of a worker against
# every task that the worker had.
_TASKS_PER_THREAD = 2
_SECONDS_BETWEEN_COUNTS = 1.0
_REGISTRATIONS = 3  # The number of attempts to register the plugin.


class HostPlugin(WorkerPlugin):
    """Gives each worker of dask a Host, which ends with the worker.

    decode_files() registers a plugin for itself. For tasks of your own, register one:

        client.register_worker_plugin(HostPlugin("openreg"), name="bulkhead")
        host = distributed.get_worker().plugins["bulkhead"].host   # in a task

    Args:
        device: The device whose backend is started at once, so that
            register_worker_plugin() raises the error of an unknown device.
        host_options: The options of bulkhead.Host.
    """

    host: Host

    def __init__(
        self,
        device: str = "cpu",
        host_options: Optional[collections.abc.Mapping[str, Any]] = None,
    ) -> None:
        self._device = device
        self._host_options = dict(host_options or {})

    def setup(self, worker: Worker) -> None:
        """Starts the Host; dask calls this in the worker."""
        self.host = Host(**self._host_options)
        self.host.prewarm(self._device)
        # The versions and the tier of the sandbox for records, as JSON.
        self.makers = _core.batch_makers(self.host.core(), self._device)
        self._lock = threading.Lock()
        # The number of files that use each device now.
        self._uses: Dict[str, int] = dict.fromkeys(self._devices(), 0)

    def _devices(self) -> List[str]:
        """Returns the devices that the name means: all devices of a backend, or one."""
        found = [info.name for info in self.host.devices() if info.backend == self._device]
        return found or [self._device]

    @contextlib.contextmanager
    def lend_device(self) -> collections.abc.Iterator[str]:
        """Yields the name of the device that the fewest files use now."""
        with self._lock:
            device = min(self._uses, key=self._uses.__getitem__)
            self._uses[device] += 1
        try:
            yield device
        finally:
            with self._lock:
                self._uses[device] -= 1


def device_counts() -> Dict[str, int]:
    """Returns the number of usable devices of each backend of this machine except "cpu", as
    the resources of dask workers: LocalCluster(resources=device_counts())."""
    host = default_host()
    counts: Dict[str, int] = {}
    for backend in host.backends():
        if backend.name != "cpu":
            host.prewarm(backend.name)
    for info in host.devices():
        if info.backend != "cpu" and info.state == "ready":
            counts[info.backend] = counts.get(info.backend, 0) + 1
    return counts


def decode_files(
    client: Client,
    files: collections.abc.Iterable[Union[str, os.PathLike]],
    what: Union[str, Callable[[Any], Any]],
    out: Union[str, os.PathLike],
    *,
    devices: str = "cpu",
    relative_to: Union[str, os.PathLike, None] = None,
    on_corrupt: str = "error",
    frames: Optional[str] = None,
    at: Optional[str] = None,
    stream: Optional[int] = None,
    best_stream: bool = False,
    sample_rate: Optional[int] = None,
    channels: Optional[int] = None,
    threads: int = 1,
    host_options: Optional[collections.abc.Mapping[str, Any]] = None,
    retries: int = 2,
    worker_timeout: Optional[float] = 300.0,
    progress: Optional[bool] = None,
) -> Summary:
    """Decodes each file on a worker of the cluster, into a directory that all share.

    An error of a file is its result: a line of the manifest, never an exception. A file
    that was lost to a failed backend, a deadline or a limit is tried again up to
    `retries` times, and again by the next call. The same call decodes what is still
    missing, so repeat it after it was ended by an error. If contents kill workers of
    Bulkhead, files with the same contents are not tried, and one of them is named.

    Args:
        client: The client of the cluster.
        files: Paths. Relative paths begin at the working directory of this process, on
            every machine.
        what: "framemd5", "png" (a directory) or "wav", as in `bulkhead batch --format`;
            "npy", one array [N, H, W, 3]; "sheet", a contact sheet; "probe", JSON of
            bulkhead.probe(); or a function. It takes a VideoDecoder of FFmpeg's best
            stream, and returns bytes or an object for JSON. Its outputs have its name as
            suffix. Records know only its name: if you change the function, choose
            another name or directory.
        out: The directory of the outputs.
        devices: "cpu"; a backend such as "openreg", for all of its devices; or one
            device, "openreg:1". While a file is decoded, it takes 1 of the dask resource
            with the backend's name: start workers with resources={"openreg": 2} to decode
            two files at once. "cpu" needs no resource.
        relative_to: Outputs keep the directories between this one and their files.
        on_corrupt, frames, at, stream, best_stream, sample_rate, channels, threads: As
            in `bulkhead batch`: frames="0:16", at="0,-1".
        host_options: Options of the Host of each worker, such as deadlines.
        retries: How often a lost file is tried again.
        worker_timeout: For how many seconds the cluster may have no worker that takes
            files, because all have died or none has started yet. None waits for ever.
        progress: True shows progress on stderr, False shows nothing there, None shows
            progress on terminals only, failures and the summary always.

    Raises:
        InvalidArgumentError: an argument, or two files with one output.
        NotFoundError: no worker has the device.
        BackendUnavailableError: the cluster had no worker for `worker_timeout` seconds,
            or a worker that dask counts on does not answer when the call begins. Files
            that were decoded keep their results.
        OSError: the directory takes no output.
    """
    recipe = Recipe(
        what=what,
        directory=os.path.abspath(os.fsdecode(out)),
        base=os.getcwd(),
        device=devices,
        on_corrupt=on_corrupt,
        frames=frames,
        at=at,
        stream=stream,
        sample_rate=sample_rate,
        channels=channels,
        best_stream=best_stream,
        threads=threads,
    )
    retries = checked("retries", retries, COUNT)
    worker_timeout = checked("worker_timeout", worker_timeout, SECONDS, none=True)
    items = plan(files, relative_to, recipe.suffix)
    resources = _resources(client, devices)
    batch = recipe.batch()
    report = Report(len(items), progress)
    missing = []
    for item in items:
        record = batch.find(item, recipe.path_of(item))
        if record is None:
            missing.append(item)
        else:
            report.count_earlier(record)
    try:
        if missing:
            plugin = HostPlugin(devices, host_options)
            with _registered(client, plugin) as name:
                run = _Run(client, name, recipe, retries, worker_timeout, resources, report)
                run.decode(missing)
        batch.join()
    except BaseException:
        report.finish(ended=True)
        raise
    return report.finish(ended=False)


def _resources(client: Client, device: str) -> Dict[str, float]:
    """Returns the resources of a dask worker that a file on the device takes."""
    backend = device.partition(":")[0]
    if backend == "cpu":
        return {}
    workers = client.scheduler_info()["workers"].values()
    # Without this check, dask would wait for such a worker for ever, without a message.
    if not any(backend in worker["resources"] for worker in workers):
        raise InvalidArgumentError(
            f"no worker of {client.scheduler.address} has the resource {backend!r}, the "
            f"number of files that it may decode there at once; start workers with "
            f"resources={{{backend!r}: 2}}, or dask-worker --resources {backend}=2"
        )
    return {backend: 1}


@contextlib.contextmanager
def _registered(client: Client, plugin: HostPlugin) -> collections.abc.Iterator[str]:
    """Registers the plugin in all workers, also those that start later, and yields its
    name."""
    name = _register(client, plugin)
    try:
        yield name
    finally:
        # Dask raises an error if a worker does not answer, because it has died or hangs.
        # Dask has already forgotten the plugin then, so no later worker gets it.
        with contextlib.suppress(OSError):
            client.unregister_worker_plugin(name)


def _register(client: Client, plugin: HostPlugin) -> str:
    """Registers the plugin, and returns its name. Dask raises an error if any worker dies
    meanwhile. Dask knows of the death by the next attempt, which then succeeds."""
    for attempt in range(1, _REGISTRATIONS + 1):
        # A new name each time: some workers may already have a plugin of the last name.
        name = f"bulkhead-{uuid.uuid4()}"
        try:
            client.register_worker_plugin(plugin, name=name)
        except BaseException as error:
            with contextlib.suppress(Exception):
                client.unregister_worker_plugin(name)
            if not isinstance(error, OSError):
                raise
            if attempt == _REGISTRATIONS:
                raise BackendUnavailableError(
                    f"not all workers of {client.scheduler.address} could be asked to start "
                    f"Bulkhead ({error}): end the worker that does not answer, or wait until "
                    "dask has given it up, and make the same call: it does what is missing"
                ) from error
        else:
            break
    return name


def _decode_on_worker(plugin_name: str, recipe: Recipe, item: Item) -> Union[Result, Loss]:
    """Decodes one file. Runs in a thread of a dask worker."""
    try:
        return _decode_with(cast(HostPlugin, get_worker().plugins[plugin_name]), recipe, item)
    except BaseException as error:
        # Dask keeps the exception, and its traceback refers to the Host, an open stream,
        # and an output file that may have filled the disk.
        link: Optional[BaseException] = error
        while link is not None:
            traceback.clear_frames(link.__traceback__)
            link = link.__context__
        raise


def _decode_with(plugin: HostPlugin, recipe: Recipe, item: Item) -> Union[Result, Loss]:
    with plugin.lend_device() as device:
        return decode_item(recipe, item, plugin.host, device, plugin.makers)


class _Run:
    """Submits files to dask, a few more at a time than its workers have threads, and takes
    their results."""

    def __init__(
        self,
        client: Client,
        plugin_name: str,
        recipe: Recipe,
        retries: int,
        worker_timeout: Optional[float],
        resources: Dict[str, float],
        report: Report,
    ) -> None:
        self._client = client
        self._report = report
        # The user's function can end the dask worker that calls it, so a file whose workers
        # died is not tried again. Without a function, the cause was another task.
        self._revivals = 0 if callable(recipe.what) else retries
        self._function = f"{recipe.format}()" if callable(recipe.what) else None
        self._worker_timeout = worker_timeout
        self._resources = resources
        self._over = threading.Event()
        self._no_worker: Optional[BackendUnavailableError] = None
        self._arguments = (plugin_name, recipe)
        self._options = {"retries": retries, "resources": resources, "pure": False}
        self._left: Deque[Item] = collections.deque()
        self._items: Dict[Any, Item] = {}  # The submitted items, by their futures.
        self._given_up: Dict[Item, int] = {}  # How often dask has given up an item.
        self._most = 0  # The number of tasks that dask shall have at once.
        self._counted = 0.0  # When _most was computed.

    def decode(self, items: List[Item]) -> None:
        """Returns when every file has its record or is lost. Raises errors that would fail
        every other file as well."""
        self._left.extend(items)
        watch = threading.Thread(target=self._watch_workers, daemon=True)
        watch.start()
        done = as_completed(with_results=True, raise_errors=False, loop=self._client.loop)
        try:
            self._submit(done)
            for future, result in done:
                self._take(future, self._items.pop(future), result)
                self._submit(done)
            if self._no_worker is not None:
                raise self._no_worker
        finally:
            self._over.set()
            watch.join()
            self._client.cancel(list(self._items))

    def _watch_workers(self) -> None:
        """Cancels all tasks if there was no worker for too long. dask itself would wait for
        ever, without a message. Runs in a thread of its own."""
        last_seen = time.monotonic()
        while not self._over.wait(_SECONDS_BETWEEN_COUNTS):
            try:
                workers = self._client.scheduler_info()["workers"].values()
            except (OSError, ValueError):  # Lost the scheduler; the client cancels all.
                continue
            if any(self._resources.keys() <= worker["resources"].keys() for worker in workers):
                last_seen = time.monotonic()
            elif (
                self._worker_timeout is not None
                and time.monotonic() - last_seen >= self._worker_timeout
            ):
                self._no_worker = self._describe_no_worker()
            if self._no_worker is not None:
                self._client.cancel(list(self._items))

    def _describe_no_worker(self) -> BackendUnavailableError:
        what = "".join(f" with the resource {name!r}" for name in self._resources)
        cause = "their logs say why they ended"
        if self._function is not None:
            cause += f"; {self._function} may end its process, as os._exit() and a crash do"
        return BackendUnavailableError(
            f"{self._client.scheduler.address} has had no worker{what} for "
            f"{self._worker_timeout:g} s (worker_timeout): dask gives up workers that die "
            f"while they start, and {cause}. Remove the cause, start workers, and make the "
            "same call: it does what is missing"
        )

    def _submit(self, done: as_completed) -> None:
        while not self._no_worker and self._left and len(self._items) < self._room():
            item = self._left.popleft()
            future = self._client.submit(
                _decode_on_worker, *self._arguments, item, **self._options
            )
            self._items[future] = item
            done.add(future)

    def _room(self) -> int:
        """Returns the number of tasks that dask shall have at once. Counts the workers'
        threads again from time to time, since workers come and go."""
        now = time.monotonic()
        if now - self._counted > _SECONDS_BETWEEN_COUNTS:
            threads = sum(self._client.nthreads().values())
            self._most = _TASKS_PER_THREAD * max(1, threads)
            self._counted = now
        return self._most

    def _take(self, future: Any, item: Item, result: Any) -> None:
        if future.status == "error":
            error = result[1]
            if isinstance(error, Error) and _core.is_loss(error.code):
                result = Loss(error.code, str(error))
            elif isinstance(error, KilledWorker):
                # Dask gives up a task after several workers that had it have died. Another
                # task may have killed them.
                self._given_up[item] = self._given_up.get(item, 0) + 1
                if self._given_up[item] <= self._revivals:
                    return self._left.append(item)
                result = Loss("kBackendLost", self._describe_given_up(item, error))
            else:
                raise error
        elif future.status == "cancelled":
            raise self._no_worker or result
        if isinstance(result, Loss):
            self._report.count_loss(item, result)
        else:
            self._report.count_result(result)

    def _describe_given_up(self, item: Item, error: KilledWorker) -> str:
        told = str(error).rstrip(".")
        name = _core.record_text(item.input)
        text = f"{name}: dask gave it up, since the workers that had it died: {told}"
        if self._function is None:
            return text
        return (
            f"{text}. If {self._function} ends its process, as os._exit() and a crash do, "
            "mend it; a file that was only beside another one is decoded by the next call"
        )
