"""Who imports a file, language by language."""

import pytest
from repository.small_repositories import walked

PYTHON = {
    "src/pkg/__init__.py": "",
    "src/pkg/core.py": "x = 1\n",
    "src/pkg/sub/__init__.py": "",
    "src/pkg/sub/leaf.py": "from ..core import x\n",
    "src/pkg/other.py": "import os\n\nfrom . import (\n    core as c,\n    sub,\n)\n",
    "src/pkg/uses.py": "def f():\n    import pkg.core, sys\n",
    "tests/test_core.py": "from pkg import core\nfrom pkg.core import x\n",
    "tests/test_pkg.py": "from pkg import VERSION\n",
    "tests/not.py": "import core\nfrom other.core import x\n# from pkg import core\n",
    "scripts/tool.py": "from helper import f\n",
    "scripts/helper.py": "",
}
SCRIPT = {
    "src/util/index.ts": "",
    "src/util/date.ts": "",
    "src/app.tsx": "import React from 'react'\nimport { d } from './util/date'\nexport * from './util'\n",
    "src/deep/page.js": "const d = require('../util/date.js')\n",
    "src/deep/lazy.ts": "const p = await import('@/util/date')\n",
    "src/deep/type.ts": "import type { D } from 'src/util/date'\n",
    "src/util/near.ts": "import x from '.'\n",
    "src/deep/no.ts": "import d from './date'\nimport e from 'date'\n",
}
GO = {
    "go.mod": "module example.com/app\n",
    "store/a.go": "package store\n",
    "store/b.go": "package store\n",
    "main.go": 'package main\n\nimport (\n\t"fmt"\n\ts "example.com/app/store"\n)\n',
    "no.go": 'package main\nimport "other.com/app/store"\n',
}
RUST = {
    "Cargo.toml": '[package]\nname = "my-app"\n',
    "src/lib.rs": "pub mod store;\nmod net;\n",
    "src/store.rs": "pub struct S;\n",
    "src/store/disk.rs": "use super::S;\n",
    "src/net/mod.rs": "use crate::{\n    store::{S, disk::Disk as D},\n};\n",
    "src/net/deep.rs": "use super::super::store::*;\n",
    "tests/all.rs": "use my_app::store::S;\n",
    "src/no.rs": "use other::store::S;\nuse crate::store2::S;\n",
}
JAVA = {
    "src/a/Store.java": "package a;\npublic class Store {}\n",
    "src/a/Near.java": "package a;\nclass Near {\n  Store s;\n}\n",
    "src/a/Alone.java": "package a;\nclass Alone {}\n",
    "src/b/One.java": "package b;\nimport a.Store;\n",
    "src/b/Star.java": "package b;\nimport a.*;\nclass Star { Store s; }\n",
    "src/b/Static.java": "package b;\nimport static a.Store.open;\n",
    "src/b/No.java": "package b;\nimport c.Store;\n",
    "src/b/Other.java": "package b;\nimport a.*;\n",
}


@pytest.mark.parametrize(
    ("files", "path", "expected"),
    [
        (
            PYTHON,
            "src/pkg/core.py",
            {"src/pkg/other.py": 3, "src/pkg/sub/leaf.py": 1, "src/pkg/uses.py": 2, "tests/test_core.py": 1},
        ),
        (PYTHON, "src/pkg/__init__.py", {"tests/test_pkg.py": 1}),
        (PYTHON, "src/pkg/sub/__init__.py", {"src/pkg/other.py": 3}),
        (PYTHON, "scripts/helper.py", {"scripts/tool.py": 1}),
        (
            SCRIPT,
            "src/util/date.ts",
            {"src/app.tsx": 2, "src/deep/lazy.ts": 1, "src/deep/page.js": 1, "src/deep/type.ts": 1},
        ),
        (SCRIPT, "src/util/index.ts", {"src/app.tsx": 3, "src/util/near.ts": 1}),
        (GO, "store/a.go", {"main.go": 5}),
        (
            RUST,
            "src/store.rs",
            {"src/lib.rs": 1, "src/net/deep.rs": 1, "src/net/mod.rs": 1, "src/store/disk.rs": 1, "tests/all.rs": 1},
        ),
        (RUST, "src/store/disk.rs", {"src/net/mod.rs": 1}),
        (RUST, "src/net/mod.rs", {"src/lib.rs": 2}),
        (
            JAVA,
            "src/a/Store.java",
            {"src/a/Near.java": 3, "src/b/One.java": 2, "src/b/Star.java": 2, "src/b/Static.java": 2},
        ),
    ],
)
def test_importers_are_found_with_their_lines(tmp_path, files, path, expected):
    repository = walked(tmp_path, files)
    found = repository.importers(path)
    assert {one.path: one.line for one in found} == expected
    assert [one.path for one in found] == sorted(expected)
    for one in found:
        assert one.text == repository.lines(one.path)[one.line - 1]
    assert repository.importers(f"./{path}", limit=1) == found[:1]


def test_other_files_have_no_importers(tmp_path):
    repository = walked(tmp_path, {"a.md": "import a", "b.py": "import a\n"})
    assert repository.importers("a.md") == repository.importers("none.py") == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", "from\nimport\nfrom . import\nfrom .. import *\nimport ,\nfrom ....... import x"),
        ("a.ts", "import\nimport from\nrequire()\nrequire(x, 'y')\nimport ''\nexport * from '..'"),
        ("a.rs", "use ;use {};use a::{b,{c}};use }}};mod ;use self;use super::super::super::x; use crate::*;"),
        ("a.go", 'import\nimport ()\nimport ""'),
        ("A.java", "import ;import a.;import .*;import *;"),
    ],
)
def test_broken_imports_break_nothing(tmp_path, name, text):
    end = name.rpartition(".")[2]
    repository = walked(tmp_path, {name: text, f"x.{end}": "", f"index.{end}": "", "mod.rs": "", "__init__.py": ""})
    for path in repository.files:
        assert isinstance(repository.importers(path), list)
