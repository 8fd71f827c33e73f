"""Transcripts: what benchmarks and applications keep of a run instead of spans.

1. A transcript is one run: a trace with an agent span, a model span for every message of the
   assistant and a tool span for every answer to a call. (`written`, `dialogue`)
2. A call that was never answered has no span: the model asked, nobody ran it.
3. A model span's input is what was said since the model span before it, not the whole history
   again.
4. The order is that of the messages, kept in the step index. A time that the file does not hold is
   not recorded (`spans.NO_TIME`) and becomes the gap `missing_timestamps`.
5. Task, trial and outcome are what the file says. No task id, no reward: not recorded.
6. A run without a message is a run without steps, and has the gap `tools_not_observable`: that it
   did nothing stands nowhere.
7. Everything a record holds beside its messages stays on the agent span, under `transcript.…`.
"""
