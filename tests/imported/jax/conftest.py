"""The tests of `from_jax` need JAX, as no other test does: where it is not, they are left out."""

import importlib.util

collect_ignore_glob = [] if importlib.util.find_spec("jax") else ["test_*.py"]
