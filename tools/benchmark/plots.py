# SPDX-License-Identifier: Apache-2.0
"""The kinds of plots that page.py puts on a page: bars and lines in fixed colours.

Needs matplotlib.
"""

from matplotlib import ticker

# The colour of each subject, by the beginning of its name, the same on the whole page.
COLOURS = {
    "Bulkhead": "#1f5fa8",
    "the ring": "#1f5fa8",
    "libav": "#e08214",
    "one ffmpeg": "#5a9e4b",
    "ffmpeg": "#5a9e4b",
    "PyAV": "#9467bd",
    "OpenCV": "#8c6d5a",
    "FFMS2": "#d1799e",
    "Cap'n Proto": "#c0392b",
    "futex": "#555555",
    "eventfd": "#9a9a9a",
    "spin": "#c9c9c9",
    "importlib": "#2a9d8f",
    "process": "#9a9a9a",
}
LIBAV = "libav in process"


def colour(name):
    for start, value in COLOURS.items():
        if name.lower().startswith(start.lower()):
            return value
    return "#000000"


def number(value):
    """Returns a number with two significant digits, and with all digits before the point."""
    if value >= 10:
        return "%.0f" % value
    return "%.2g" % value


def title(axes, text, better):
    axes.set_title(text, loc="left", fontweight="bold", fontsize=11, pad=22)
    axes.text(
        0, 1.03, better, transform=axes.transAxes, fontsize=9, color="#666666"
    )


def grouped_bars(axes, groups, names, value, label):
    """Draws a group of bars for each of `groups`, one bar for each name.

    `value` returns (median, lowest, highest), or None for a gap.
    """
    width = 0.82 / len(names)
    for i, name in enumerate(names):
        for j, group in enumerate(groups):
            median = value(group, name)
            x = j + (i - (len(names) - 1) / 2) * width
            if not median:
                axes.text(x, 0, "–", ha="center", va="bottom", color="#999999")
                continue
            axes.bar(
                x,
                median[0],
                width * 0.94,
                color=colour(name),
                label=name if j == 0 else None,
            )
            axes.annotate(
                label(median[0]),
                (x, median[0]),
                ha="center",
                va="bottom",
                fontsize=7.5,
                xytext=(0, 1),
                textcoords="offset points",
            )
    axes.set_xticks(range(len(groups)))
    axes.tick_params(axis="x", length=0)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)


def lines(axes, table, key, plots, scale="linear", headroom=1.5):
    """Draws lines over `key`, with a logarithmic axis.

    Each of `plots` is (series, keys of the row, label, style). A fifth element "each" divides
    the values by `key`, for example the memory of all sessions by their number.
    """
    for series, of, name, style, *each in plots:
        x, y = table.line(key, series, **of)
        if each:
            y = [value / count for value, count in zip(y, x)]
        axes.plot(x, y, style, color=colour(name), label=name, markersize=4)
        if x:
            axes.annotate(
                number(y[-1]),
                (x[-1], y[-1]),
                xytext=(5, 0),
                textcoords="offset points",
                va="center",
                fontsize=8,
                color=colour(name),
            )
    axes.set_xscale("log")
    axes.set_yscale(scale)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(ticker.FuncFormatter(lambda v, _: "%g" % v))
    axes.xaxis.set_minor_locator(ticker.NullLocator())
    axes.set_xticks(table.values(key))
    axes.margins(x=0.12)
    if scale == "linear":
        axes.set_ylim(bottom=0)
    axes.set_ylim(top=axes.get_ylim()[1] * headroom)
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.set_xlabel(key, fontsize=9)
    not_reached(axes, table, key)
    axes.legend(fontsize=8, frameon=False, loc="upper left")


def not_reached(axes, table, key):
    """Writes below the plot which rows are missing, and why."""
    reasons = [
        "%s %s, %s: %s"
        % (row["of"][key], key, row["of"].get("decoder", ""), row["not_reached"])
        for row in table.rows
        if "not_reached" in row
    ]
    text = "\n".join(
        reason if len(reason) < 90 else reason[:89] + "…" for reason in reasons
    )
    axes.text(
        0.02, 0.02, text, transform=axes.transAxes, fontsize=7, color="#a33333"
    )
