"""How many examples Hypothesis makes up, and whether they are new."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# A sound program fails neither because a new example was found, which `make soak` looks for, nor
# because the machine is busy.
settings.register_profile(
    "free", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.register_profile("fixed", settings.get_profile("free"), derandomize=True)
settings.load_profile("fixed")


def examples(number: int) -> settings:
    """So many examples where `make soak` looks for new ones, and a quarter of them in every run."""
    always = settings.get_current_profile_name() == "fixed"
    return settings(max_examples=max(5, number // 4) if always else number, deadline=None)
