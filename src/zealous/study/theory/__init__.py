"""What the paper proves and no release needs: accuracy, the negative result, its tables."""
