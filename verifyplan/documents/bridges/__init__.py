"""From documents to runs and back: claims, must-haves and blockers in, verifications and gap plans out (rule D5)."""
