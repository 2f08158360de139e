//! What only a terminal has: markdown in colours, a line that is edited, a chat.
