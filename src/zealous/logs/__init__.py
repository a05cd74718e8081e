"""A log: where it is, what its columns and times mean, and whose entry each row is.

Users, days and sessions as units of privacy and the limits on what one person can bring are applied
here. What is made of the entries belongs in items/.
"""
