//! The vendor's own vectors: AWS's signing test suite, botocore's signatures, the SDK's messages of the event stream.
//!
//! `cargo xtask conformance sigv4` adds up what is printed here.

use std::{fs, path::PathBuf};

use agent_bedrock::{EventHeaderValue, EventStreamDecoder, PathForm, PayloadHash, SigV4, Signature, SignedRequest};
use agent_core::{ByteString, Secret};
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use serde_json::Value;

fn folder(inside: &str) -> Option<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures/vectors").join(inside);
    if !folder.exists() {
        eprintln!("skipped: there is no {}", folder.display());
        return None;
    }
    Some(folder)
}

/// Prints the figures, and fails where not all passed.
fn report(what: &str, failed: &[String], total: usize) {
    println!("{what}: passed {} of {total}", total - failed.len());
    assert!(failed.is_empty(), "{what}: {failed:#?}");
    assert!(total > 0, "{what}: no vectors were found");
}

#[test]
fn aws_signing_test_suite() {
    let Some(folder) = folder("sigv4/tests/aws-signing-test-suite/v4") else { return };
    let (mut failed, mut total) = (Vec::new(), 0);
    for entry in fs::read_dir(folder).unwrap() {
        let case = entry.unwrap().path();
        let file = |name: &str| fs::read_to_string(case.join(name)).unwrap().trim_end().to_owned();
        let name = case.file_name().unwrap().to_string_lossy().into_owned();
        let [header, query] = sign_case(&file("request.txt"), &serde_json::from_str(&file("context.json")).unwrap());
        for (form, signature) in [("header", header), ("query", query)] {
            total += 1;
            let expected = ["canonical-request", "string-to-sign", "signature"];
            let expected = expected.map(|part| file(&format!("{form}-{part}.txt")));
            if expected != [signature.canonical_request, signature.string_to_sign, signature.signature] {
                failed.push(format!("{name} ({form})"));
            }
        }
    }
    report("sigv4", &failed, total);
}

/// A request of the suite, signed in its headers and in its query.
fn sign_case(request: &str, context: &Value) -> [Signature; 2] {
    let (head, body) = request.split_once("\n\n").unwrap_or((request, ""));
    // A value on several lines is one value.
    let head = head.replace("\n ", " ");
    let mut lines = head.lines();
    let first = lines.next().unwrap().strip_suffix(" HTTP/1.1").unwrap();
    let (method, target) = first.split_once(' ').unwrap();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut headers = HeaderMap::new();
    for line in lines {
        let (name, value) = line.split_once(':').unwrap();
        headers.append(
            HeaderName::from_bytes(name.as_bytes()).unwrap(),
            HeaderValue::from_bytes(value.as_bytes()).unwrap(),
        );
    }
    let text = |name: &str| context[name].as_str().unwrap();
    let credentials = |name: &str| context["credentials"][name].as_str();
    let secret = Secret::new(credentials("secret_access_key").unwrap());
    let omits = context["omit_session_token"].as_bool().unwrap_or(false);
    let token = credentials("token").filter(|_| !omits).map(Secret::new);
    let form = if context["normalize"].as_bool().unwrap() { PathForm::Normalized } else { PathForm::AsIs };
    let signer = SigV4::new(credentials("access_key_id").unwrap(), &secret, text("region"), text("service")).path(form);
    assert_eq!(text("timestamp"), "2015-08-30T12:36:00Z");
    let now = 1_440_938_160_000;
    let signs_body = context["sign_body"].as_bool().unwrap();
    let payload = PayloadHash::of(if signs_body { body.as_bytes() } else { b"" });
    let seconds = u32::try_from(context["expiration_in_seconds"].as_u64().unwrap()).unwrap();
    let in_query = signer.presign(
        &SignedRequest::new(method, path, &headers).query(query),
        &payload,
        now,
        seconds,
        token.as_ref(),
    );
    headers.insert("x-amz-date", SigV4::date(now).parse().unwrap());
    if let Some(token) = &token {
        headers.insert("x-amz-security-token", token.expose().parse().unwrap());
    }
    if signs_body {
        headers.insert("x-amz-content-sha256", payload.hex().parse().unwrap());
    }
    [signer.sign(&SignedRequest::new(method, path, &headers).query(query), &payload, now), in_query]
}

#[test]
fn botocore_signs_bedrock_so() {
    let Some(file) = folder("sigv4/bedrock-botocore.json") else { return };
    let cases: Vec<Value> = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    let mut failed = Vec::new();
    for case in &cases {
        let text = |name: &str| case[name].as_str().unwrap();
        let url: Uri = text("url").parse().unwrap();
        let mut headers = HeaderMap::new();
        headers.insert("host", url.host().unwrap().parse().unwrap());
        for (name, value) in case["signed_headers"].as_object().unwrap() {
            let name: HeaderName = name.parse().unwrap();
            headers.insert(name, value.as_str().unwrap().parse().unwrap());
        }
        let secret = Secret::new(text("secret_key"));
        let signer = SigV4::new(text("access_key"), &secret, text("region"), text("service"));
        assert_eq!(headers["x-amz-date"], "20261130T120000Z");
        let payload = PayloadHash::of(text("body").as_bytes());
        let request = SignedRequest::new(text("method"), url.path(), &headers);
        let signed = signer.sign(&request, &payload, 1_796_040_000_000);
        let expected = [text("canonical_request"), text("string_to_sign"), text("authorization")];
        if expected != [&*signed.canonical_request, &*signed.string_to_sign, &*signed.authorization] {
            failed.push(format!("{}: {signed:#?}", text("name")));
        }
    }
    report("bedrock", &failed, cases.len());
}

#[test]
fn the_sdk_s_messages_are_read_and_refused() {
    let Some(folder) = folder("eventstream/private/protocol/eventstream/testdata") else { return };
    let (mut failed, mut total) = (Vec::new(), 0);
    for kind in ["positive", "negative"] {
        for entry in fs::read_dir(folder.join("encoded").join(kind)).unwrap() {
            let file = entry.unwrap().path();
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            let expected = fs::read_to_string(folder.join("decoded").join(kind).join(&name)).unwrap();
            total += 1;
            if !agrees(&fs::read(&file).unwrap(), &expected) {
                failed.push(name);
            }
        }
    }
    report("eventstream", &failed, total);
}

fn agrees(bytes: &[u8], expected: &str) -> bool {
    let mut decoder = EventStreamDecoder::new();
    decoder.push(bytes);
    let message = match decoder.next_message() {
        Ok(message) => message.unwrap(),
        Err(error) => {
            let what = expected.trim().replace(" checksum mismatch", "").to_lowercase();
            return error.to_string().starts_with(&format!("the checksum of the message's {what} is "))
                || what == "message" && error.to_string().starts_with("the checksum of the message is ");
        }
    };
    let Ok(expected) = serde_json::from_str::<Value>(expected) else { return false };
    let headers = expected["headers"].as_array().unwrap();
    let decoded = |value: &Value| BASE64.decode(value.as_str().unwrap()).unwrap();
    let fits = |(row, (name, value)): (&Value, &(ByteString, EventHeaderValue))| {
        let (kind, given) = (row["type"].as_u64().unwrap(), &row["value"]);
        let same = match value {
            EventHeaderValue::Bool(value) => kind == u64::from(!value) && given == value,
            EventHeaderValue::Byte(value) => kind == 2 && given == value,
            EventHeaderValue::Int16(value) => kind == 3 && given == value,
            EventHeaderValue::Int32(value) => kind == 4 && given == value,
            EventHeaderValue::Int64(value) => kind == 5 && given == value,
            EventHeaderValue::Bytes(value) => kind == 6 && decoded(given) == value[..],
            EventHeaderValue::Text(value) => kind == 7 && decoded(given).as_slice() == value.as_bytes().as_ref(),
            EventHeaderValue::Timestamp(value) => kind == 8 && given == value,
            EventHeaderValue::Uuid(value) => kind == 9 && decoded(given) == value,
            _ => false,
        };
        same && row["name"].as_str() == Some(&**name)
    };
    headers.len() == message.headers.len()
        && headers.iter().zip(&message.headers).all(fits)
        && decoded(&expected["payload"]) == message.payload[..]
        && decoder.is_between_messages()
}
