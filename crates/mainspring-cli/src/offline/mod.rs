//! A model by rule, for machines without a key and without a server.
