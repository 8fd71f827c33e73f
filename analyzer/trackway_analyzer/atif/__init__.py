"""Runs as ATIF trajectories, the Agent Trajectory Interchange Format of Harbor.

1. A run is one trajectory: `trajectory_id` is the run id, `session_id` the conversation.
2. Each model step is an agent step: what it said, the calls it asked for with their answers, its
   tokens and cost. What users and the system told it since its turn before stands in steps before
   it; what an assistant had said before the record begins is copied context.
3. Calls that no model asked for, retrievals and waits are agent steps without a model
   (`llm_call_count` 0).
4. What ATIF has no place for stands under `extra.trackway`: a few words at each step, and at the
   trajectory the spans themselves (`read.atif_evidence`), so that reading it gives the same run.
5. A conversation that was written as one trajectory (`by="session"`) is one again when it is read
   by session; of a trace that was cut into runs, its files together give the same runs.
6. Reading it with other tools needs none of that.
"""

from trackway_analyzer.atif.trajectory import VERSION, atif_of
from trackway_analyzer.atif.write import write_atif

__all__ = ["VERSION", "atif_of", "write_atif"]
