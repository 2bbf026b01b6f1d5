"""What all dialects share: answers, events and calls as they come over the wire, read without repair."""
