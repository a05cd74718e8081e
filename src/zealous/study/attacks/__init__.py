"""What an attacker learns, against each method."""

from zealous.study.attacks.attacks import Attacked, Attacks, Settings, as_object, attack

__all__ = ["Attacked", "Attacks", "Settings", "as_object", "attack"]
