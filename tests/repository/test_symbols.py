"""Definitions, language by language, with the lines on which their names stand."""

import pytest
from repository.small_repositories import walked

PYTHON = '''\
import os
LIMIT: int = 3
plain, other = 1, 2
type Alias = int

@decorated(
    1
)
class Box(Base):
    """A box."""
    size: int
    NAME = "x"

    @property
    async def width(
        self, *, exact: bool = False,
    ) -> int:
        self.seen = 1
        self.seen = 2
        local = 3
        def inner(): pass
        return 1

    class Lid:
        def shut(self): ...

if LIMIT:
    FALLBACK = 1
else:
    def late(): pass
'''
TYPESCRIPT = """\
import x from './x';
export interface Shape { area: number; draw(at: Point): void }
export type Kind = 'a' | 'b';
export enum Mode { Fast, Slow = 2 }
export abstract class Canvas<T> extends Base {
  private depth = 1;
  onClick = (e) => { return e };
  static async paint<U>(
    a: U,
  ): Promise<void> { const local = 1; }
  abstract clear(): void;
}
export const round = (x: number) => x, FACTOR = 3;
let counter;
function* walk() { const helper = () => 1; }
namespace Inner { export const deep = 1 }
"""
JAVASCRIPT = """\
class Thing { #hidden = 1; go() {} }
exports.run = () => 1;
Thing.prototype.stop = function () {};
module.exports = { start() {}, halt: function () {}, n: 3 };
const table = { open: 1, shut: () => 2 };
describe('x', () => { function nested() {} });
"""
GO = """\
package p

type Server struct {
\tHost, Port string
}
type Doer interface {
\tDo(a int) error
}
const (
\tFirst = iota
\tSecond
)
var cache, spare = 1, 2

func New(host string) *Server { return nil }
func (s *Server) Serve(port int) error {
\tlocal := 1
\treturn nil
}
func (b Box[T]) Open() {}
"""
RUST = """\
pub struct Point { pub x: u8 }
enum Shape { Round, Square(u8) }
pub trait Draw { fn draw(&self); const MAX: u8; }
impl Draw for Point { fn draw(&self) {} }
impl<T> Grid<T> { pub fn cell(&self) -> u8 { 1 } }
const LIMIT: u8 = 1;
static SEEN: u8 = 1;
type Alias = u8;
macro_rules! shout { () => {} }
mod inner { pub fn deep() {} }
"""
JAVA = """\
package a.b;
public class Store extends Base {
  private static final int MAX = 1, MIN = 0;
  @Override
  public void save(
      int a) throws IOException { int local = 1; }
  Store() {}
  enum Level { LOW, HIGH; void raise() {} }
  interface Reader { void read(); int DEPTH = 1; }
  record Pair(int a) {}
  @interface Mark { int value() default 1; }
}
"""
FILES = {
    "p.py": PYTHON,
    "t.ts": TYPESCRIPT,
    "v.tsx": "export const View = () => <div onClick={() => 1}>hi</div>;\n",
    "j.js": JAVASCRIPT,
    "g.go": GO,
    "r.rs": RUST,
    "Store.java": JAVA,
    "notes.md": "def Box in prose\n",
}
EXPECTED = {
    "p.py": """LIMIT constant 2 2 -
Alias type 4 4 -
Box class 9 25 -
size field 11 11 Box
NAME field 12 12 Box
width method 15 22 Box
seen field 18 18 Box
inner function 21 21 Box.width
Lid class 24 25 Box
shut method 25 25 Box.Lid
FALLBACK constant 28 28 -
late function 30 30 -""",
    "t.ts": """Shape type 2 2 -
area field 2 2 Shape
draw method 2 2 Shape
Kind type 3 3 -
Mode type 4 4 -
Fast constant 4 4 Mode
Slow constant 4 4 Mode
Canvas class 5 12 -
depth field 6 6 Canvas
onClick method 7 7 Canvas
paint method 8 10 Canvas
clear method 11 11 Canvas
round function 13 13 -
FACTOR constant 13 13 -
counter variable 14 14 -
walk function 15 15 -
helper function 15 15 walk
Inner module 16 16 -
deep constant 16 16 Inner""",
    "v.tsx": "View function 1 1 -",
    "j.js": """Thing class 1 1 -
hidden field 1 1 Thing
go method 1 1 Thing
run function 2 2 -
stop function 3 3 Thing
start method 4 4 -
halt method 4 4 -
table constant 5 5 -
open field 5 5 table
shut method 5 5 table
nested function 6 6 -""",
    "g.go": """Server type 3 5 -
Host field 4 4 Server
Port field 4 4 Server
Doer type 6 8 -
Do method 7 7 Doer
First constant 10 10 -
Second constant 11 11 -
cache variable 13 13 -
spare variable 13 13 -
New function 15 15 -
Serve method 16 19 Server
Open method 20 20 Box""",
    "r.rs": """Point class 1 1 -
x field 1 1 Point
Shape class 2 2 -
Round constant 2 2 Shape
Square constant 2 2 Shape
Draw type 3 3 -
draw method 3 3 Draw
MAX constant 3 3 Draw
draw method 4 4 Point
cell method 5 5 Grid
LIMIT constant 6 6 -
SEEN constant 7 7 -
Alias type 8 8 -
shout macro 9 9 -
inner module 10 10 -
deep function 10 10 inner""",
    "Store.java": """Store class 2 12 -
MAX field 3 3 Store
MIN field 3 3 Store
save method 5 6 Store
Store method 7 7 Store
Level type 8 8 Store
LOW constant 8 8 Store.Level
HIGH constant 8 8 Store.Level
raise method 8 8 Store.Level
Reader type 9 9 Store
read method 9 9 Store.Reader
DEPTH constant 9 9 Store.Reader
Pair class 10 10 Store
Mark type 11 11 Store
value method 11 11 Store.Mark""",
    "notes.md": "",
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    return walked(tmp_path_factory.mktemp("symbols"), FILES)


@pytest.mark.parametrize("path", FILES)
def test_a_files_definitions_have_kind_lines_and_container(repository, path):
    found = [f"{s.name} {s.kind} {s.line} {s.last} {s.container or '-'}" for s in repository.definitions(path)]
    assert "\n".join(found) == EXPECTED[path]


@pytest.mark.parametrize("path", FILES)
def test_each_definition_is_found_by_its_name(repository, path):
    """Neither the index nor the quick look before parsing leaves a file out."""
    for symbol in repository.definitions(path):
        assert symbol in repository.symbols(symbol.name), symbol
        if symbol.container:
            assert symbol in repository.symbols(symbol.qualified), symbol


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("width", "async def width(self, *, exact: bool = False) -> int"),
        ("Box", "class Box(Base)"),
        ("paint", "static async paint<U>(a: U): Promise<void>"),
        ("round", "round = (x: number)"),
        ("Serve", "func (s *Server) Serve(port int) error"),
        ("cell", "pub fn cell(&self) -> u8"),
        ("save", "@Override public void save(int a) throws IOException"),
        ("size", "size: int"),
    ],
)
def test_a_signature_is_the_text_before_the_body(repository, name, signature):
    assert repository.symbols(name)[0].signature == signature


def test_a_name_behind_a_dot_is_looked_for_in_its_class_or_file_first(repository):
    assert [s.path for s in repository.symbols("Alias")] == ["p.py", "r.rs"]
    assert [s.container for s in repository.symbols("draw")] == ["Draw", "Point", "Shape"]
    assert [s.container for s in repository.symbols("Point.draw")] == ["Point"]
    assert [s.container for s in repository.symbols("Point::draw()")] == ["Point"]
    assert [s.path for s in repository.symbols("p.Alias")] == ["p.py"]
    assert len(repository.symbols("Nowhere.draw")) == 3
    assert repository.symbols("draw", limit=2) == repository.symbols("draw")[:2]


@pytest.mark.parametrize("name", ["", " ", ".", "()", "::", "\\", "(?:", "a\0b", "é", "local", "x" * 10_000, "a b"])
def test_what_is_no_defined_name_has_no_symbols(repository, name):
    assert repository.symbols(name) == []
    repository.similar_symbols(name)


def test_near_names_are_those_that_are_really_defined(repository):
    assert [s.name for s in repository.similar_symbols("widht", 1)] == ["width"]
    assert [s.name for s in repository.similar_symbols("Store.svae", 1)] == ["save"]
    assert repository.similar_symbols("qqqqqqqqqqqq") == []


def test_prefetching_changes_no_answer(tmp_path):
    names = ["Box", "draw", "nothing", ""]
    early, late = walked(tmp_path, FILES), walked(tmp_path, FILES)
    early.prefetch(names)
    assert [early.symbols(name) for name in names] == [late.symbols(name) for name in names]


def test_broken_code_gives_what_can_be_read_and_other_files_nothing(tmp_path):
    repository = walked(
        tmp_path, {"a.py": "def good(): pass\n\ndef bad(:\n  ]]\n\nclass After: pass\n", "b.txt": "def c(): pass"}
    )
    assert [s.name for s in repository.definitions("a.py")][:1] == ["good"]
    assert repository.definitions("b.txt") == repository.definitions("none.py") == []


def test_a_helping_process_that_dies_costs_one_file(tmp_path):
    """The first text takes the parser of Java gigabytes of memory, the second one very long."""
    bad = {
        "A.java": "class A {} " + "a =>" * 20_000,
        "B.java": "> !" * 60_000,
        "Long.java": "class Long {}" + " " * 1_000_001,
    }
    repository = walked(tmp_path, {**bad, "Good.java": "class Good {}\n"})
    assert [repository.definitions(path) for path in bad] == [[], [], []]
    assert [s.name for s in repository.definitions("Good.java")] == ["Good"]
    told = {one.path: one.reason for one in repository.skipped}
    assert set(told) == set(bad)
    assert all(reason.startswith("was not parsed (it ") for reason in told.values())
    assert "1,000,000 characters" in told["Long.java"]
