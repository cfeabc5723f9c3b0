"""The console's pictures: a few strokes each on a grid of 16, drawn in the colour of the text beside them.

They never stand alone: a word is always beside them or in the label of what they sit in.
"""

from typing import Final

from markupsafe import Markup

# The shape carries a state's meaning for whoever doesn't see its colour.
_STROKES: Final = {
    # states
    "scheduled": '<circle cx="8" cy="8" r="5.5"/><path d="M8 5v3.2l2 1.3"/>',
    "available": '<circle cx="8" cy="8" r="5.5"/>',
    "running": '<circle cx="8" cy="8" r="5.5"/><path d="M6.7 5.8 10.2 8l-3.5 2.2z" fill="currentColor"/>',
    "completed": '<circle cx="8" cy="8" r="5.5"/><path d="m5.6 8.2 1.7 1.7 3.2-3.6"/>',
    "retryable": '<path d="M12.8 6.2A5.2 5.2 0 1 0 13.2 9"/><path d="M13.2 3v3.4H9.8"/>',
    "failed": '<circle cx="8" cy="8" r="5.5"/><path d="m6.2 6.2 3.6 3.6m0-3.6-3.6 3.6"/>',
    "cancelled": '<circle cx="8" cy="8" r="5.5"/><path d="M5.4 8h5.2"/>',
    "waiting_external": '<path d="M5 2.8h6M5 13.2h6M5.6 2.8c0 3 4.8 3.6 4.8 5.2s-4.8 2.2-4.8 5.2m4.8 0c0-3-4.8-3.6-4.8-5.2s4.8-2.2 4.8-5.2"/>',
    "pending": '<circle cx="8" cy="8" r="5.5" stroke-dasharray="2.3 2.3"/>',
    "scanning": '<circle cx="7" cy="7" r="4.2"/><path d="m10.2 10.2 3 3"/>',
    "cancelling": '<circle cx="8" cy="8" r="5.5" stroke-dasharray="2.3 2.3"/><path d="M5.4 8h5.2"/>',
    "paused": '<path d="M6 4.2v7.6M10 4.2v7.6" stroke-width="2"/>',
    # levels
    "ok": '<circle cx="8" cy="8" r="6"/><path d="m5.3 8.2 1.9 1.9 3.5-4"/>',
    "info": '<circle cx="8" cy="8" r="6"/><path d="M8 7.3v3.6M8 5v.4"/>',
    "warn": '<path d="M8 2.3 14 13H2z"/><path d="M8 6.4v3.1m0 1.7v.3"/>',
    "bad": '<path d="M5.4 2h5.2L14 5.4v5.2L10.6 14H5.4L2 10.6V5.4z"/><path d="M8 4.9v3.7m0 2v.4"/>',
    # deeds and things
    "search": '<circle cx="7" cy="7" r="4.2"/><path d="m10.2 10.2 3.2 3.2"/>',
    "close": '<path d="m4.5 4.5 7 7m0-7-7 7"/>',
    "copy": '<rect x="5.5" y="5.5" width="7.5" height="7.5" rx="1.5"/><path d="M10.5 3.5v-.2A1.3 1.3 0 0 0 9.2 2H3.8A1.3 1.3 0 0 0 2.5 3.3v5.4A1.3 1.3 0 0 0 3.8 10H4"/>',
    "check": '<path d="m3.5 8.5 3 3 6-7"/>',
    "chevron": '<path d="m6 3.5 4.5 4.5L6 12.5"/>',
    "down": '<path d="m3.5 6 4.5 4.5L12.5 6"/>',
    "arrow": '<path d="M3 8h9.5m-4-4 4 4-4 4"/>',
    "play": '<path d="M5 3.2 12.5 8 5 12.8z"/>',
    "pause": '<path d="M5.5 3.5v9m5-9v9" stroke-width="2"/>',
    "stop": '<rect x="4" y="4" width="8" height="8" rx="1"/>',
    "retry": '<path d="M12.8 6.2A5.2 5.2 0 1 0 13.2 9"/><path d="M13.2 3v3.4H9.8"/>',
    "move": '<path d="M2.5 5h8m-3-3 3 3-3 3M13.5 11h-8m3-3-3 3 3 3"/>',
    "priority": '<path d="M3 13V9m5 4V6m5 7V3"/>',
    "plus": '<path d="M8 3v10M3 8h10"/>',
    "user": '<circle cx="8" cy="5.5" r="2.6"/><path d="M3 13.5c.5-2.7 2.5-4 5-4s4.5 1.3 5 4"/>',
    "lock": '<rect x="3.5" y="7" width="9" height="6.5" rx="1.3"/><path d="M5.5 7V5a2.5 2.5 0 0 1 5 0v2"/>',
    "system": '<rect x="2" y="3" width="12" height="8" rx="1.2"/><path d="M6 14h4m-2-3v3"/>',
    "light": '<circle cx="8" cy="8" r="2.8"/><path d="M8 1.6v1.6m0 9.6v1.6M1.6 8h1.6m9.6 0h1.6M3.5 3.5l1.1 1.1m6.8 6.8 1.1 1.1m0-9-1.1 1.1m-6.8 6.8-1.1 1.1"/>',
    "dark": '<path d="M13.3 9.6A5.8 5.8 0 1 1 6.4 2.7a4.6 4.6 0 0 0 6.9 6.9z"/>',
    "star": '<path d="m8 2.2 1.8 3.7 4 .6-2.9 2.8.7 4L8 11.4l-3.6 1.9.7-4L2.2 6.5l4-.6z"/>',
    "inbox": '<path d="M2.5 9.5 4.3 3h7.4l1.8 6.5V13h-11z"/><path d="M2.5 9.5h3.2l.8 1.6h3l.8-1.6h3.2"/>',
    "server": '<rect x="2.5" y="2.5" width="11" height="4.5" rx="1"/><rect x="2.5" y="9" width="11" height="4.5" rx="1"/><path d="M5 4.8h.2M5 11.3h.2"/>',
    "download": '<path d="M8 2.5v8m-3.2-3L8 10.7l3.2-3.2M3 13.5h10"/>',
    "undo": '<path d="M3 6.5h6.5a3.5 3.5 0 0 1 0 7H6"/><path d="M6 3.5l-3 3 3 3"/>',
}  # fmt: skip


def icon(name: str) -> Markup:
    """The picture, hidden from screen readers; an unknown name is an error."""
    return _DRAWN[name]


_FRAME: Final = (
    '<svg class="icon" viewBox="0 0 16 16" width="16" height="16" fill="none" stroke="currentColor"'
    ' stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">{}</svg>'
)
_DRAWN: Final = {name: Markup(_FRAME.format(strokes)) for name, strokes in _STROKES.items()}
