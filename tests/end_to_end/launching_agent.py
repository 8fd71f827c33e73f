"""Starts another Python program, as a client of a tool server on stdio does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

subprocess.run([sys.executable, str(Path(__file__).with_name("loop_agent.py"))], check=True)
