"""The workbench: plan, approve, publish, explore, review and sign in a browser, on this machine.

server -> security (who may ask) -> screens (one a file, thin over public functions) -> templates
`web/folders.py` says what it sees, `web/charts.py` draws, `web/jobs.py` runs what takes long.
"""
