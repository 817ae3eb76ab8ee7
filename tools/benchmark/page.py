#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Draws one page of plots from the JSON of tools/bench.

    page.py FILE.svg|FILE.png RUN.json...

A panel whose run is missing says which command makes it. Exits with 3 if
matplotlib is not installed.
"""

import io
import sys

try:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot, ticker
except ImportError as error:
    print(error, file=sys.stderr)
    sys.exit(3)

from figures import BadRun, Runs
from plots import LIBAV, colour, grouped_bars, lines, number, title
from small_svg import write_small


def decoding(output, threads):
    def draw(axes, table):
        name = "RGB24" if output == "RGB24" else "the decoder's own planes"
        plural = "s" if threads > 1 else ""
        title(
            axes,
            "Decoding in order to %s, %d thread%s" % (name, threads, plural),
            "frames/s in relation to libav in process; the numbers are frames/s",
        )
        if not table.row(output=output, threads=threads):
            axes.text(0.5, 0.5, "no figures: tools/bench --matrix", ha="center")
            axes.set_axis_off()
            return
        heights = table.values("height")
        codecs = table.values("codec")
        shades = (0.55, 0.78, 1)
        width = 0.82 / len(heights)
        for i, height in enumerate(heights):
            for j, codec in enumerate(codecs):
                of = {
                    "codec": codec,
                    "height": height,
                    "threads": threads,
                    "output": output,
                }
                ratio = table.median("Bulkhead / libav", **of)
                rate = table.median("Bulkhead", **of)
                if not ratio or not rate:
                    continue
                x = j + (i - (len(heights) - 1) / 2) * width
                axes.bar(
                    x,
                    ratio[0],
                    width * 0.94,
                    color=colour("Bulkhead"),
                    alpha=shades[i % 3],
                    label="%dp" % height if j == 0 else None,
                )
                axes.text(
                    x, 0.03, number(rate[0]), ha="center", fontsize=8, color="white"
                )
                axes.text(
                    x, ratio[0] + 0.01, "%.2f" % ratio[0], ha="center", fontsize=8
                )
        axes.axhline(1, color=colour(LIBAV), linewidth=1.5, label=LIBAV)
        axes.set_xticks(range(len(codecs)), codecs)
        axes.set_ylim(0, max(1.45, axes.get_ylim()[1] * 1.15))
        axes.legend(fontsize=8, frameon=False, ncol=4, loc="upper left")

    return draw


def opening(axes, table):
    title(axes, table.title, "ms; lower is better")
    clips = table.values("clip")
    grouped_bars(
        axes,
        clips,
        table.values("decoder"),
        lambda clip, decoder: table.median("time", clip=clip, decoder=decoder),
        number,
    )
    axes.set_xticklabels(clips)
    axes.legend(fontsize=8, frameon=False, loc="upper left")


def starts(axes, table):
    title(axes, "Starts", "ms; lower is better")
    whats = table.values("start of")
    anchors = table.values("anchor")
    for i, (what, anchor) in enumerate(zip(whats, anchors)):
        of = {"start of": what}
        for y, series, name in ((0.2, "Bulkhead", "Bulkhead"), (-0.2, "anchor", anchor)):
            median = table.median(series, **of)
            if not median:
                continue
            kind = "process" if "/bin" in name else name.replace("a new ", "")
            axes.barh(-i + y, median[0], 0.36, color=colour(kind))
            text = "%s: %s ms" % (what if y > 0 else anchor, number(median[0]))
            axes.text(median[0], -i + y, "  " + text, va="center", fontsize=8.5)
    axes.set_yticks([])
    axes.margins(x=0.9)
    axes.set_xlim(left=0)
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)


def short_clips(axes, table):
    title(
        axes,
        "Short clips of 0.4 s (480p), by how many at once",
        "clips/s; higher is better",
    )
    at_once = table.values("at once")
    grouped_bars(
        axes,
        at_once,
        table.values("decoder"),
        lambda n, decoder: table.median("clips", **{"at once": n, "decoder": decoder}),
        number,
    )
    axes.set_xticklabels(["%d at once" % n for n in at_once])
    axes.set_ylim(top=axes.get_ylim()[1] * 1.3)
    axes.legend(fontsize=8, frameon=False, ncol=2, loc="upper left")


def round_trips(series, what):
    def draw(axes, table):
        title(axes, "Round trip of a message, " + what, "µs, logarithmic; lower is better")
        cases = list(
            dict.fromkeys(
                (row["of"]["processors"], row["of"]["gap_ms"]) for row in table.rows
            )
        )
        grouped_bars(
            axes,
            cases,
            table.values("mechanism"),
            lambda case, mechanism: table.median(
                series, processors=case[0], gap_ms=case[1], mechanism=mechanism
            ),
            number,
        )
        for text in axes.texts:
            if text.get_fontsize() == 7.5:
                text.set_rotation(90)
        axes.set_xticklabels(
            [
                "%s\n%s"
                % (
                    "2 processors" if processors > 1 else "1 processor",
                    "after %d ms" % gap if gap else "at once",
                )
                for processors, gap in cases
            ],
            fontsize=8,
        )
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda v, _: "%g" % v))
        axes.set_ylim(top=axes.get_ylim()[1] * 30)
        axes.legend(fontsize=8, frameon=False, ncol=2, loc="upper left")

    return draw


def calls(axes, table):
    title(
        axes,
        "System calls of a frame while the next one is ready",
        "calls a frame; lower is better",
    )
    for i, side in enumerate(table.values("side")):
        median = table.median("calls", side=side)
        value = median[0] if median else 0
        axes.barh(-i, value, 0.5, color=colour("Bulkhead"))
        text = number(value) if median else table.not_reached(side=side)
        axes.text(value, -i, "  %s: %s" % (side, text), va="center")
    axes.set_yticks([])
    axes.set_xlim(0, max(1.0, axes.get_xlim()[1] * 1.6))
    axes.set_ylim(-2, 1)
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)


def sessions(what, unit, plots, limit=None, **options):
    def draw(axes, table):
        title(axes, "Sessions of 480p at once: " + what, unit)
        if limit:
            axes.axhline(limit, color="#a33333", linewidth=0.8, linestyle=":")
            axes.text(1, limit, "the usual limit, %d" % limit, fontsize=8, va="bottom")
        lines(axes, table, "sessions", plots, **options)

    return draw


def both(series):
    return [
        (series, {"decoder": name}, name, "o-") for name in ("Bulkhead", LIBAV)
    ]


def memory_of_one():
    return [
        (series, {"decoder": name}, name + what, style, "each")
        for series, style, what in (
            ("with frames", "o-", ""),
            ("memory", "o--", ", before the first frame"),
        )
        for name in ("Bulkhead", LIBAV)
    ]


def backends(axes, table):
    title(axes, "Installed backends", "ms, logarithmic; lower is better")
    lines(
        axes,
        table,
        "backends",
        [
            (
                "first stream of the last",
                {},
                "Bulkhead: first stream, new Host",
                "s-",
            ),
            ("listing", {}, "Bulkhead: listing, new Host", "o-"),
            ("importlib.metadata", {}, "importlib.metadata", "o-"),
            ("discovery", {}, "Bulkhead: discovery", "^--"),
        ],
        scale="log",
        headroom=30,
    )


def lengths(axes, table):
    title(axes, "Length of a 480p file", "ms; lower is better")
    plots = [
        (series, {"decoder": name}, name + ": " + series, style)
        for series, style in (
            ("open, index, first frame", "o-"),
            ("a frame at random", "^--"),
        )
        for name in ("Bulkhead", LIBAV)
    ]
    lines(axes, table, "seconds", plots)


# The panels: the benchmark, the beginning of the table's title, and the function that draws.
PANELS = [
    ("matrix", "Decoding in order", decoding("RGB24", 1)),
    ("matrix", "Decoding in order", decoding("RGB24", 2)),
    ("matrix", "Decoding in order", decoding("native", 1)),
    ("matrix", "Decoding in order", decoding("native", 2)),
    ("opening", "Open, index", opening),
    ("opening", "Starts", starts),
    ("clips", "", short_clips),
    ("growth", "Length", lengths),
    ("ring", "Round trip", round_trips("p50", "median")),
    ("ring", "Round trip", round_trips("processor time", "processor time of both sides")),
    (
        "growth",
        "Sessions",
        sessions("memory of one", "MB (PSS); lower is better", memory_of_one()),
    ),
    (
        "growth",
        "Sessions",
        sessions("frames in turn", "frames/s; higher is better", both("in turn")),
    ),
    (
        "growth",
        "Sessions",
        sessions(
            "descriptors of all in the application",
            "logarithmic; lower is better",
            both("descriptors"),
            limit=1024,
            scale="log",
            headroom=10,
        ),
    ),
    (
        "growth",
        "Sessions",
        sessions("start of one more", "ms; lower is better", both("start of one")),
    ),
    ("growth", "Backends", backends),
    ("ring", "System calls", calls),
]


def draw_page(runs):
    matplotlib.rcParams.update(
        {
            "font.family": ["DejaVu Sans"],
            "font.size": 9,
            "svg.fonttype": "none",
            # A fixed salt, so that the same figures give the same file.
            "svg.hashsalt": "bulkhead",
            "axes.axisbelow": True,
            "axes.spines.top": False,
            "axes.spines.right": False,
        }
    )
    rows = (len(PANELS) + 1) // 2
    figure, grid = pyplot.subplots(rows, 2, figsize=(12, 3.9 * rows))
    for axes, (benchmark, start, draw) in zip(grid.flat, PANELS):
        table = runs.table(benchmark, start)
        if table and table.rows:
            draw(axes, table)
        else:
            axes.text(
                0.5, 0.5, "no figures: tools/bench --" + benchmark, ha="center"
            )
            axes.set_axis_off()
    for axes in list(grid.flat)[len(PANELS) :]:
        axes.set_axis_off()
    figure.suptitle(
        "Bulkhead, measured", x=0.04, y=0.994, ha="left", fontsize=17, fontweight="bold"
    )
    figure.text(0.04, 0.981, runs.origin(), fontsize=9.5, color="#444444")
    figure.tight_layout(rect=(0.01, 0.0, 0.99, 0.978), h_pad=2.2, w_pad=2.5)
    return figure


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        runs = Runs(sys.argv[2:])
    except BadRun as error:
        print("page.py: %s" % error, file=sys.stderr)
        return 2
    path = sys.argv[1]
    page = draw_page(runs)
    try:
        if path.endswith(".svg"):
            text = io.StringIO()
            page.savefig(text, format="svg", metadata={"Date": None})
            write_small(path, text.getvalue())
        else:
            page.savefig(path, dpi=80)
    except OSError as error:
        print("page.py: cannot write the page: %s" % error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
