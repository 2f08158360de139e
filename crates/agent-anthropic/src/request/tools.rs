//! The tools: those of the call, those that the vendor runs itself, and the one that stands for the shape of the answer
//! (<https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use>).

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use agent_core::{Block, ChainHash, Loss, ModelCall, OutputSchema, ProviderError, RawJson, ToolSpec};
use serde::Serialize;

use crate::{
    AnthropicWire,
    json::write,
    schema::{Lowered, lower_output_schema, lower_tool_schema},
};

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    input_schema: &'a RawJson,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    strict: bool,
}

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

/// The tools as blocks, made once for each list.
pub(super) fn blocks(
    wire: &AnthropicWire,
    call: &ModelCall,
    generation: u64,
    server_tools: &[String],
    output: Option<&OutputSchema>,
    losses: &mut Vec<Loss>,
) -> Result<Vec<Block>, ProviderError> {
    let strict = wire.strict_tools;
    let specs = call.tools.specs();
    let own_key = ChainHash::of(&[b"tools", &[u8::from(strict)]]).then(call.tools.hash());
    let key = server_tools.iter().fold(own_key, |key, text| key.then(ChainHash::of(&[text.as_bytes()])));
    let build = || {
        let own = specs.iter().map(|spec| tool(spec, &lower(spec, strict)?.schema, strict));
        let vendors = server_tools.iter().map(|text| Ok(closed(text.clone().into_bytes())));
        own.chain(vendors).collect::<Result<Vec<_>, ProviderError>>()
    };
    let mut blocks = call.cache.section(generation, key.bits(), build)?.to_vec();
    let lost = wire.tool_losses.of(own_key.bits(), || {
        let mut lost = Vec::new();
        for spec in specs {
            let each = lower(spec, strict)?.lost;
            lost.extend(each.into_iter().map(|what| Loss::option(format!("tool `{}` {what}", spec.name()))));
        }
        Ok(lost)
    })?;
    losses.extend(lost.iter().cloned());
    if let Some(output) = output {
        let description = "Call this tool with your answer.";
        let tool = Tool { name: &output.name, description, input_schema: &output.schema, strict: false };
        blocks.push(closed(write(&tool)?));
    }
    Ok(blocks)
}

fn lower(spec: &ToolSpec, strict: bool) -> Result<Lowered, ProviderError> {
    let mut lowered = lower_tool_schema(spec.schema())?;
    if strict {
        let closed = lower_output_schema(&lowered.schema)?;
        lowered.lost.extend(closed.lost);
        lowered.schema = closed.schema;
    }
    Ok(lowered)
}

fn tool(spec: &ToolSpec, schema: &RawJson, strict: bool) -> Result<Block, ProviderError> {
    let tool = Tool { name: spec.name(), description: spec.description(), input_schema: schema, strict };
    Ok(closed(write(&tool)?))
}

/// A block that is open at its end, for a marker.
fn closed(mut bytes: Vec<u8>) -> Block {
    let open = bytes.last() == Some(&b'}') && bytes.pop().is_some();
    Block::new(bytes).close(if open { "}" } else { "" })
}
