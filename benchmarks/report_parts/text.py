"""Numbers, cells and tables as the page writes them."""

UNMEASURED = "Not measured yet."


def milliseconds(row):
    return row["simulate_s"]["median"] * 1e3 if row and row["status"] == "ok" else None


def total_seconds(row):
    """State and the values that belong to the workload."""
    if not row or row["status"] != "ok":
        return None
    return row["simulate_s"]["median"] + (row["read_out_s"]["median"] if row["read_out_s"] else 0)


def number(value):
    if value is None:
        return "-"
    if value == 0 or value >= 100:
        return f"{value:.0f}"
    return f"{value:.3g}"


def percent(value):
    return "-" if value is None else f"{100 * value:.0f} %"


def ratio(measured, target):
    if measured is None or target is None:
        return "-"
    text = f"{measured / target:.2f}"
    return text if measured <= target else f"**{text}**"


def shown(row, value):
    """A time, or why there is none."""
    if row and row["status"] == "failed":
        return "FAILED"
    return number(value)


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "|".join(["---"] + ["---:"] * (len(header) - 1)) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def source(results):
    """Machine, date and commit of the documents whose rows a table shows."""
    seen = []
    for document in results.sources():
        environment = document["environment"]
        text = f"{document['machine']}; {document['date'][:10]}; commit {environment['commit'] or 'unknown'}"
        if environment["cuda"]:
            text += f"; CUDA {environment['cuda']}, driver {environment['driver'] or 'unknown'}"
        if text not in seen:
            seen.append(text)
    return "\n".join(f"Measured on {text}." for text in seen) + "\n\n" if seen else UNMEASURED


def measured(document):
    """Where a qsim.table/1 document is from."""
    text = f"Measured on {document['machine']}; {document['date'][:10]}"
    if document.get("driver"):
        text += f"; driver CUDA {document['driver']}"
    if document.get("commit"):
        text += f"; commit {document['commit']}"
    return text + ".\n\n"


def cell(row, name="ms"):
    """A figure of a row of a qsim.table/1 document, unless its check failed."""
    return number(row[name]) if row.get("equal", True) else "WRONG"
