"""Any Python value to bounded, redacted, canonical JSON: the one door for what is recorded.

1. `Capture` is a frozen policy, made once. `arguments`, `value` and `text` never raise, never take
   more time than the limits allow, and never give out what the redactor knows as a secret.
2. What is written, and how a value is read: `encode`, `convert`. What is secret: `redact`,
   `secret_patterns`. How much is kept: `limits`. Entities in a value: `refs`.
3. Faults of the recorder are counted in `errors`.
"""

from trackway.capture.errors import (
    capture_errors,
    count_capture_errors,
    record_capture_error,
)
from trackway.capture.limits import Limits
from trackway.capture.policy import Capture, Captured
from trackway.capture.redact import DEFAULT_REDACTOR, Redactor, redactor
from trackway.capture.refs import entity_refs
from trackway.capture.secret_patterns import EMAIL, PHONE, SecretPattern

__all__ = [
    "DEFAULT_REDACTOR",
    "EMAIL",
    "PHONE",
    "Capture",
    "Captured",
    "Limits",
    "Redactor",
    "SecretPattern",
    "capture_errors",
    "count_capture_errors",
    "entity_refs",
    "record_capture_error",
    "redactor",
]
