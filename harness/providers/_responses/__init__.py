"""The responses dialect, in pieces: what is sent, and what an answer says."""
