//! The functions (<https://ai.google.dev/api/caching#FunctionDeclaration>), encoded once for each list.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use agent_core::{Block, ChainHash, Loss, ModelCall, ProviderError, ToolSpec};

use crate::{
    GoogleWire,
    json::{object, write},
    schema::{Lowered, SchemaDialect, lower_tool},
};

/// How many lists of tools are remembered.
const LISTS: usize = 16;

/// What was lost of each list of tools: found when a list is encoded, reported with every request that has it.
#[derive(Clone, Default)]
pub(crate) struct ToolLosses(Arc<Mutex<Vec<Known>>>);

/// The hash of a list, and what was lost of it.
type Known = (u128, Arc<[Loss]>);

impl fmt::Debug for ToolLosses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ToolLosses")
    }
}

impl ToolLosses {
    fn of(
        &self,
        key: u128,
        find: impl FnOnce() -> Result<Vec<Loss>, ProviderError>,
    ) -> Result<Arc<[Loss]>, ProviderError> {
        let lock = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = lock().iter().find(|(known, _)| *known == key) {
            return Ok(known.clone());
        }
        let found: Arc<[Loss]> = find()?.into();
        let mut lists = lock();
        if lists.len() >= LISTS {
            lists.remove(0);
        }
        lists.push((key, found.clone()));
        Ok(found)
    }
}

/// The functions as blocks.
pub(super) fn blocks(
    wire: &GoogleWire,
    call: &ModelCall,
    generation: u64,
    losses: &mut Vec<Loss>,
) -> Result<Arc<[Block]>, ProviderError> {
    let specs = call.tools.specs();
    let dialect = format!("tools {:?}", wire.dialect);
    let key = ChainHash::of(&[dialect.as_bytes()]).then(call.tools.hash()).bits();
    let build = || specs.iter().map(|spec| function(wire.dialect, spec)).collect::<Result<Vec<_>, _>>();
    let blocks = call.cache.section(generation, key, build)?;
    let lost = wire.tool_losses.of(key, || {
        let mut lost = Vec::new();
        for spec in specs {
            let each = lower_tool(wire.dialect, spec.schema())?.lost;
            lost.extend(each.into_iter().map(|what| Loss::option(format!("tool `{}` {what}", spec.name()))));
        }
        Ok(lost)
    })?;
    losses.extend(lost.iter().cloned());
    Ok(blocks)
}

fn function(dialect: SchemaDialect, spec: &ToolSpec) -> Result<Block, ProviderError> {
    let mut fields = vec![("name".to_owned(), write(spec.name())?)];
    if !spec.description().is_empty() {
        fields.push(("description".to_owned(), write(spec.description())?));
    }
    let Lowered { schema, .. } = lower_tool(dialect, spec.schema())?;
    let name = match dialect {
        SchemaDialect::JsonSchema => Some("parametersJsonSchema"),
        // The vendor refuses an object of which nothing is known; a function without parameters has none.
        _ if !has_properties(schema.get()) => None,
        _ => Some("parameters"),
    };
    if let Some(name) = name {
        fields.push((name.to_owned(), schema.get().to_owned()));
    }
    Ok(Block::new(object(&fields)?))
}

fn has_properties(schema: &str) -> bool {
    let members = crate::json::Members::read(schema).unwrap_or_default();
    members.value("anyOf").is_some()
        || members
            .value("properties")
            .is_some_and(|raw| crate::json::Members::read(raw.get()).is_some_and(|properties| !properties.0.is_empty()))
}
