"""What people read of a release: README, statement, registry entry."""
