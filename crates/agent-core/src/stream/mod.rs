//! What a model's answer is made of while it arrives, and the one assembler that makes a message
//! of it.

mod assembler;
mod call_slots;
mod event;
mod model_stream;
mod partial;

pub use self::{
    assembler::{Assembler, AssemblyError},
    call_slots::CallSlots,
    event::{BlockStart, ModelEvent},
    model_stream::ModelStream,
    partial::{PartialArguments, PartialField},
};
