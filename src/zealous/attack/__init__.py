"""What an attacker learns, against each method."""

from zealous.attack.attacks import Attacked, Settings, as_object, attack

__all__ = ["Attacked", "Settings", "as_object", "attack"]
