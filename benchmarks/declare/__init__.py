"""Do our temporal rules mean what Declare's templates mean, and how quick are they beside pm4py?

1. A log is a list of traces, a trace a list of activities: each a successful call in a turn of its
   own, since Declare knows neither failures nor turns.
2. `templates` says for each template of pm4py which rule of ours it is, where none is one, as an
   expression over steps. pm4py's two negative successions are left out: there they are the
   negation of succession over the whole trace, not Declare's "never b after a".
3. Every trace and pair of activities must be judged alike, or there is no figure.
"""
