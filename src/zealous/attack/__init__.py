"""What an attacker learns, against each method."""
