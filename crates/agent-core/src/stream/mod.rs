//! What a model's answer is made of while it arrives, and the one assembler that makes a message
//! of it.

mod assembler;
mod call_slots;
mod event;
mod partial;

pub use assembler::{Assembler, AssemblyError};
pub use call_slots::CallSlots;
pub use event::{BlockStart, ModelEvent, ModelStream};
pub use partial::{PartialArguments, PartialField};
