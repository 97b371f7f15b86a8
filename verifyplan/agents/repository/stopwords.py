"""Words that say nothing of what a rule is about."""

from __future__ import annotations

_TEXT = """
a about across after all allowed also always an and any anything are as at avoid be because been before being
but by can can't cannot code do does don't each ensure even ever every everything file files first for
forbidden from get has have here how if in instead into is it its just keep like longer make may more most
must need needs never new no not of on once one only or other our out over own permitted prefer preferred put
rather refrain require required requires see shall should so some such sure than that the their them then
there these they thing things this those through to under unless until up use used using via was we what when
where whether which while who why will with within without write you your
else none nobody nothing nor stand stands
"""
STOP = frozenset(_TEXT.split())
"""Small words, in small letters, and those by which a rule is known."""
