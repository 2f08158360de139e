//! `agent-core` with `preserve_order` switched on; see `tests/`.
