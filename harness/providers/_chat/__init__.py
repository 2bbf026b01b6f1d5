"""The chat completions dialect, in pieces: what is sent, and what an answer says."""
