"""What the paper found, each claim judged by what was measured."""
