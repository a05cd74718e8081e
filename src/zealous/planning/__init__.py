"""What will be published, with every parameter, before a log is read.

The budget split over kinds of items, plans in files, and the public files that a plan names.
Nothing here sees a row of the log.
"""
