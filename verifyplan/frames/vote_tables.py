"""The bundled tables of real votes: what each is, where it is from, and what its columns mean (rule E4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from verifyplan.columns import Column, Columns


@dataclass(frozen=True)
class VoteTable:
    """A bundled table of votes; data/README.md says what is known to be wrong with it."""

    file: str
    """The Parquet file, under `votes/` of the bundled data."""
    about: str
    """What the votes are, in a line."""
    source: str
    """The repository, and the commit of it."""
    licence: str
    """The licence; its text lies beside the file."""
    columns: Columns
    """The columns, in order."""
    tie: tuple[str, str] | None = None
    """Where votes may be ties: the column and the word of the file that say so."""
    only: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    """Where the table is a part of its file: the values that columns have in it; None is an empty cell."""


def _text(name: str, meaning: str) -> Column:
    return Column(name, "text", meaning)


_LLMBAR: Columns = (
    _text("item", "the pair of outputs: set/number"),
    _text("worker", "the judge: model/strategy"),
    Column("label", "whole", "the output that the judge finds better, 1 or 2; empty where no verdict could be read"),
    Column("truth", "whole", "the output that is better, 1 or 2"),
    _text("set", "the set of pairs; all 65 judges voted on those named LLMBar alone"),
    _text("model", "the model that judges"),
    _text("strategy", "how it was prompted; Vanilla is a plain question with rules"),
    Column(
        "swapped", "whole", "its verdict with the outputs in the other order, mapped back; empty where none was read"
    ),
)

_CROWD: Columns = (
    Column("item", "whole", "the number of the item in the source"),
    Column("worker", "whole", "the number of the person in the source"),
    Column("label", "whole", "the class that the person chose"),
    Column("truth", "whole", "the right class"),
)

_SCORES: Columns = (
    _text("item", "subset/number; four answers each"),
    _text("worker", "model#repetition"),
    _text("label", "'true' where the claimed answer scores highest, else 'false'; empty if a score is missing"),
    _text("truth", "whether the claimed answer is the right one"),
    _text("run", "the variant of the prompt, with @temperature where that is not the default"),
    Column("cost", "number", "dollars at list prices: an eighth of its model's on the item; not known of Claude"),
    _text("subset", "the part of RewardBench 2"),
    _text("model", "the model that scores"),
    _text("variant", "base, criteria (a sentence on what matters), cal-... (scored examples), combined"),
    Column("temperature", "number", "the temperature; empty where it was the default of a command line"),
    Column("repetition", "whole", "the repetition, 0 to 7: an independent call for each answer"),
    Column("claim", "whole", "the answer that is claimed to be best, 0 to 3; answer 0 is the right one"),
    _text("verdict", "agree, disagree, or error (a score is missing); a tie for the highest by the reading of ties"),
    Column("margin", "number", "its score minus the highest of the others, in points of 1 to 10"),
)  # fmt: skip

_BELIEFS: Columns = (
    _text("item", "the debate"),
    _text("worker", "the judge: j01 to j20 are people, gpt-4 made one judgment"),
    _text("label", "the answer that is believed right, A or B; at exactly .5 'tie', or by the reading of ties"),
    _text("truth", "the right answer, A or B"),
    Column("round", "whole", "which statement of this judge it is, from 0, which is made before any speech"),
    Column("belief", "number", "the stated probability of answer A, .01 to .99"),
    Column("belief_right", "number", "the stated probability of the right answer"),
    Column("speeches_seen", "whole", "rounds of speeches seen before"),
    Column("final", "yesno", "the judge ended here"),
    Column("in_paper", "yesno", "the debate is among those that the paper counts"),
    _text("story", "the article of QuALITY that the question is about"),
    _text("debaters", "human or ai (GPT-4)"),
    _text("protocol", "debate, or consultancy: a lone consultant, right or wrong"),
    Column("consultant_honest", "yesno", "whether the consultant argues for the right answer; empty in debates"),
    _text("session", "online: live; offline: reads a debate that has ended"),
    _text("reading", "live, stepped (round by round) or timed (all at once)"),
    Column("days", "number", "days since the first debate was set up"),
)

_ANSWERS: Columns = (
    _text("item", "the question of GPQA Diamond, by the source's shuffle"),
    _text("worker", "the agent; a prover with its model"),
    _text("label", "the answer, A to D; empty where none could be read"),
    _text("truth", "the right answer"),
    Column("round", "whole", "which answer of this agent it is, from 0, over all attempts"),
    _text("run", "the system that answered; debate and debate-paper are two collections of one"),
    _text("role", "agent or prover"),
    _text("model", "the model"),
    _text("domain", "the subject"),
    Column("attempt", "whole", "the attempt, from 1; only pvd-retry-gemini has several"),
    Column("attempt_round", "whole", "the round within the attempt, from 0"),
    Column("final", "yesno", "the last answer of its attempt"),
    Column("tokens_in", "number", "input tokens"),
    Column("tokens_out", "number", "output tokens"),
)

_VERDICTS: Columns = (
    _text("item", "question/answer: what is checked; '?' where no answer could be read"),
    _text("worker", "the verifier with its model"),
    _text("label", "accept, challenge or reject"),
    _text("truth", "accept where the answer is right, else reject"),
    Column("round", "whole", "the number of answers that the prover had given, over all attempts"),
    *_ANSWERS[5:6],
    _text("question", "the question of GPQA Diamond"),
    _text("answer", "the answer that is checked"),
    *_ANSWERS[7:10],
    Column("attempt_round", "whole", "the round within the attempt, from 1"),
    Column("final", "yesno", "the last verdict of its attempt"),
    Column("unparsed", "yesno", "no verdict could be read, which the source counts as reject"),
    *_ANSWERS[12:],
)

_SAMPLES: Columns = (
    *_ANSWERS[:1],
    _text("worker", "model#sample"),
    *_ANSWERS[2:4],
    _text("model", "the model"),
    Column("sample", "whole", "the sample, 0 to 7: an independent answer"),
)

_OUTCOMES: Columns = (
    *_ANSWERS[:1],
    _text("worker", "the system"),
    _text("label", "its last answer; empty where none could be read"),
    *_ANSWERS[3:4],
    Column("cost", "number", "dollars; empty where the source has none"),
    _text("first_answer", "its first answer, where the source has it"),
    _text("domain", "the subject"),
    _text("prover", "the model that answers"),
    _text("verifier", "the model that checks; empty in systems without"),
    _text("verdict", "the verifier's last verdict"),
    _text("outcome", "how the exchange ended, in the source's words"),
    Column("rounds", "whole", "rounds of the exchange"),
    Column("answer_changes", "number", "how often the answer changed, where the source has it"),
    Column("attempts", "whole", "attempts"),
    Column("seconds", "number", "seconds it took, where the source has them"),
)

_HLE: Columns = (
    _text("item", "the multiple-choice question of Humanity's Last Exam"),
    _text("worker", "the system"),
    _text("label", "right or wrong: the source's letters are not kept"),
    _text("truth", "'right' throughout"),
    *_OUTCOMES[4:5],
    *_OUTCOMES[6:10],
    *_OUTCOMES[11:],
)

_ROUNDS: Columns = (
    _text("item", "the question"),
    _text("worker", "the agent, agent-0 to agent-2"),
    _text("label", "the answer; where it is right but for case, spaces and punctuation, in the words of the truth"),
    _text("truth", "the right answer"),
    Column("round", "whole", "the round, 0 to 2"),
    _text("run", "model/framework/reveal#repetition"),
    _text("model", "the model"),
    _text("framework", "hand-rolled or autogen"),
    _text("reveal", "simultaneous, or sequential: sees earlier agents of the round"),
    Column("repetition", "whole", "1, 2: all questions on two days; 3, 4: six of them again"),
    _text("category", "the kind of question"),
    Column("confederate", "yesno", "the agent was told to defend a wrong answer in round 0"),
    Column("planted_wrong", "yesno", "the answer is that wrong one"),
    _text("answer", "the answer as it was given"),
    Column("correct_exact", "yesno", "the answer is right by the source's comparison of texts"),
    Column("tokens_out", "number", "output tokens"),
)

_PANEL: Columns = (
    Column("item", "whole", "the question of FairEval, 1 to 80: two answers are compared"),
    _text("worker", "agent-0 judges alone; agent-1, -2, -3 speak in this order and see each other"),
    _text("label", "the better answer: first, second or tie; empty where no verdict could be read"),
    _text("truth", "the better answer, by people"),
    _text("run", "single, two-turns or three-turns: how often each judge speaks; only its last verdict is known"),
    _text("category", "the kind of question"),
    _text("model", "the model"),
)

_CROWD_SOURCE = ("https://github.com/yuan-li/truth-inference-at-scale @ 621789b", "MIT", _CROWD)
_SCORES_SOURCE = ("https://github.com/composo-ai/llm-judge-criteria-ensembling @ e4049a5", "MIT", _SCORES)
_PROVER_SOURCE = ("https://github.com/jsedoc/prover-verifier-deliberation @ fd64491", "MIT")
_LLMBAR_SOURCE = ("https://github.com/princeton-nlp/LLMBar @ 900616b", "MIT", _LLMBAR)
_BASE = {"variant": ("base",), "temperature": (1.0, None)}
_NATURAL = ("LLMBar.Natural",)
_MISLEADING = tuple(f"LLMBar.Adversarial.{name}" for name in ("Neighbor", "GPTInst", "GPTOut", "Manual"))
_PLAIN = {"strategy": ("Vanilla",)}
_TIED_SCORES = ("verdict", "supplement")
"""In the file a tie for the highest score is a supplement."""

VOTE_TABLES: dict[str, VoteTable] = {
    "llmbar": VoteTable(
        "llmbar/votes.parquet", "65 set-ups of LLM judges on 1,200 pairs of outputs", *_LLMBAR_SOURCE
    ),
    "llmbar/plain": VoteTable(
        "llmbar/votes.parquet", "of these, six models with one prompt on 419 pairs, natural and misleading ones",
        *_LLMBAR_SOURCE, only={**_PLAIN, "set": (*_NATURAL, *_MISLEADING)},
    ),
    "llmbar/natural": VoteTable(
        "llmbar/votes.parquet", "of these, the 100 natural pairs", *_LLMBAR_SOURCE, only={**_PLAIN, "set": _NATURAL}
    ),
    "llmbar/misleading": VoteTable(
        "llmbar/votes.parquet", "of these, the 319 pairs that were built to mislead judges of 2023", *_LLMBAR_SOURCE,
        only={**_PLAIN, "set": _MISLEADING},
    ),
    "rte": VoteTable("crowd/rte.parquet", "164 people say whether a text entails another, 800 items", *_CROWD_SOURCE),
    "dog": VoteTable("crowd/dog.parquet", "109 people choose the breed of a dog of four, 807 pictures", *_CROWD_SOURCE),
    "judge-scores": VoteTable(
        "judge-scores/votes.parquet", "5 LLM judges x 7 prompts x 8 repetitions: answer 0 is the best of four",
        *_SCORES_SOURCE, _TIED_SCORES,
    ),
    "judge-scores/base": VoteTable(
        "judge-scores/votes.parquet", "of these, the plain prompt: 40 workers", *_SCORES_SOURCE, _TIED_SCORES, _BASE
    ),
    "judge-scores-balanced": VoteTable(
        "judge-scores/balanced.parquet", "the same judges, an answer drawn by item: half of the claims are true",
        *_SCORES_SOURCE, _TIED_SCORES,
    ),
    "judge-scores-balanced/base": VoteTable(
        "judge-scores/balanced.parquet", "of these, the plain prompt: 40 workers", *_SCORES_SOURCE, _TIED_SCORES, _BASE
    ),
    "debate-judges": VoteTable(
        "debate-judges/beliefs.parquet", "20 people judge debates and consultancies, round by round",
        "https://github.com/julianmichael/debate @ dafd201", "CC-BY-4.0", _BELIEFS, ("label", "tie"),
    ),
    "debate-rounds": VoteTable(
        "debate-rounds/votes.parquet", "3 LLM agents x 3 rounds on 30 questions, one told to defend a wrong answer",
        "https://github.com/OneNomad-LLC/przm-bench @ 0bc0cbd", "Apache-2.0", _ROUNDS,
    ),
    "judge-panel": VoteTable(
        "judge-panel/votes.parquet", "one LLM judge alone, and three that discuss, on 80 pairs of answers",
        "https://github.com/thunlp/ChatEval @ 386e732", "Apache-2.0", _PANEL,
    ),
    "prover-verifier": VoteTable(
        "prover-verifier/answers.parquet", "LLM agents answer 198 questions in rounds, by 7 systems",
        *_PROVER_SOURCE, _ANSWERS,
    ),
    "prover-verifier/debate": VoteTable(
        "prover-verifier/answers.parquet", "of these, 3 agents that debate for 3 rounds, twice",
        *_PROVER_SOURCE, _ANSWERS, only={"run": ("debate", "debate-paper")},
    ),
    "prover-verifier-verdicts": VoteTable(
        "prover-verifier/verdicts.parquet", "LLM verifiers accept, challenge or reject the provers' answers",
        *_PROVER_SOURCE, _VERDICTS,
    ),
    "prover-verifier-samples": VoteTable(
        "prover-verifier/samples.parquet", "8 independent answers of a model to each of 198 questions",
        *_PROVER_SOURCE, _SAMPLES,
    ),
    "prover-verifier-outcomes": VoteTable(
        "prover-verifier/outcomes.parquet", "the last answers of 11 systems to 198 questions, with costs",
        *_PROVER_SOURCE, _OUTCOMES,
    ),
    "prover-verifier-hle": VoteTable(
        "prover-verifier/hle.parquet", "whether 3 systems answered 513 questions of an exam rightly",
        *_PROVER_SOURCE, _HLE,
    ),
}  # fmt: skip
"""Every bundled table of votes, by name; a part of a table has a slash in its name."""
