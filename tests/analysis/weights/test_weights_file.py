"""The weights file: what is saved is loaded, digit by digit; every damage is told in words, all at once."""

from __future__ import annotations

import json
import os
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from verifyplan.analysis import weights
from verifyplan.errors import InputError, SettingsError
from verifyplan.protocol.records import DIMENSIONS
from verifyplan.protocol.weights_file import save
from verifyplan.rules.scoring import WEIGHTS, check_weights
from verifyplan.runs.plan.settings import read_weights

TEXTS = {name: str(weight) for name, weight in WEIGHTS.items()}


def written(tmp_path, content):
    path = tmp_path / "w.json"
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def problems(path):
    with pytest.raises(InputError, match="Fix: ") as raised:
        weights.load(path, DIMENSIONS)
    prefix = f"{path}: "
    return {one.place.removeprefix(prefix): one.message for one in raised.value.problems}


@given(st.lists(st.integers(0, 10**6), min_size=6, max_size=6).filter(sum), st.integers(1, 9))
def test_what_is_saved_is_loaded_and_saved_again_unchanged(tmp_path_factory, parts, places):
    folder = tmp_path_factory.mktemp("weights")
    exact = {name: Fraction(part, sum(parts)) for name, part in zip(DIMENSIONS, parts, strict=True)}
    given = weights.to_decimals(exact, places)
    path = weights.save(given, folder / "one.json")
    found = weights.load(path)
    assert found == given
    assert list(map(str, check_weights(found).values())) == list(map(str, map(Fraction, given.values())))
    assert weights.save(found, folder / "two.json").read_bytes() == path.read_bytes()
    assert sorted(one.name for one in folder.iterdir()) == ["one.json", "two.json"]


def test_the_file_is_as_documented(tmp_path):
    path = weights.save(dict(reversed(TEXTS.items())) | {"risk_coverage": "0.200"}, tmp_path / "new" / "w.json")
    assert json.loads(path.read_text()) == {"version": 1, "weights": TEXTS | {"risk_coverage": "0.200"}}
    assert list(json.loads(path.read_text())["weights"]) == list(DIMENSIONS)
    assert path.read_text().endswith("}\n")
    assert str(weights.load(path)["risk_coverage"]) == "0.200"


def test_weights_of_any_dimensions_are_saved_and_loaded(tmp_path):
    given = {"wit": Decimal("0.30"), "depth": "0.2", "größe": "0.5"}
    path = weights.save(given, tmp_path / "w.json")
    assert weights.load(path) == {name: Decimal(weight) for name, weight in given.items()}
    assert list(weights.load(path)) == list(given)
    assert list(weights.load(path, dimensions=["größe", "depth", "wit"])) == ["größe", "depth", "wit"]
    assert problems(path) == {"weights": "are of other dimensions: 'wit', 'depth', 'größe'"}
    assert weights.load(weights.save(TEXTS | {"beauty": "0"}, path))["beauty"] == 0
    assert problems(path) == {"weights.beauty": "is not a dimension"}


def test_decimals_are_never_written_with_an_exponent(tmp_path):
    small = dict.fromkeys(DIMENSIONS, Decimal(0)) | {"risk_coverage": Decimal("1E-20")}
    small["constraint_alignment"] = Decimal("0." + "9" * 20)
    text = weights.save(small, tmp_path / "w.json").read_text()
    assert '"risk_coverage": "0.00000000000000000001"' in text
    assert weights.load(tmp_path / "w.json") == small


def test_a_sum_that_is_wrong_in_the_40th_digit_is_wrong(tmp_path):
    near = TEXTS | {"risk_coverage": "0.2" + "0" * 39 + "1"}
    found = problems(written(tmp_path, {"version": 1, "weights": near}))
    assert found == {"weights": f"sum to 1.00{'0' * 38}1"}


def test_a_byte_order_mark_is_no_harm(tmp_path):
    path = written(tmp_path, b"\xef\xbb\xbf" + json.dumps({"weights": TEXTS, "version": 1}).encode())
    assert weights.load(path) == WEIGHTS


@pytest.mark.parametrize(
    ("content", "place", "message"),
    [
        ({"weights": TEXTS}, "version", "is missing"),
        ({"version": 2, "weights": TEXTS}, "version", "2 is unknown"),
        ({"version": True, "weights": TEXTS}, "version", "True is unknown"),
        ({"version": 1.0, "weights": TEXTS}, "version", "1.0 is unknown"),
        ({"version": "1", "weights": TEXTS}, "version", "'1' is unknown"),
        ({"version": 1}, "weights", "are missing"),
        ({"version": 1, "weights": [0.25]}, "weights", "are [0.25], not an object"),
        ({"version": 1, "weights": TEXTS, "Weights": {}}, "'Weights'", "is unknown (did you mean 'weights'?)"),
        ({"version": 1, "weights": TEXTS | {"risk_coverage": 0.2}}, "weights.risk_coverage", "0.2 must be text"),
        ({"version": 1, "weights": TEXTS | {"risk_coverage": None}}, "weights.risk_coverage", "None must be text"),
        (
            {"version": 1, "weights": TEXTS | {"risk_coverage": "-0.2"}},
            "weights.risk_coverage",
            "'-0.2' is not a decimal",
        ),
        (
            {"version": 1, "weights": TEXTS | {"risk_coverage": "NaN"}},
            "weights.risk_coverage",
            "'NaN' is not a decimal",
        ),
        (
            {"version": 1, "weights": TEXTS | {"risk_coverage": "2e-1"}},
            "weights.risk_coverage",
            "'2e-1' is not a decimal",
        ),
        (
            {"version": 1, "weights": TEXTS | {"risk_coverage": "1/5"}},
            "weights.risk_coverage",
            "'1/5' is not a decimal",
        ),
        (
            {"version": 1, "weights": TEXTS | {"risk_coverage": "\u0660.\u0662"}},
            "weights.risk_coverage",
            "is not a decimal",
        ),
        ({"version": 1, "weights": TEXTS | {"risk_coverage": "0.2\n"}}, "weights.risk_coverage", "is not a decimal"),
        ({"version": 1, "weights": TEXTS | {"risk_coverage": "0" * 500}}, "weights.risk_coverage", "is not a decimal"),
        ({"version": 1, "weights": TEXTS | {"risk_coverage": "0.3"}}, "weights", "sum to 1.10"),
        ({"version": 1, "weights": TEXTS, "ranges": None}, "ranges", "are not those of the dimensions: None"),
        ({"version": 1, "weights": TEXTS, "ranges": {"wit": [0, 1]}}, "ranges", "are not those of the dimensions"),
        (
            {"version": 1, "weights": TEXTS, "ranges": dict.fromkeys(TEXTS, (1, "10"))},
            "ranges",
            "are not those of the dimensions",
        ),
        (
            {"version": 1, "weights": TEXTS, "ranges": dict.fromkeys(TEXTS, (10, 1))},
            "ranges",
            "are not those of the dimensions",
        ),
        ([1], "", "holds [1], not an object"),
        (b"", "line 1, column 1", "is not JSON"),
        (b"{\n'a'}", "line 2, column 1", "is not JSON"),
        (b'{"version": 1, "weights": {"a": "0", "a": "1"}}', "/weights", "the key 'a' occurs twice"),
        (b'{"version": 1, "weights": {"a": NaN}}', "/weights/a", "NaN is not a JSON number"),
        (b"[" * 60_000, "", "is nested without end"),
        (b'{"version": "\xff"}', "line 1", "byte 0xff is not UTF-8"),
        (b"\x00\x01", "line 1, column 1", "is not JSON"),
        (b" " * 70_000, "", "is larger than 64 KiB"),
    ],
)
def test_a_damaged_file_is_told_in_words(tmp_path, content, place, message):
    path = written(tmp_path, content)
    [(where, told)] = problems(path).items()
    assert where.removeprefix(str(path)) == place
    assert told.startswith(message) or message in told
    assert len(told) < 200


def test_all_problems_are_told_at_once(tmp_path):
    beauty = {name: text for name, text in TEXTS.items() if name != "risk_coverage"} | {"risk_covrage": "0.2"}
    content = {"version": 3, "weights": beauty | {"unknowns_coverage": 0.15}, "by": "ann"}
    assert problems(written(tmp_path, content)) == {
        "'by'": "is unknown",
        "version": "3 is unknown",
        "weights.risk_covrage": "is not a dimension (did you mean 'risk_coverage'?)",
        "weights.risk_coverage": "is missing",
        "weights.unknowns_coverage": "0.15 must be text",
    }


def test_what_is_no_file_is_told_in_words(tmp_path):
    assert list(problems(tmp_path / "none").values()) == ["does not exist"]
    assert list(problems(tmp_path).values()) == ["is a folder"]
    assert list(problems("a\0b").items()) == [("'a\\x00b'", "does not exist")]
    assert next(iter(problems("a" * 5000).values())).startswith(("cannot be read", "does not exist"))
    assert problems(3) == {"path": "is a int, not a path"}


@pytest.mark.skipif(os.name != "posix", reason="links and pipes as here are of POSIX systems")
def test_links_in_a_circle_and_pipes_end(tmp_path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    os.mkfifo(tmp_path / "pipe")
    assert list(problems(tmp_path / "loop").values()) == ["does not exist"]
    assert list(problems(tmp_path / "pipe").values()) == ["is not a file"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (TEXTS | {"risk_coverage": Decimal("NaN")}, r"Decimal\('NaN'\) must be text"),
        (TEXTS | {"risk_coverage": Decimal("-0.2")}, r"Decimal\('-0.2'\) must be text"),
        (TEXTS | {"risk_coverage": Decimal("1e-100000")}, r"Decimal\('1E-100000'\) must be text"),
        (TEXTS | {"risk_coverage": "0.3"}, "weights: sum to 1.10"),
        ({}, "weights: must not be empty"),
        ({"wit": "0.5", "depth": "0.4"}, "weights: sum to 0.9"),
        ([1], "weights: are a list, not a mapping"),
    ],
)
def test_what_cannot_be_saved_leaves_the_file_as_it_was(tmp_path, given, message):
    path = weights.save(TEXTS, tmp_path / "w.json")
    before = path.read_bytes()
    with pytest.raises(SettingsError, match=message):
        weights.save(given, path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_takes_no_file_is_told_in_words(tmp_path):
    for path in (tmp_path, weights.save(TEXTS, tmp_path / "w.json") / "below.json", "a\0b"):
        with pytest.raises(InputError, match="cannot be written"):
            weights.save(TEXTS, path)
    with pytest.raises(InputError, match="is a int, not a path"):
        weights.save(TEXTS, 3)
    assert [one.name for one in tmp_path.iterdir()] == ["w.json"]


@pytest.mark.parametrize(
    "given",
    [
        {"wit": 0.4, "depth": 0.6},
        {"wit": Fraction(2, 5), "depth": "0.6"},
        pd.Series({"wit": 0.4, "depth": 0.6}),
        pd.Series({"wit": "0.4", "depth": "0.6"}),
    ],
)
def test_what_apply_takes_can_be_saved(given, tmp_path):
    scores = pd.DataFrame({"wit": [7, 8], "depth": [4, 2]}, index=["a", "b"])
    saved = weights.load(weights.save(given, tmp_path / "w.json"))
    assert saved == {"wit": Decimal("0.4"), "depth": Decimal("0.6")}
    assert weights.apply(scores, saved).equals(weights.apply(scores, given))


def test_thirds_are_saved_as_decimals_with_a_sum_of_one_and_what_is_no_weight_is_refused(tmp_path):
    thirds = weights.load(weights.save(dict.fromkeys("abc", Fraction(1, 3)), tmp_path / "w.json"))
    assert sum(thirds.values()) == 1
    assert max(thirds.values()) - min(thirds.values()) <= Decimal("1e-10")
    with pytest.raises(SettingsError, match=r"weights: sum to 0\.9"):
        weights.save({"wit": 0.4, "depth": 0.5}, tmp_path / "other.json")
    assert not (tmp_path / "other.json").exists()


def test_a_fit_of_dimensions_of_different_ranges_is_saved_with_them_and_ranks_plans_as_before(tmp_path):
    draws = np.random.default_rng(4)
    table = pd.DataFrame({"wit": draws.integers(1, 11, 30), "percent": draws.integers(0, 101, 30)})
    ranges = {"wit": (0, 10), "percent": (0, 100)}
    fit = weights.fit(table, 0.5 * table["wit"] + 0.05 * table["percent"], resamples=5, ranges=ranges)
    path = weights.save(fit, tmp_path / "w.json")
    assert json.loads(path.read_text())["ranges"] == {"wit": [0, 10], "percent": [0, 100]}
    loaded = weights.load(path)
    assert loaded == fit.exact()
    pd.testing.assert_frame_equal(weights.apply(table, loaded), weights.apply(table, fit))
    assert not weights.apply(table, fit.exact())["rank"].equals(weights.apply(table, fit)["rank"])
    assert weights.save(loaded, tmp_path / "again.json").read_bytes() == path.read_bytes()
    assert list(weights.load(path, ["percent", "wit"]).ranges) == ["percent", "wit"]


def test_a_fit_of_dimensions_of_one_range_is_loaded_as_a_fit_and_verify_takes_it(tmp_path):
    table = pd.DataFrame({name: np.random.default_rng(i).permutation(10) for i, name in enumerate(DIMENSIONS)})
    fit = weights.fit(table, table.sum(axis=1), resamples=5, ranges=dict.fromkeys(table, (0, 10)))
    path = weights.save(fit, tmp_path / "w.json")
    wider = table.assign(overall=range(10))
    expected = weights.apply(wider, fit)
    for each in (path, str(path), weights.load(path), weights.load(path).copy(), weights.load(path) | {}):
        pd.testing.assert_frame_equal(weights.apply(wider, each), expected)
    assert weights.sensitivity(wider, path)["base_rank"].head(10).equals(expected["rank"])
    assert read_weights(path) == read_weights(fit.exact())


def test_copies_of_loaded_weights_keep_the_ranges_that_they_have(tmp_path):
    ranges = {"wit": (0, 10), "percent": (10, 90)}
    loaded = weights.load(save({"wit": "0.4", "percent": "0.6"}, tmp_path / "w.json", ranges))
    changed = {"wit": Decimal("0.6"), "percent": Decimal("0.4")}
    assert loaded.copy().ranges == loaded.ranges == (loaded | changed).ranges == ranges
    assert loaded | changed == changed
    assert type(loaded | {"depth": Decimal(0)}) is dict


def test_a_path_that_holds_no_weights_is_told_as_by_load_and_equal_is_no_path(tmp_path, monkeypatch):
    scores = pd.DataFrame({"wit": [7, 8], "depth": [4, 2]})
    with pytest.raises(InputError, match=r"none\.json: does not exist"):
        weights.apply(scores, str(tmp_path / "none.json"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "equal").write_text("no weights")
    assert weights.apply(scores, "equal")["score"].tolist() == [5.5, 5.0]


@pytest.mark.parametrize(
    ("percent", "said"),
    [([7, 5], ["such as 5, lie far from the range of the fit, 10 to 90"]), ([50, 200], ["such as 200"]),
     ([50, 95], []), ([8, 20], []), ([None, 20], [])],
)  # fmt: skip
def test_scores_of_another_scale_than_the_fit_warn(tmp_path, capsys, percent, said):
    ranges = {"wit": (0, 10), "percent": (10, 90)}
    path = save({"wit": "0.4", "percent": "0.6"}, tmp_path / "w.json", ranges)
    weights.apply(pd.DataFrame({"wit": [3, 4], "percent": percent}), path)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(said)
    assert all(part in line for part, line in zip(said, lines, strict=True))
