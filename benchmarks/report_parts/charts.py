"""Drawings of the page, as SVG that follows the reader's light or dark scheme."""

import math

from report_parts import peer_tables
from report_parts.figures import ENGINE
from report_parts.text import milliseconds, number

COLOURS = ("#4269d0", "#efb118", "#ff725c", "#3ca951", "#a463f2", "#6cc5b0")
STYLE = """<style>
text { font-family: -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif; fill: #1f2328; }
.title { font-size: 15px; font-weight: 600; } .small { font-size: 11.5px; } .tiny { font-size: 10px; }
.grid { stroke: #d1d9e0; } .paper { fill: #ffffff; stroke: #d1d9e0; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; } .grid { stroke: #3d444d; } .paper { fill: #0d1117; stroke: #3d444d; }
}
</style>"""


def framed(title, name, height, body, width=820):
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return f"""<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">
<title>{name}</title>
{STYLE}
<rect class="paper" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="8"/>
<text x="24" y="28" class="title">{title}</text>
{body}
</svg>
"""


def label(x, y, text, style="small", anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{style}" text-anchor="{anchor}">{text}</text>'


def engine(results):
    """Bars of ours and the others', 30 qubits from a random state, logarithmic; None without measurements."""
    groups = []
    for name, title, google, quest, hyquas, *_ in ENGINE:
        ours = milliseconds(results.row(name, 30, "random"))
        if ours:
            groups.append((title, [("qsim (this project)", ours, "#4269d0"), ("HyQuas", hyquas, "#6cc5b0"),
                                   ("Google qsim", google, "#efb118"), ("QuEST 4.1", quest, "#ff725c")]))
    if not groups:
        return None
    left, width, bar, y = 190, 560, 13, 76
    scale = width / math.log10(20000)
    bottom = y + sum(bar * sum(ms is not None for _, ms, _ in bars) + 12 for _, bars in groups)
    parts = []
    for ms in (1, 10, 100, 1000, 10000):
        x = left + scale * math.log10(ms)
        parts.append(f'<line x1="{x:.1f}" y1="66" x2="{x:.1f}" y2="{bottom}" class="grid"/>')
        parts.append(label(x, bottom + 16, f"{ms} ms", anchor="middle"))
    for title, bars in groups:
        parts.append(label(left - 10, y + 2 * bar + 4, title, anchor="end"))
        for who, ms, colour in bars:
            if ms is None:
                continue
            length = scale * math.log10(ms)
            parts.append(f'<rect x="{left}" y="{y}" width="{length:.1f}" height="{bar - 2}" rx="2" fill="{colour}">'
                         f"<title>{who}: {number(ms)} ms</title></rect>")
            parts.append(label(left + length + 5, y + bar - 3, number(ms), "tiny"))
            y += bar
        y += 12
    for i, (who, _, colour) in enumerate(groups[0][1]):
        parts.append(f'<rect x="{left + 150 * i}" y="44" width="11" height="11" rx="2" fill="{colour}"/>')
        parts.append(label(left + 150 * i + 16, 54, who))
    return framed("30 qubits in double on one H200, from a random state (ms, logarithmic)",
                  "Time of circuits of 30 qubits on one H200", bottom + 34, "\n".join(parts))


def lines(title, name, series, x_label, unit):
    """Log-log lines of [(label, {x: y})]; both axes in powers, ticks at the x given and at decades of y."""
    left, right, top, height = 84, 590, 62, 300
    places = sorted({x for _, points in series for x in points})
    values = [y for _, points in series for y in points.values()]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    high = max(high, low + 1)
    span = math.log2(places[-1] / places[0]) or 1

    def x_of(x):
        return left + 16 + (right - left - 32) * math.log2(x / places[0]) / span

    def y_of(y):
        return top + height * (high - math.log10(y)) / (high - low)
    parts = []
    for power in range(low, high + 1):
        y = y_of(10.0 ** power)
        parts.append(f'<line x1="{left}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" class="grid"/>')
        parts.append(label(left - 8, y + 4, f"{10.0 ** power:g}{unit}", anchor="end"))
    for x in places:
        parts.append(label(x_of(x), top + height + 18, f"{x:g}", anchor="middle"))
    parts.append(label((left + right) / 2, top + height + 36, x_label, anchor="middle"))
    for i, (who, points) in enumerate(series):
        colour = COLOURS[i % len(COLOURS)]
        path = " ".join(f"{x_of(x):.1f},{y_of(y):.1f}" for x, y in sorted(points.items()))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for x, y in sorted(points.items()):
            parts.append(f'<circle cx="{x_of(x):.1f}" cy="{y_of(y):.1f}" r="4" fill="{colour}">'
                         f"<title>{who}: {number(y)}{unit} at {x:g}</title></circle>")
        parts.append(f'<rect x="{right + 20}" y="{top + 22 * i}" width="12" height="10" fill="{colour}"/>')
        parts.append(label(right + 38, top + 22 * i + 9, who))
    return framed(title, name, top + height + 50, "\n".join(parts))


def scaling(results):
    """Time from a random state against GPUs; None where nothing was measured on more than one."""
    series = []
    for name, title, *_ in ENGINE:
        times = {ranks: milliseconds(results.row(name, 30, "random", ranks=ranks)) for ranks in (1, 2, 4, 8)}
        points = {ranks: ms for ranks, ms in times.items() if ms}
        if len(points) > 1:
            series.append((title, points))
    if not series:
        return None
    return lines("30 qubits in double on H200s, from a random state (both axes logarithmic)",
                 "Time of circuits of 30 qubits against GPUs", series, "GPUs", " ms")


def headline(results):
    """Bars of how many times faster ours is than the fastest other simulator, logarithmic; None without measurements."""
    gpus, (qubits, cores) = peer_tables.on_gpus(results), peer_tables.on_cores(results)
    panels = [("one H200, 30 qubits", gpus[1], COLOURS[0]), ("two H200s", gpus[2], COLOURS[4]), ("four H200s", gpus[4], COLOURS[4]),
              (f"two cores, {qubits} qubits", cores, COLOURS[3])]
    panels = [panel for panel in panels if panel[1]]
    if not panels:
        return None
    gains = [theirs / mine for _, found, _ in panels for _, mine, theirs in found]
    low, high = min(0.5, min(gains)), max(100, *gains)
    left, width, bar, top = 190, 560, 15, 52
    scale = width / math.log10(high / low)

    def x_of(value):
        return left + scale * math.log10(value / low)
    parts, y = [], top + 6
    for title, found, colour in panels:
        parts.append(label(24, y + 11, title, "small"))
        y += 18
        for name, mine, theirs in found:
            begin, end = sorted((x_of(1), x_of(theirs / mine)))
            parts.append(label(left - 10, y + 10, name, "tiny", "end"))
            parts.append(f'<rect x="{begin:.1f}" y="{y}" width="{max(end - begin, 1):.1f}" height="{bar - 4}" rx="2" fill="{colour}">'
                         f"<title>{name}: {number(mine)} ms, fastest other {number(theirs)} ms</title></rect>")
            parts.append(label(max(end, x_of(1)) + 5, y + 10, peer_tables.times(theirs / mine), "tiny"))
            y += bar
        y += 8
    grid = []
    for value in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000):
        if low <= value <= high:
            x = x_of(value)
            grid.append(f'<line x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{y}" class="grid"/>')
            grid.append(label(x, y + 16, f"{value}x", anchor="middle"))
    return framed("Times the speed of the fastest other simulator, in double (logarithmic)",
                  "Speed beside the fastest other simulator", y + 34, "\n".join(grid + parts))


def gram(results):
    """How many times faster the GPU prepares and compares states than the CPU; None without both."""
    document = results.tables.get("gram")
    if not document:
        return None
    totals = {}
    for row in document["rows"]:
        totals.setdefault(row["qubits"], {})[row["device"]] = row["prepare_s"] + row["product_s"]
    pairs = {qubits: both for qubits, both in totals.items() if len(both) == 2 and both["cuda"] > 0}
    points = {qubits: both["cpu"] / both["cuda"] for qubits, both in pairs.items()}
    if not points:
        return None
    return lines(f"Gram matrix of {document['rows'][0]['states']} states: GPU against CPU",
                 "Speed-up of Gram matrices on a GPU", [("prepared and compared", points)], "qubits of a state", "x")


def all_charts(results):
    """File name -> drawing, of those whose figures were measured."""
    drawings = {"engine.svg": engine(results), "scaling.svg": scaling(results), "gram.svg": gram(results),
                "headline.svg": headline(results)}
    return {name: drawing for name, drawing in drawings.items() if drawing}
