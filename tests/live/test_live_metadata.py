"""Worker and repetition are in the metadata of each request, so that a cache by its body keeps them apart (rule G3)."""

from __future__ import annotations

from decimal import Decimal

import verifyplan as vp
from tests.live.live_runs import Played, speaking_to, turns
from tests.live.scripted_replies import calls
from tests.live.scripted_server import ScriptedServer
from tests.runs.crossing import AGREE, finding
from tests.runs.plan.planning import PLAN, answered
from verifyplan.agents.anthropic.model_config import request_metadata
from verifyplan.runs.debate.pair import backend_of_roles

ROSTER = ("ann", "bob", "cy")
VOTES = {1: {name: {"F-1": AGREE} for name in ROSTER}}


def sent(server):
    return dict(zip(turns(server), (asked.body for asked in server.requests), strict=True))


def voted(backend, repetition=1, **settings):
    given = {"log_dir": None, "progress": False, "repetition": repetition} | settings
    return vp.crossverify([finding(worker="ann")], ROSTER, backend=backend, **given)


def test_requests_of_two_workers_and_two_repetitions_differ_by_metadata_alone():
    with ScriptedServer(Played(VOTES)) as server:
        voted(speaking_to(server))
        first = sent(server)
        voted(speaking_to(server), repetition=2)
        second = dict(zip(turns(server)[len(first) :], (a.body for a in server.requests[len(first) :]), strict=True))
    assert server.refused == []
    bodies = [first["r1/bob/t1"], first["r1/cy/t1"], second["r1/bob/t1"], second["r1/cy/t1"]]
    names = [body.pop("metadata")["user_id"] for body in bodies]
    assert len(set(names)) == 4
    assert [name.rpartition("=")[2] for name in names] == ["1", "1", "2", "2"]
    assert not any(word in name for name in names for word in ROSTER)
    assert bodies[0] == bodies[1] == bodies[2] == bodies[3]


def test_a_resumed_run_names_its_own_repetition_and_so_does_a_preview(tmp_path):
    with ScriptedServer(Played({1: {"bob": {"F-1": AGREE}, "cy": {"F-1": AGREE}}})) as server:
        run = voted(speaking_to(server), repetition=3, log_dir=tmp_path)
        whole = sent(server)
        shown = vp.preview(
            vp.crossverify, [finding(worker="ann")], ROSTER, backend=speaking_to(server), repetition=3, log_dir=None
        )
        lines = run.log_path.read_text().splitlines(keepends=True)
        cut = next(place for place, line in enumerate(lines) if '"r1/cy' in line)
        run.log_path.write_text("".join(lines[:cut]))
        before = len(server.requests)
        vp.resume(run.log_path, backend=speaking_to(server), progress=False)
    again = [request.body for request in server.requests[before:]]  # bob's, too, where the cut fell before his reply
    assert whole["r1/cy/t1"] in again
    assert all(body["metadata"]["user_id"].endswith("repetition=3") for body in again)
    assert list(shown.bodies) == [whole["r1/bob/t1"], whole["r1/cy/t1"]]
    assert f"metadata: user_id {whole['r1/cy/t1']['metadata']['user_id']}" in str(shown)


def test_roles_are_named_and_a_cache_of_prompts_still_hits(tmp_path):
    (tmp_path / "a.py").write_text("x = 1\n")
    plan = vp.plans.parse_plan(PLAN)
    with ScriptedServer(Played(answered(), {"i1/challenger/t1": calls("Read", path="a.py")})) as server:
        run = vp.verify(plan, tmp_path, backend=speaking_to(server), repetition=2, log_dir=None, progress=False)
    users = {turn: body["metadata"]["user_id"] for turn, body in sent(server).items()}
    assert users["i1/challenger/t1"] == users["i1/challenger/t2"] == "verifyplan role=challenger repetition=2"
    usage = run.frames.turns.set_index("turn_id")["cache_read_tokens"]
    assert usage["i1/challenger/t2"] > 0
    assert run.frames.calls["cost"].map(Decimal).sum() > 0


def test_both_backends_of_a_debate_get_the_repetition(tmp_path):
    backends = [vp.agents.Anthropic.keyless(model="m") for _ in range(2)]
    pair = backend_of_roles(*backends, tmp_path, 4)
    request = {"type": "propose", "turn": 1, "max_turns": 1, "task": "do it", "call_id": "t1/propose"}
    for role in ("architect", "builder"):
        asked = vp.agents.DebateRequest(role=role, **request)
        assert pair.player(role).first_request(asked)["metadata"] == request_metadata(asked, 4)
