"""Reading and writing: places, lines of text, Parquet, scratch space, folders written whole."""
