"""Packages and commands, with the lines on which they stand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from repository.small_repositories import walked

from verifyplan.agents.repository.commands import _READERS as COMMAND_READERS
from verifyplan.agents.repository.manifests.packages import _READERS as PACKAGE_READERS
from verifyplan.agents.repository.manifests.text import DamagedError, Manifest

REQUIREMENTS = """\
# pinned
requests==2.31.0  # why
-r base.txt
Typing_Extensions[all] >= 4 ; python_version < "3.12"
-e git+https://example.com/x.git#egg=local-thing
cryptography==42.0 \\
    --hash=sha256:abc
https://example.com/y.whl
direct @ https://example.com/z.whl
"""
PYPROJECT = """\
[build-system]
requires = ["hatchling>=1"]

[project]
name = "demo"
dependencies = [
  "foobar>=1",  # not foo
  "foo",
  'quoted[extra]~=2.0',
]

[project.optional-dependencies]
dev = ["pytest>=8", "ruff"]
"docs.all" = [
  "foo",
]

[dependency-groups]
lint = ["mypy", {include-group = "dev"}]

[project.scripts]
demo = "demo:main"
"demo-two" = "demo:two"

[tool.poetry.dependencies]
python = "^3.11"
httpx = {version = "^0.27", extras = ["http2"]}

[tool.poetry.group.test.dependencies]
hypothesis = "^6"

[tool.poe.tasks]
check = "ruff check"
[tool.poe.tasks.all]
sequence = ["check"]
"""
SETUP_CFG = """\
[metadata]
name = demo
[options]
packages = find:
install_requires =
    numpy>=1.26
    # a comment
    pandas
python_requires = >=3.11
[options.extras_require]
test =
    pytest
"""
PACKAGE_JSON = """\
{
  "name": "demo",
  "scripts": { "build": "tsc", "test": "jest" },
  "devDependencies": {
    "jest": "^29",
    "react": "^17"
  },
  "dependencies": {
    "react": "^18",
    "@scope/pkg": "1.0.0"
  },
  "peerDependencies": { "vue": "*" }
}
"""
CARGO = """\
[package]
name = "demo"
[dependencies]
serde = { version = "1", features = ["derive"] }
tokio = "1"
renamed = { package = "real-name", version = "2" }
[dependencies.clap]
version = "4"
[dev-dependencies]
tokio = "1.2"
[target.'cfg(unix)'.dependencies]
nix = "0.27"
[workspace.dependencies]
anyhow = "1"
"""
GO_MOD = """\
module example.com/demo

go 1.22

require github.com/pkg/errors v0.9.1

require (
\tgolang.org/x/sync v0.6.0 // indirect
\tgopkg.in/yaml.v3 v3.0.1
)

replace (
\texample.com/a v1.0.0 => ../a
)
"""
POM = """\
<project>
  <groupId>own</groupId>
  <dependencies>
    <dependency>
      <groupId>junit</groupId>
      <artifactId>junit</artifactId>
      <version>4.13</version>
    </dependency>
    <dependency><groupId>g</groupId><artifactId>a</artifactId>
      <exclusions><exclusion><artifactId>no</artifactId></exclusion></exclusions></dependency>
  </dependencies>
</project>
"""
GRADLE = """\
plugins { id 'java' }
dependencies {
    implementation 'com.google.guava:guava:33.0'
    testImplementation("org.junit.jupiter:junit-jupiter")
    api platform('a.b:bom:1')
    implementation project(':core')
}
"""
ENVIRONMENT = """\
name: demo
channels:
  - conda-forge
dependencies:
  - python=3.11
  - conda-forge::numpy >=1.26  # fast
  - pip
  - pip:
      - requests>=2
      - -r requirements.txt
  - zlib
prefix: x
"""
FILES = {
    "requirements-dev.txt": REQUIREMENTS,
    "sub/pyproject.toml": PYPROJECT,
    "setup.cfg": SETUP_CFG,
    "web/package.json": PACKAGE_JSON,
    "Cargo.toml": CARGO,
    "go.mod": GO_MOD,
    "pom.xml": POM,
    "build.gradle": GRADLE,
    "environment.yml": ENVIRONMENT,
}
EXPECTED = {
    "requirements-dev.txt": [
        ("requests", "==2.31.0", 2),
        ("Typing_Extensions", ">= 4", 4),
        ("local-thing", "", 5),
        ("cryptography", "==42.0", 6),
        ("direct", "", 9),
    ],
    "sub/pyproject.toml": [
        ("hatchling", ">=1", 2),
        ("foobar", ">=1", 7),
        ("foo", "", 8),
        ("quoted", "~=2.0", 9),
        ("pytest", ">=8", 13),
        ("ruff", "", 13),
        ("foo", "", 15),
        ("mypy", "", 19),
        ("httpx", "^0.27", 27),
        ("hypothesis", "^6", 30),
    ],
    "setup.cfg": [("numpy", ">=1.26", 6), ("pandas", "", 8), ("pytest", "", 12)],
    "web/package.json": [
        ("jest", "^29", 5),
        ("react", "^17", 6),
        ("react", "^18", 9),
        ("@scope/pkg", "1.0.0", 10),
        ("vue", "*", 12),
    ],
    "Cargo.toml": [
        ("serde", "1", 4),
        ("tokio", "1", 5),
        ("real-name", "2", 6),
        ("clap", "4", 7),
        ("tokio", "1.2", 10),
        ("nix", "0.27", 12),
        ("anyhow", "1", 14),
    ],
    "go.mod": [
        ("github.com/pkg/errors", "v0.9.1", 5),
        ("golang.org/x/sync", "v0.6.0", 8),
        ("gopkg.in/yaml.v3", "v3.0.1", 9),
    ],
    "pom.xml": [("junit:junit", "4.13", 6), ("g:a", "", 9)],
    "build.gradle": [
        ("com.google.guava:guava", "33.0", 3),
        ("org.junit.jupiter:junit-jupiter", "", 4),
        ("a.b:bom", "1", 5),
    ],
    "environment.yml": [
        ("python", "=3.11", 5),
        ("numpy", ">=1.26", 6),
        ("pip", "", 7),
        ("requests", ">=2", 9),
        ("zlib", "", 11),
    ],
}
ECOSYSTEMS = {
    "go.mod": "go",
    "pom.xml": "maven",
    "build.gradle": "maven",
    "Cargo.toml": "crates",
    "web/package.json": "npm",
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    return walked(tmp_path_factory.mktemp("manifests"), FILES)


@pytest.mark.parametrize("path", EXPECTED)
def test_packages_have_name_version_and_line(repository, path):
    found = [(one.name, one.version, one.line) for one in repository.packages() if one.path == path]
    assert found == EXPECTED[path]


@pytest.mark.parametrize("path", EXPECTED)
def test_packages_stand_on_the_lines_that_they_say(repository, path):
    lines = repository.lines(path)
    for one in repository.packages():
        if one.path == path and one.name != "real-name":
            assert one.name.rpartition(":")[2] in lines[one.line - 1]


def test_packages_have_an_ecosystem_and_a_key(repository):
    for one in repository.packages():
        conda = one.path == "environment.yml" and one.name != "requests"
        assert one.ecosystem == ("conda" if conda else ECOSYSTEMS.get(one.path, "pypi"))
    assert "typing-extensions" in {one.key for one in repository.packages()}
    assert "@scope/pkg" in {one.key for one in repository.packages()}


def test_commands_have_runner_and_line(tmp_path):
    makefile = (
        ".PHONY: all\nVAR := x\nall: build test\n\t@echo a: b\nbuild test::\n\tx\n%.o: %.c\n$(OUT): y\nurl = http://x\n"
    )
    just = "set shell := ['sh']\nalias b := build\n# c\n@build target='x': deps\n  echo a: b\n_hidden:\nvar := 'x'\n"
    repository = walked(
        tmp_path,
        {"Makefile": makefile, "justfile": just, "package.json": PACKAGE_JSON, "pyproject.toml": PYPROJECT},
    )
    found = {}
    for one in repository.commands():
        found.setdefault((one.path, one.runner), []).append((one.name, one.line))
    assert found == {
        ("Makefile", "make"): [("all", 3), ("build", 5), ("test", 5)],
        ("justfile", "just"): [("build", 4), ("_hidden", 6)],
        ("package.json", "npm"): [("build", 3), ("test", 3)],
        ("pyproject.toml", "script"): [("demo", 22), ("demo-two", 23)],
        ("pyproject.toml", "poe"): [("check", 33), ("all", 34)],
    }


def test_damaged_manifests_are_told_and_the_others_read(tmp_path):
    repository = walked(
        tmp_path,
        {
            "pyproject.toml": "[project\n",
            "a/package.json": "{",
            "b/package.json": "[" * 100_000,
            "c/package.json": "[1]",
            "d/package.json": '{"dependencies": "none", "scripts": [1]}',
            "Cargo.toml": "x = " + "[" * 5_000,
            "requirements.txt": "x" * 500_001,
            "go.mod": "require a.b/c v1\n",
        },
    )
    assert [one.name for one in repository.packages()] == ["a.b/c"]
    assert repository.commands() == []
    assert {one.path: one.reason for one in repository.skipped} == {
        "pyproject.toml": "is no valid TOML",
        "a/package.json": "is no valid JSON",
        "b/package.json": "is no valid JSON",
        "Cargo.toml": "is no valid TOML",
        "requirements.txt": "is larger than 500,000 characters, too large for a manifest",
    }


def test_a_manifest_made_to_be_slow_is_not(tmp_path):
    """Each name is written so that a search for it finds nothing: 20,000 names in 20,000 lines."""
    names = ",\n".join(f'"\\u0061{number}": "1"' for number in range(20_000))
    repository = walked(
        tmp_path, {"package.json": f'{{"dependencies": {{\n{names}\n}}}}', "pom.xml": "<dependency>" * 30_000}
    )
    assert len(repository.packages()) == 20_000


READERS = [*PACKAGE_READERS, *COMMAND_READERS]
PIECES = r"""[project] dependencies = [ ] "a>=1" ' " { } : - require ( ) pip: <dependency> <artifactId>x</artifactId>
scripts # \ -e @ 😀 . , [tool.poetry.dependencies] [options] install_requires"""


@given(
    st.one_of(st.text(), st.lists(st.sampled_from([*PIECES.split(), " ", "\n", "\t", "\0"])).map("".join)),
    st.sampled_from(READERS),
)
def test_no_text_breaks_a_manifest_reader(text, reader):
    _, read = reader
    manifest = Manifest("m", text.encode("utf-8", "surrogatepass").decode("utf-8", "replace"))
    try:
        found = list(read(manifest))
    except DamagedError:
        return
    for one in found:
        assert 1 <= one.line <= len(manifest.lines)
        assert one.name
