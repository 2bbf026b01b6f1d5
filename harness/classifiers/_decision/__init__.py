"""Reading a decision that was answered as JSON, deriving what it must be from a packet, and comparing the two."""
