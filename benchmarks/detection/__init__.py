"""Which faults do the rules catch, and which harmless changes do they leave alone?

1. Three agents (`refund`, `airline`, `retail`; the last two do tasks of tau-bench's kind) make
   seeded healthy runs, written down as `Script`s.
2. `faults` turns a healthy script into one that went wrong in one way and names the rules that have
   to say so. `harmless` turns it into one that differs and is still right.
3. `recording` replays a script through the SDK; what is judged was recorded, never made by hand.
4. A fault is caught in a run if one of the rules it names is violated. A harmless run is left alone
   if no rule is violated and none lacks evidence.
5. `hidden` takes evidence away from healthy runs: they must become insufficient, never pass.
6. `peers` gives the same runs to other tools as installed, each with its healthy twin as reference.
"""
