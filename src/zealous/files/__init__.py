"""Files and folders: places, lines of text, Parquet, CSV, working directories.

Reads and writes bytes and rows, whatever they mean. What a column stands for belongs in logs/.
"""
