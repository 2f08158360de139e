//! The vocabulary and the seams of Mainspring.
