"""Every notebook of docs/examples/notebooks runs from its first cell to its last; what they claim they assert themselves."""

import json
import sys
import time
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "examples" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="the documents are not here")


def test_the_notebooks_are_those_that_the_documents_name():
    names = {one.stem for one in NOTEBOOKS}
    assert names == {"first_circuit", "parameter_scan", "kitchen_sinks", "fourier", "teleportation", "distributed", "tour"}
    page = (FOLDER.parents[1] / "python.md").read_text(encoding="utf-8")
    for name in names:
        assert f"(examples/notebooks/{name}.ipynb)" in page, name


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_holds_no_outputs_and_checks_itself(file):
    book = json.loads(file.read_text(encoding="utf-8"))
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert code and all(not cell["outputs"] and cell["execution_count"] is None for cell in code)
    assert any("assert " in "".join(cell["source"]) for cell in code)
    assert "".join(book["cells"][0]["source"]).startswith("# ")


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(file, tmp_path, monkeypatch):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    kernels = pytest.importorskip("jupyter_client.kernelspec")
    pytest.importorskip("ipykernel")
    if file.stem == "parameter_scan":
        pytest.importorskip("scipy")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    # The kernel is this interpreter, whichever kernels its user has set up.
    (tmp_path / "kernels" / "this").mkdir(parents=True)
    (tmp_path / "kernels" / "this" / "kernel.json").write_text(json.dumps({
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "this interpreter", "language": "python",
    }))
    specs = kernels.KernelSpecManager(kernel_dirs=[str(tmp_path / "kernels")], ensure_native_kernel=False)
    manager = pytest.importorskip("jupyter_client.manager").AsyncKernelManager(kernel_name="this", kernel_spec_manager=specs)
    book = nbformat.read(file, as_version=4)
    begin = time.perf_counter()
    nbclient.NotebookClient(book, km=manager, timeout=120, resources={"metadata": {"path": str(FOLDER)}}).execute()
    print(f"{file.stem}: {time.perf_counter() - begin:.1f} s")
    texts = [output for cell in book.cells for output in cell.get("outputs", [])]
    assert texts and not any(one.output_type == "error" for one in texts)
    pictures = [one for one in texts if {"image/svg+xml", "text/html"} & set(one.get("data", {}))]
    assert pictures or file.stem in ("parameter_scan", "fourier"), "no picture was shown"
