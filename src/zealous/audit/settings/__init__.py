"""What is tried, one file a mechanism. Small m and little noise: there a fault shows soonest."""
