"""Would a test fail if a rule were wrong? Mutants of `rules/`, and how many the tests kill.

1. mutmut makes the mutants: one small change each inside a function, among them every text, number,
   operator, argument and assignment. What stands outside functions, and decorated functions other
   than class and static methods, it leaves alone.
2. A mutant meets those tests that reach its function, the quick ones first. It is killed by the
   first test that fails, by a crash, or by taking several times as long as the tests do; a timeout
   counts only if it comes twice.
3. Everything else survived, mutants that no test reaches among them. Mutants that mean the same as
   the code count as survivors, too.
4. Of a sample, each module has its share, and the figure comes with its 95% interval (Wilson).
5. What was found is kept, mutant by mutant, beside the copy of the sources that it was found on.
6. Hypothesis draws the same examples each time.
"""
