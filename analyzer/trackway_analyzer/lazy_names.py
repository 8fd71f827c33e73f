"""Public names of a package that are imported when somebody first asks for them (PEP 562).

So a command that reads traces imports no rule, and one that checks them no diff. A name that is a
module's too must be imported at once: Python would put the module in its place.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazily(package: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package.

    `names` says of each module of the package which names it defines, divided by spaces; a module
    that is a public name itself defines its own. The function raises AttributeError.
    """
    places = {name: module for module, defined in names.items() for name in defined.split()}

    def find(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{places[name]}")
        value = module if places[name] == name else getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    return find
