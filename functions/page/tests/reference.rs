//! The build script generates HTML from the OpenAPI document.

use serde_json::{Value, json};

#[path = "../build/reference.rs"]
mod reference;

use reference::with_document;

/// A document with this text in every place for text.
fn document(text: &str) -> Value {
    let data = json!({"id": text, "buyPrice": 2.5, "sellPrice": 1});
    let parameter = json!({"name": text, "in": text, "description": text, "schema": {"type": text, "enum": [text], "default": text}});
    let with_pattern = json!({"name": "a", "in": "query", "schema": {"type": "string", "pattern": text}});
    let example = json!({"summary": format!("GET /v1/bazaar?id={text}"), "value": {"data": data}});
    let operation = json!({
        "operationId": text, "summary": text, "description": text, "tags": [text], "parameters": [parameter, with_pattern],
        "responses": {"200": {"content": {"application/json": {"examples": {"item": example}}}}},
    });
    json!({
        "info": {"description": text},
        "tags": [{"name": text, "description": text}],
        "paths": {"/v1/bazaar": {"get": operation.clone()}, format!("/{text}"): {"get": operation}},
    })
}

const MARKS: &str =
    "{document:python}{document:output}{document:navigation}{document:operations}{document:rules}";

#[test]
fn no_text_of_the_document_becomes_markup() {
    let page = with_document(MARKS, &document("\"><script>&amp;")).unwrap();
    assert_eq!(page.matches("&quot;&gt;&lt;script&gt;&amp;amp;").count(), page.matches("script").count());
    // Ordinary text gives the same number of tags.
    let ordinary = with_document(MARKS, &document("WORD")).unwrap();
    assert_eq!(page.matches('<').count(), ordinary.matches('<').count());
}

#[test]
fn code_and_strong_words_are_marked_and_a_long_response_is_cut() {
    let mut document = document("WORD");
    document["info"]["description"] = "**A** `b`.\n\nC.".into();
    let operation = &mut document["paths"]["/v1/bazaar"]["get"];
    let example = &mut operation["responses"]["200"]["content"]["application/json"]["examples"]["item"];
    example["value"]["data"]["more"] = (0..100).collect();
    let page = with_document("{document:rules}{document:operations}", &document).unwrap();
    assert!(page.starts_with("<p><strong>A</strong> <code>b</code>.</p>\n<p>C.</p>\n"), "{page:.200}");
    assert!(page.contains("34,\n…</code></pre>") && !page.contains("\n      99"), "{page}");
}
