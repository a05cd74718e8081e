"""Publishing: charge the ledger, count, draw noise, write; and the files of a release.

What a release says in words is in text/, what follows from published tables in derived/. Checks
by a recipient belong in verification/.
"""
