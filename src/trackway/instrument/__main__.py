"""`python -m trackway.instrument`: what would be recorded in this environment.

With `--known`: what is known of each library, as Markdown. No library is imported.
"""

import sys

from trackway.instrument.table import alternatives_table, registry_table
from trackway.instrument.turning_on import survey

if "--known" in sys.argv[1:]:
    print(registry_table(), alternatives_table(), sep="\n\n")
else:
    print(survey())
