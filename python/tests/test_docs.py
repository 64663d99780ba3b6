import ast
import doctest
import re
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


GATES = {name for name, *_ in qsim_hpc.gates()}


def public():
    """(name, value, whether it is called) of all that users see: names of the package, and their methods and properties."""
    for name in qsim_hpc.__all__:
        if name == "__version__":
            continue
        value = getattr(qsim_hpc, name)
        yield name, value, callable(value) and not isinstance(value, type)
        if isinstance(value, type) and not issubclass(value, BaseException):
            for own, inner in vars(value).items():
                if not own.startswith("_"):
                    inner = getattr(inner, "__func__", inner)
                    yield f"{name}.{own}", inner, callable(inner)


def text_of(value):
    """What a doc string says, without the signatures that the compiled module puts before it."""
    return re.sub(r"^(\w+\(.*\) -> .*\n*)+", "", value.__doc__ or "", flags=re.MULTILINE).strip()


def test_everything_public_is_described():
    seen = {name for name, *_ in public()}
    assert {"run", "run_batch", "info", "Circuit.rzz", "State.sample", "Session.run", "Result.counts"} <= seen
    for name, value, _ in public():
        if name.startswith("Result.") and not callable(value) or name.startswith(("Operation.", "Condition.")):
            continue  # fields: the class's own text has them
        assert len(text_of(value)) > 8, name


def test_calls_with_arguments_say_what_they_raise():
    without = {"Circuit.copy", "Result.to_dict", "Result.from_dict", "gates", "info"}
    for name, value, called in public():
        arguments = [one for one in re.findall(r"^\w+\((.*)\)", (value.__doc__ or ""), flags=re.MULTILINE) if one != "self"]
        if not called or name in without or not (arguments or hasattr(value, "__code__")) or name.split(".")[-1] in GATES:
            continue
        if hasattr(value, "__code__") and value.__code__.co_argcount + value.__code__.co_kwonlyargcount < 2:
            continue
        assert re.search(r"[A-Z]\w+Error\b", text_of(value)), f"{name}: no error"


def test_arrays_have_shapes_and_angles_units():
    arrays = []
    for name, value, called in public():
        document = value.__doc__ or ""
        if called and "numpy.ndarray" in document:
            arrays.append(name)
            assert re.search(r"[Ss]hape", text_of(value)), f"{name}: no shape"
        if re.search(r"\b(angle|angles|params|theta)\b: ", document) and name.split(".")[0] in ("Circuit", "Session", "State"):
            assert "radians" in text_of(value) or name in ("State.run", "Session.run"), f"{name}: no unit"
    assert {"State.marginals", "State.probabilities", "State.expectations", "State.amplitudes"} <= set(arrays)


def test_stubs():
    folder = Path(qsim_hpc.__file__).parent
    stub = folder / "_core.pyi"
    if stub.exists():  # an installed package
        text = stub.read_text()
        assert "def rzz(self, angle: float, qubit1: int, qubit2: int, *, controls: object | None = None) -> Circuit:" in text
        assert (folder / "py.typed").exists()
