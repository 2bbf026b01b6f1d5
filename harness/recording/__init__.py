"""What passed between an actor and its provider: recorded without secrets and places, replayed strictly."""

from harness.recording.adopting import Leftover
from harness.recording.choosing import chosen
from harness.recording.codec import dump, header_of, load, reseal
from harness.recording.comparing import Comparer, Seen, drifts_of, header_drifts, volatile_of
from harness.recording.exchanging import Dress, body_bytes
from harness.recording.files import RecordingWriter, find, orphans, partials, prune, recording_path, write
from harness.recording.interrupted import Half, halves, halves_below, remove, superfluous
from harness.recording.keeping import Keeper
from harness.recording.keys import answer_key, request_key, stable_body
from harness.recording.matching import differences, explain, explain_answer, nearest
from harness.recording.mutating import Mutation, mutations
from harness.recording.parts import changed_parts
from harness.recording.replaying import Replayer
from harness.recording.rerecording import commands
from harness.recording.story import Change, Place, Story, drifts_in, part_names, story
from harness.recording.telling import place_lines, short, tell

__all__ = [
    "Change",
    "Comparer",
    "Dress",
    "Half",
    "Keeper",
    "Leftover",
    "Mutation",
    "Place",
    "RecordingWriter",
    "Replayer",
    "Seen",
    "Story",
    "answer_key",
    "body_bytes",
    "changed_parts",
    "chosen",
    "commands",
    "differences",
    "drifts_in",
    "drifts_of",
    "dump",
    "explain",
    "explain_answer",
    "find",
    "halves",
    "halves_below",
    "header_drifts",
    "header_of",
    "load",
    "mutations",
    "nearest",
    "orphans",
    "part_names",
    "partials",
    "place_lines",
    "prune",
    "recording_path",
    "remove",
    "request_key",
    "reseal",
    "short",
    "stable_body",
    "story",
    "superfluous",
    "tell",
    "volatile_of",
    "write",
]
