"""Publishing: charge, count, draw noise, write; and all files of a release."""
