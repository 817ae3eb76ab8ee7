# SPDX-License-Identifier: Apache-2.0
"""AllowedMedia: the containers and codecs that may be parsed and decoded."""

import dataclasses
from typing import List, Optional

from bulkhead import _core
from bulkhead._arguments import TEXTS, checked, instance_of


@dataclasses.dataclass
class AllowedMedia:
    """The containers and codecs, by FFmpeg's names, that may be parsed and decoded.

    A service that takes files from strangers can thus name what it needs. Demuxers
    and decoders that are not listed never run, whatever a file contains. None allows
    all, an empty list nothing.
    """

    containers: Optional[List[str]] = None
    codecs: Optional[List[str]] = None

    def __post_init__(self) -> None:
        self.core()  # Raises an error if a member is no list of names.

    @classmethod
    def web(cls) -> "AllowedMedia":
        """Returns the containers and codecs that today's browsers play."""
        web = _core.AllowedMedia.web()
        return cls(web.containers, web.codecs)

    def core(self) -> _core.AllowedMedia:
        """Returns the library's object."""
        allowed = _core.AllowedMedia()
        for name in ("containers", "codecs"):
            names = checked(f"{name} of AllowedMedia", getattr(self, name), TEXTS, none=True)
            setattr(allowed, name, names)
        return allowed


ALLOWED = instance_of(AllowedMedia)
