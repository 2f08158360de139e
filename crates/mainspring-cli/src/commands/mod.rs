//! What the command can do.

mod chat;
mod doctor;
mod models;
mod once;
mod resume;
mod sessions;

pub(crate) use self::{
    chat::chat,
    doctor::doctor,
    models::models,
    once::once,
    resume::resume,
    sessions::{sessions, view},
};
