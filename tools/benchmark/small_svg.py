# SPDX-License-Identifier: Apache-2.0
"""Makes an SVG file of matplotlib smaller, for a page that is kept in git.

    write_small("page.svg", text)

The picture stays the same. Names of groups that nothing refers to, groups without
attributes and digits below a hundredth of a point are left out.
"""

import re
from xml.etree import ElementTree

_SVG = "http://www.w3.org/2000/svg"
_LINK = "http://www.w3.org/1999/xlink"
_NUMBER = re.compile(r"-?\d+\.\d+")
_NO_TURN = re.compile(r"rotate\(-?0(?:\.0*)? ")
# The attributes that hold coordinates. (A style has colours and widths, which stay.)
_COORDINATES = ("d", "x", "y", "width", "height", "transform", "points")


def _short(text):
    return _NUMBER.sub(lambda found: "%g" % round(float(found[0]), 2), text)


def _shrink(parent, used):
    children = []
    for child in parent:
        _shrink(child, used)
        child.text = child.text if (child.text or "").strip() else None
        child.tail = None
        if child.get("id") not in used:
            child.attrib.pop("id", None)
        for name in _COORDINATES:
            if name in child.attrib:
                child.set(name, " ".join(_short(child.get(name)).split()))
        if _NO_TURN.match(child.get("transform", "")):
            del child.attrib["transform"]
        if child.tag == "{%s}metadata" % _SVG:
            continue
        if child.tag == "{%s}g" % _SVG and not child.attrib:
            children.extend(child)
        else:
            children.append(child)
    parent[:] = children


def write_small(path, text):
    """Writes the SVG `text` to the file."""
    ElementTree.register_namespace("", _SVG)
    ElementTree.register_namespace("xlink", _LINK)
    root = ElementTree.fromstring(text)
    _shrink(root, set(re.findall(r"#([\w.-]+)", text)))
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
