"""A log of people's entries: its columns, its times, and the one relation they are read into."""
