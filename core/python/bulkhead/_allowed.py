# SPDX-License-Identifier: Apache-2.0
"""AllowedMedia: the containers and codecs that may be parsed and decoded."""

import dataclasses
from typing import List, Optional

from bulkhead import _core


@dataclasses.dataclass
class AllowedMedia:
    """The containers and codecs, by FFmpeg's names, that may be parsed and decoded.

    For a service that takes files from strangers: what is not listed never runs,
    however the file is made. None allows all, an empty list nothing.
    """

    containers: Optional[List[str]] = None
    codecs: Optional[List[str]] = None

    @classmethod
    def web(cls):
        """Returns what today's browsers play."""
        web = _core.AllowedMedia.web()
        return cls(web.containers, web.codecs)

    def core(self):
        allowed = _core.AllowedMedia()
        allowed.containers = self.containers
        allowed.codecs = self.codecs
        return allowed
