//! The file form of a catalogue: strict, since people write it.

use std::{collections::BTreeMap, fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, Visitor},
};

use crate::{ModelRow, PriceSheet, ProviderRow, Source};

/// Why a text is no catalogue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CatalogueError {
    /// The text is no JSON, or a field is unknown or has the wrong type.
    #[error("the catalogue cannot be read")]
    Json(#[from] serde_json::Error),
    /// The text is longer than a catalogue may be.
    #[error("the catalogue has {bytes} bytes; at most {limit} are read")]
    TooLong {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        limit: usize,
    },
    /// The format is of another version.
    #[error("the catalogue has format {found}; this version reads format 1")]
    Format {
        /// What it says.
        found: u32,
    },
    /// A model's name lacks its provider.
    #[error("the model `{model}` has no provider; write `provider/model`")]
    NoProvider {
        /// The name.
        model: String,
    },
    /// A row names a source that is not there.
    #[error("`{row}` names the source `{source_id}`, which is not listed under `sources`")]
    NoSource {
        /// The row.
        row: String,
        /// The id.
        source_id: String,
    },
    /// A source has an id that another source has already.
    #[error("the source `{source_id}` is there already and says something else; choose another id")]
    SourceTaken {
        /// The id.
        source_id: String,
    },
    /// A price has bands and periods, which nothing says how to combine.
    #[error("the price of `{row}` has bands and periods; state one of them")]
    BandsAndPeriods {
        /// The row.
        row: String,
    },
}

/// At most so many bytes are read.
const LIMIT: usize = 16 << 20;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct File {
    format: u32,
    #[serde(default, deserialize_with = "unique")]
    pub(crate) sources: BTreeMap<String, Source>,
    #[serde(default)]
    pub(crate) other_secrets: Vec<String>,
    #[serde(default, deserialize_with = "unique")]
    pub(crate) providers: BTreeMap<String, ProviderRow>,
    #[serde(default, deserialize_with = "unique")]
    pub(crate) models: BTreeMap<String, ModelRow>,
}

impl File {
    /// Reads a file; the sources that its rows name must be in it or in `known`.
    pub(crate) fn parse(text: &[u8], known: &BTreeMap<String, Source>) -> Result<Self, CatalogueError> {
        if text.len() > LIMIT {
            return Err(CatalogueError::TooLong { bytes: text.len(), limit: LIMIT });
        }
        let file: Self = serde_json::from_slice(text)?;
        if file.format != 1 {
            return Err(CatalogueError::Format { found: file.format });
        }
        let taken = file.sources.iter().find(|(id, source)| known.get(*id).is_some_and(|other| other != *source));
        if let Some((id, _)) = taken {
            return Err(CatalogueError::SourceTaken { source_id: id.clone() });
        }
        for (id, row) in &file.providers {
            file.check_source(id, row.source.as_ref(), known)?;
            let families = row.families.iter().flatten().map(|family| &family.row);
            for row in row.defaults.iter().chain(families) {
                file.check(id, row, known)?;
            }
        }
        for (name, row) in &file.models {
            split(name).ok_or_else(|| CatalogueError::NoProvider { model: name.clone() })?;
            file.check(name, row, known)?;
        }
        Ok(file)
    }

    fn check(&self, name: &str, row: &ModelRow, known: &BTreeMap<String, Source>) -> Result<(), CatalogueError> {
        if row.price.as_ref().is_some_and(mixed) {
            return Err(CatalogueError::BandsAndPeriods { row: name.to_owned() });
        }
        row.source.iter().chain(row.sources.values()).try_for_each(|id| self.check_source(name, Some(id), known))
    }

    fn check_source(
        &self,
        row: &str,
        id: Option<&String>,
        known: &BTreeMap<String, Source>,
    ) -> Result<(), CatalogueError> {
        match id.filter(|id| !self.sources.contains_key(*id) && !known.contains_key(*id)) {
            None => Ok(()),
            Some(id) => Err(CatalogueError::NoSource { row: row.to_owned(), source_id: id.clone() }),
        }
    }
}

fn mixed(sheet: &PriceSheet) -> bool {
    !sheet.bands.is_empty() && !sheet.periods.is_empty()
}

/// Parts `provider/model` at the first `/`.
pub(crate) fn split(name: &str) -> Option<(&str, &str)> {
    name.split_once('/').filter(|(provider, model)| !provider.is_empty() && !model.is_empty())
}

/// A map that names nothing twice: of two rows of one name, one would be lost without a word.
fn unique<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<BTreeMap<String, T>, D::Error> {
    struct Unique<T>(PhantomData<T>);

    impl<'de, T: Deserialize<'de>> Visitor<'de> for Unique<T> {
        type Value = BTreeMap<String, T>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut rows = BTreeMap::new();
            while let Some((name, row)) = map.next_entry::<String, T>()? {
                if rows.contains_key(&name) {
                    return Err(A::Error::custom(format_args!("`{name}` is there twice")));
                }
                rows.insert(name, row);
            }
            Ok(rows)
        }
    }

    from.deserialize_map(Unique(PhantomData))
}
