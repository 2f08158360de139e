//! A talk in a real terminal.
