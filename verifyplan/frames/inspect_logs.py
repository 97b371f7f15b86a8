"""Read the logs of Inspect AI, `.eval` and `.json`, without that package: their samples with all scores (rule E4)."""

from __future__ import annotations

import os
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

import fsspec
import msgspec
import pyarrow as pa
from pydantic_core import from_json

from verifyplan.errors import InputError, Problem

Address = str | os.PathLike[str]
Sample = dict[str, Any]

SUFFIXES = (".eval", ".json")
MAX_MEMBER_BYTES = 2 * 2**30
"""A part of a log that is larger is refused."""
_ZSTD = 93  # the number of this compression in zip files, which Python's zipfile cannot read before 3.14


class _Score(TypedDict, total=False):
    value: Any
    answer: Any
    explanation: Any
    metadata: Any


class _SampleScores(TypedDict, total=False):
    id: Any
    epoch: Any
    target: Any
    scores: dict[str, _Score] | None


_SCORED = msgspec.json.Decoder(list[_SampleScores])
_ANY = msgspec.json.Decoder()


@dataclass(frozen=True)
class InspectLog:
    """One log: what was evaluated, and its samples as JSON."""

    path: str
    spec: dict[str, Any]
    """What was evaluated: task, model, scorers, roles of models."""
    samples: list[Sample]
    """Each sample of each epoch: id, epoch, target, scores; texts may be cut to a thousand characters."""
    whole: Callable[[Sample], Sample]
    """Reads a sample again, uncut."""


def read_inspect_logs(paths: Address | Iterable[Address]) -> list[InspectLog]:
    """Return the logs at addresses: files, folders, globs or fsspec addresses.

    In folders and globs, `.json` files that are not logs are passed over. Raises InputError listing every address
    without logs and every file that is damaged or of another program.
    """
    addresses = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    logs: dict[str, InspectLog] = {}
    problems: list[Problem] = [] if addresses else [Problem("path", "names nothing", "name at least one log")]
    for address in [os.fspath(each) for each in addresses]:
        before = len(logs), len(problems)
        for system, path, named in _found(address, problems):
            try:
                log = _read_zip(system, path) if path.endswith(".eval") else _read_json(system, path, named)
                logs |= {path: log} if log is not None else {}
            except InputError as error:
                problems += error.problems
            except (OSError, EOFError, ValueError, zipfile.BadZipFile, zlib.error, pa.ArrowException) as error:
                fix = "write the log again, or leave it out; `inspect log recover` saves what can be read"
                problems.append(Problem(path, f"cannot be read ({error})", fix))
        if (len(logs), len(problems)) == before:
            problems.append(
                Problem(address, "holds no log of Inspect", "name an .eval or .json log, or a folder of them")
            )
    if problems:
        raise InputError(problems)
    return list(logs.values())


def _found(address: str, problems: list[Problem]) -> Iterator[tuple[Any, str, bool]]:
    """Yield the file system and path of each file at an address, and whether it was named itself."""
    try:
        system, path = fsspec.core.url_to_fs(address if "://" in address else str(Path(address).expanduser()))
        if system.isfile(path):
            yield system, path, True
            return
        hits = system.find(path) if system.isdir(path) else [hit for hit in system.glob(path) if system.isfile(hit)]
        if not hits and not system.exists(path):
            problems.append(Problem(address, "is not there", "name a file, a folder, a glob or an fsspec address"))
        yield from ((system, hit, False) for hit in sorted(hits) if hit.endswith(SUFFIXES))
    except (OSError, ValueError, ImportError) as error:
        problems.append(Problem(address, f"cannot be opened ({error})", "check the address and the rights"))


def _read_json(system: Any, path: str, named: bool) -> InspectLog | None:
    """Return the log of a JSON file; None where a file that nobody named is of something else."""
    content = from_json(data) if b'"eval"' in (data := system.cat_file(path)) or named else None
    if not isinstance(content, dict) or not isinstance(content.get("eval"), dict):
        if not named:
            return None
        fix = "name an .eval or .json file that Inspect wrote"
        raise InputError(Problem(path, "is not a log of Inspect: it has no 'eval'", fix))
    return _checked(
        InspectLog(path, content["eval"], _samples(path, content.get("samples") or []), lambda sample: sample)
    )


def _read_zip(system: Any, path: str) -> InspectLog:
    with system.open(path, "rb") as stream, zipfile.ZipFile(stream) as archive:
        members = {info.filename: info for info in archive.infolist()}
        journal = sorted(
            (name for name in members if name.startswith("_journal/summaries/")),
            key=lambda name: (len(name), name),
        )
        start = next((name for name in ("header.json", "_journal/start.json") if name in members), None)
        if start is None:
            fix = "name an .eval file that Inspect wrote"
            raise InputError(Problem(path, "is not a log of Inspect: it has neither header.json nor a journal", fix))
        spec = _member(stream, members[start], path).get("eval")
        parts = ["summaries.json"] if "summaries.json" in members else journal
        samples = [sample for name in parts for sample in _samples(path, _member(stream, members[name], path, _SCORED))]
    if not isinstance(spec, dict):
        raise InputError(Problem(path, f"is damaged: {start} has no 'eval'", "write the log again, or leave it out"))
    return _checked(InspectLog(path, spec, samples, partial(_whole_sample, system, path)))


def _whole_sample(system: Any, path: str, sample: Sample) -> Sample:
    with system.open(path, "rb") as stream, zipfile.ZipFile(stream) as archive:
        name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
        try:
            whole: Sample = _member(stream, archive.getinfo(name), path)
        except KeyError:
            fix = "write the log again, or leave it out"
            raise InputError(Problem(path, f"is damaged: {name} is missing", fix)) from None
        return whole


def _member(stream: Any, info: zipfile.ZipInfo, path: str, decoder: msgspec.json.Decoder[Any] = _ANY) -> Any:
    """Return the JSON of a part of a zip file, whose compression may be zstd."""
    if info.file_size > MAX_MEMBER_BYTES:
        fix = "name logs with fewer samples"
        raise InputError(Problem(path, f"{info.filename} has {info.file_size / 2**20:,.0f} MB", fix))
    stream.seek(info.header_offset)
    header = stream.read(30)
    stream.seek(int.from_bytes(header[26:28], "little") + int.from_bytes(header[28:30], "little"), os.SEEK_CUR)
    data = stream.read(info.compress_size)
    if info.compress_type == _ZSTD:
        data = bytes(pa.Codec("zstd").decompress(data, info.file_size))
    elif info.compress_type == zipfile.ZIP_DEFLATED:
        data = zlib.decompress(data, wbits=-zlib.MAX_WBITS, bufsize=max(info.file_size, 1))
    if zlib.crc32(data) != info.CRC:
        raise ValueError(f"the checksum of {info.filename} is wrong")
    try:
        return decoder.decode(data)
    except msgspec.MsgspecError:  # NaN, or samples of another form
        return from_json(data)


def _samples(path: str, samples: Any) -> list[Sample]:
    fine = isinstance(samples, list) and all(
        isinstance(each, dict) and {"id", "epoch"} <= each.keys() for each in samples
    )
    if not fine:
        raise InputError(
            Problem(path, "is damaged: a sample has no id or epoch", "write the log again, or leave it out")
        )
    return list(samples)


def _checked(log: InspectLog) -> InspectLog:
    """Return a log with the last record of each sample; InputError where there are none."""
    last = {(str(sample["id"]), sample["epoch"]): sample for sample in log.samples}
    if not last:
        fix = "wait until a sample has ended, or leave the log out"
        raise InputError(Problem(log.path, "has no samples", fix))
    return InspectLog(log.path, log.spec, list(last.values()), log.whole)
