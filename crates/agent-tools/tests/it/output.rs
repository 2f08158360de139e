//! `output` and the stores behind it: what was too long to show is there, whole.

use std::sync::Arc;

use agent_core::{BlobError, BlobStore};
use agent_tools::{Bash, FolderBlobs, MemoryBlobs, Output, Workspace};
use serde_json::json;

use crate::{
    folder::{Folder, call, details, output, text},
    shell::command,
};

async fn check_whole(workspace: &Workspace, what: &str) {
    let (bash, pages) = (Bash::new(workspace).unwrap(), Output::new(workspace).unwrap());
    let done = output(&bash, &command("seq 1000000 1050000; echo end")).await.unwrap();
    let handle = details(&done).get("output").unwrap().as_str().unwrap().to_owned();
    assert!(text(&done).contains(&format!(" of 400012 bytes left out; the whole is output `{handle}`]\n")), "{what}");
    let whole: String = (1_000_000..=1_050_000).map(|n| format!("{n}\n")).collect::<String>() + "end\n";
    let (mut seen, mut next) = (String::new(), Some(0));
    while let Some(from) = next {
        let page = call(&pages, &json!({"handle": handle, "from_byte": from}).to_string()).await.unwrap();
        let (piece, note) = page.rsplit_once("[bytes ").unwrap();
        seen.push_str(piece);
        next = note.split_once("from_byte ").map(|(_, n)| n.split_once(' ').unwrap().0.parse::<usize>().unwrap());
    }
    // A page that ends in a line is shown with an end of its own.
    assert_eq!(seen.replace('\n', ""), whole.replace('\n', ""), "{what}");
    for (arguments, expected) in [
        (json!({"from_byte": -4}), "end\n[bytes 400008 to 400011 of 400012]"),
        (json!({"from_byte": 8, "bytes": 8}), "1000001\n[bytes 8 to 15 of 400012; from_byte 16 reads on]"),
        (
            json!({"pattern": "^10420.[05]$|end"}),
            "336000: 1042000\n336040: 1042005\n336080: 1042010\n336120: 1042015\n336160: 1042020\n336200: 1042025\n\
             336240: 1042030\n336280: 1042035\n336320: 1042040\n336360: 1042045\n336400: 1042050\n336440: 1042055\n\
             336480: 1042060\n336520: 1042065\n336560: 1042070\n336600: 1042075\n336640: 1042080\n336680: 1042085\n\
             336720: 1042090\n336760: 1042095\n400008: end\n\
             [21 lines of 400012 bytes; from_byte shows what is around one]",
        ),
        (json!({"pattern": "nothing"}), "[no line matches in bytes 0 to 400012]"),
    ] {
        let mut arguments = arguments;
        arguments.as_object_mut().unwrap().insert("handle".to_owned(), json!(handle));
        assert_eq!(call(&pages, &arguments.to_string()).await.as_deref(), Ok(expected), "{what}");
    }
    let many = call(&pages, &json!({"handle": handle, "pattern": "^1"}).to_string()).await.unwrap();
    assert!(many.ends_with("[200 lines; from_byte 1600 finds more]"), "{many}");
    let more = json!({"handle": handle, "pattern": "^1", "from_byte": 1600}).to_string();
    assert!(call(&pages, &more).await.unwrap().starts_with("1600: 1000200\n"));
    let error = call(&pages, &json!({"handle": handle, "from_byte": 400_012}).to_string()).await.unwrap_err();
    assert_eq!(error, "the output has 400012 bytes so far; there is no byte 400012");
    let error = call(&pages, r#"{"handle":"../../etc/passwd"}"#).await.unwrap_err();
    assert!(error.starts_with("no output is kept under `../../etc/passwd`: the handle is wrong, or "), "{error}");
    let error = call(&pages, &json!({"handle": handle, "pattern": "("}).to_string()).await.unwrap_err();
    assert!(error.contains("unclosed group"), "{error}");
}

#[tokio::test]
async fn the_whole_of_a_long_output_can_be_read() {
    let folder = Folder::new();
    check_whole(&folder.workspace(), "memory, which is there without being asked for").await;
    let store = FolderBlobs::new(folder.outside().join("new/store")).unwrap();
    check_whole(&folder.workspace().outputs(Arc::new(store.clone())), "a folder").await;
    // A short output needs no place.
    let folder_of_store = store.path("x").unwrap().parent().unwrap().to_owned();
    let kept = || std::fs::read_dir(&folder_of_store).unwrap().count();
    assert_eq!(kept(), 1);
    let bash = Bash::new(&folder.workspace().outputs(Arc::new(store.clone()))).unwrap();
    call(&bash, &command("echo short")).await.unwrap();
    assert_eq!(kept(), 1);
}

#[tokio::test]
async fn characters_are_not_cut() {
    let folder = Folder::new();
    let store = MemoryBlobs::new();
    let pages = Output::new(&folder.workspace().outputs(Arc::new(store.clone()))).unwrap();
    store.append("h", "äöü".into()).await.unwrap();
    for (bytes, expected) in [
        (1, "\u{FFFD}\n[bytes 0 to 0 of 6; from_byte 1 reads on]"),
        (3, "ä\n[bytes 0 to 1 of 6; from_byte 2 reads on]"),
        (6, "äöü\n[bytes 0 to 5 of 6]"),
    ] {
        let arguments = json!({"handle": "h", "bytes": bytes}).to_string();
        assert_eq!(call(&pages, &arguments).await.as_deref(), Ok(expected));
    }
    store.append("empty", "".into()).await.unwrap();
    assert_eq!(call(&pages, r#"{"handle":"empty"}"#).await.as_deref(), Ok("[empty so far]"));
}

/// What every store does.
async fn behaves(store: &dyn BlobStore) {
    let missing = store.read("a", 0, 10).await.unwrap_err();
    assert!(matches!(&missing, BlobError::Missing { handle } if handle == "a"), "{missing}");
    store.append("a", "one".into()).await.unwrap();
    store.append("a", "two".into()).await.unwrap();
    store.append("b", "x".into()).await.unwrap();
    for (from, most, expected) in [(0, 100, "onetwo"), (2, 2, "et"), (6, 5, ""), (700, 5, ""), (0, 0, "")] {
        let part = store.read("a", from, most).await.unwrap();
        assert_eq!((part.bytes.as_ref(), part.total), (expected.as_bytes(), 6), "{from} {most}");
    }
    // The limit is 20, and says so; what was there before stays.
    let full = store.append("a", vec![0; 15].into()).await.unwrap_err();
    assert!(matches!(full, BlobError::Full { limit: 20 }), "{full}");
    assert_eq!(store.read("a", 0, 100).await.unwrap().total, 6);
}

#[tokio::test]
async fn stores() {
    behaves(&MemoryBlobs::new().limit(20)).await;
    let folder = Folder::new();
    behaves(&FolderBlobs::new(folder.path("s")).unwrap().limit(20)).await;
    // What was written by one is there for the next, and links are not written through.
    let again = FolderBlobs::new(folder.path("s")).unwrap();
    assert_eq!(again.read("b", 0, 9).await.unwrap().bytes, "x");
    folder.link("s/l.log", folder.outside().join("secret.txt"));
    assert!(again.append("l", "more".into()).await.is_err() && again.read("l", 0, 9).await.is_err());
    for handle in ["", "a/b", "..", "../out/secret", "a.b", &"x".repeat(129)] {
        assert_eq!(again.path(handle), None);
        assert!(again.append(handle, "x".into()).await.is_err(), "{handle}");
    }
}

#[tokio::test]
async fn the_oldest_makes_room_in_memory() {
    let store = MemoryBlobs::new().limit(10);
    for (handle, bytes) in [("a", "1111"), ("b", "2222"), ("a", "11"), ("c", "33")] {
        store.append(handle, bytes.into()).await.unwrap();
    }
    // `a` was the oldest, also after it grew.
    assert!(store.read("a", 0, 9).await.is_err());
    store.append("b", "2222222".into()).await.unwrap_err();
    store.append("b", "2222".into()).await.unwrap();
    assert_eq!(store.read("b", 0, 9).await.unwrap().total, 8);
    assert_eq!(store.read("c", 0, 9).await.unwrap().total, 2);
}

#[tokio::test]
async fn a_store_that_is_full_is_said_and_the_end_is_kept() {
    let folder = Folder::new();
    let workspace = folder.workspace().outputs(Arc::new(MemoryBlobs::new().limit(1000)));
    let bash = Bash::new(&workspace).unwrap();
    let shown = call(&bash, &command("seq 1000000 1050000; echo end")).await.unwrap();
    assert!(shown.contains(" does not hold the whole: at most 1000 bytes are kept]\n"), "{shown}");
    assert!(shown.ends_with("\nend\n[exit code 0]"));
}
