//! Facts about models and providers, as data.
#![doc = include_str!("../README.md")]

mod catalogue;
mod date;
mod entry;
mod file;
mod glob;
mod list;
mod models_dev;
mod provider;
mod resolve;
mod row;
mod sheet;
mod words;

pub use crate::{
    catalogue::Catalogue,
    date::{Date, DateError},
    entry::{Assumed, Assumption, ModelEntry, Source},
    file::CatalogueError,
    list::{Filter, Order},
    models_dev::{ModelsDev, ModelsDevError, PriceChange, RefreshReport, Skipped},
    provider::{Family, ProviderFacts, ProviderRow},
    resolve::LookupError,
    row::{Fact, ModelRow},
    sheet::{PerMillion, PricePeriod, PriceSheet, SheetBand, SheetRates},
    words::{AuthStyle, CacheStyle, InstructionsRole, ModelKind, Protocol, StructuredMode, ThinkingMode, TokenField},
};
