"""What an attacker learns, against each method."""

from zealous.study.attacks.attacks import (
    AttackResults,
    AttackSettings,
    MethodAttacks,
    as_object,
    run_attacks,
)

__all__ = ["AttackResults", "AttackSettings", "MethodAttacks", "as_object", "run_attacks"]
