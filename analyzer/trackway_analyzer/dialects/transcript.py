"""Transcripts that our own readers put down as spans: GenAI names under a scope of their own."""

from __future__ import annotations

from typing import Final

from trackway_analyzer.dialects.dialect import Dialect, Marks

SCOPE: Final = "transcript"
"""Scopes of spans that readers made of transcripts: `transcript.tau-bench` and the like."""
UNREAD: Final = "transcript.unread"
"""Messages after the last model turn: nobody answered them."""
USER_CALL: Final = "transcript.user_call"
"""Name of a tool that the simulated user called."""

TRANSCRIPT: Final = Dialect(name=SCOPE, marks=Marks(scopes=(SCOPE,)))
