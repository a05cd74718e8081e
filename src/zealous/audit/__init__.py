"""An honest attempt to break the program through its real pipeline."""
