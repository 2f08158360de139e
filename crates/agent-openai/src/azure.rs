//! Azure's addresses (<https://learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle>).
//!
//! The interface of version 1 lies at `{resource}/openai/v1` and needs no `api-version`; the model of a call is the
//! name of a deployment. The older one has the deployment in the address and wants a version.

use http::{Uri, uri::InvalidUri};

use crate::{ChatWire, KeyHeader, ResponsesWire};

/// The version that the older interface is asked for, if none is said.
const VERSION: &str = "2024-10-21";

/// What an address of Azure says.
#[derive(Debug, PartialEq, Eq)]
struct Resource {
    /// Scheme and host.
    root: String,
    deployment: Option<String>,
    version: Option<String>,
}

/// Takes an address as people copy it: the resource, `/openai`, `/openai/v1`, `/openai/deployments/{name}` with or
/// without more behind it.
fn resource(address: &str) -> Result<Resource, InvalidUri> {
    let uri: Uri = address.trim().parse()?;
    let (scheme, host) = (uri.scheme_str().unwrap_or("https"), uri.authority().map_or("", |host| host.as_str()));
    let mut path = uri.path().split('/').filter(|part| !part.is_empty());
    let deployment = path.by_ref().find(|part| *part == "deployments").and_then(|_| path.next()).map(str::to_owned);
    let pairs = uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    let version = pairs.into_iter().find(|(name, _)| *name == "api-version").map(|(_, value)| value.to_owned());
    Ok(Resource { root: format!("{scheme}://{host}"), deployment, version })
}

impl ChatWire {
    /// Chat Completions on Azure. An address with `/deployments/{name}` means the older interface, whose version is the
    /// address's `api-version`; every other one the interface of version 1, where the model is the deployment's name.
    ///
    /// ```
    /// use agent_openai::ChatWire;
    /// let wire = ChatWire::azure("https://mine.openai.azure.com/")?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`InvalidUri`] where it is no address.
    pub fn azure(address: &str) -> Result<Self, InvalidUri> {
        let Resource { root, deployment, version } = resource(address)?;
        let (base, query) = match deployment {
            None => (format!("{root}/openai/v1"), String::new()),
            Some(name) => {
                let version = version.unwrap_or_else(|| VERSION.to_owned());
                (format!("{root}/openai/deployments/{name}"), format!("?api-version={version}"))
            }
        };
        let wire = Self::openai().provider("azure").key_header(KeyHeader::ApiKey);
        Ok(Self { server: wire.server.at(&base, &query)?, ..wire })
    }
}

impl ResponsesWire {
    /// Responses on Azure: always the interface of version 1. A deployment in the address takes the place of the model
    /// in every call.
    ///
    /// # Errors
    /// [`InvalidUri`] where it is no address.
    pub fn azure(address: &str) -> Result<Self, InvalidUri> {
        let Resource { root, deployment, .. } = resource(address)?;
        let wire = Self::openai().provider("azure").key_header(KeyHeader::ApiKey);
        let server = wire.server.at(&format!("{root}/openai/v1"), "")?;
        Ok(Self { server, deployment, ..wire })
    }
}
