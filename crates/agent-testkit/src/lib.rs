//! Doubles and servers for testing agents.
