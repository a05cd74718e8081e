"""For the owner of a log before publishing: true figures, and advice on epsilon and m.

True figures never leave: nothing that publishes imports from here.
"""
