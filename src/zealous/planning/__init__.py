"""What will be published, with every parameter, before anything is read."""
