"""Joined texts give the texts that hold a word, as a loop over the texts does."""

from hypothesis import given
from hypothesis import strategies as st

from verifyplan.agents.static.roles.joined_texts import JoinedTexts

LETTERS = st.text("ab\n\0é\U0001f600\udc80", max_size=4)


@given(texts=st.lists(LETTERS, max_size=6), word=LETTERS)
def test_the_texts_that_hold_a_word_are_those_of_a_loop(texts, word):
    assert list(JoinedTexts(texts).holding(word)) == [at for at, text in enumerate(texts) if word in text]
