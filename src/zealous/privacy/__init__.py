"""What is promised and which parameters keep it: guarantees, calibration, accounting.

Pure mathematics on exact numbers. Nothing here reads a log, draws noise or writes a file.
"""
