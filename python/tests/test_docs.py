import ast
import doctest
import re
import subprocess
import sys
from pathlib import Path

import pytest

import qsim_hpc

TOP = Path(__file__).parents[2]


PAGES = [page for page in sorted((TOP / "docs").rglob("*.md")) if ">>> " in page.read_text(encoding="utf-8")]


@pytest.mark.skipif(not (TOP / "docs").exists(), reason="the documents are not here")
def test_the_documents_have_examples():
    assert {"guide", "python", "tutorial"} <= {page.stem for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_examples_of_the_documents(page, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    failed, tried = doctest.testfile(str(page), module_relative=False,
                                     optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert tried > 4 and failed == 0


@pytest.mark.skipif(not (TOP / "README.md").exists(), reason="the documents are not here")
def test_the_example_of_the_readme(capsys):
    programs = re.findall(r"```python\n(.*?)```", (TOP / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    assert len(programs) == 1
    exec(programs[0], {})
    counts = ast.literal_eval(capsys.readouterr().out)
    assert set(counts) == {"00", "11"} and sum(counts.values()) == 1000


def test_the_examples_of_the_docstrings():
    failed, tried = doctest.testmod(qsim_hpc)
    assert tried > 1 and failed == 0


def test_the_version_is_the_projects():
    text = (TOP / "CMakeLists.txt").read_text()
    assert f"project(qsim VERSION {qsim_hpc.__version__} " in text


def test_names_and_stubs():
    folder = Path(qsim_hpc.__file__).parent
    for name in qsim_hpc.__all__:
        assert getattr(qsim_hpc, name).__doc__ or name == "__version__", name
    for name in ("Circuit", "State", "Session", "Program"):
        for method, value in vars(getattr(qsim_hpc, name)).items():
            if not method.startswith("_"):
                assert value.__doc__, f"{name}.{method}"
    stub = folder / "_core.pyi"
    if stub.exists():  # an installed package
        text = stub.read_text()
        assert "def rzz(self, angle: float, qubit1: int, qubit2: int, *, controls: object | None = None) -> Circuit:" in text
        assert (folder / "py.typed").exists()


@pytest.mark.parametrize("file", sorted((TOP / "python" / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_the_example_programs(file):
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and done.stdout, done.stderr
