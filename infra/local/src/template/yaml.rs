//! Reads YAML into JSON values. Short forms such as `!Ref Stage`, which are tags in YAML, become long forms
//! such as `{"Ref": "Stage"}`.

use saphyr::{LoadableYamlNode, Scalar, Yaml};
use serde_json::{Map, Number, Value};

/// The document in `text`.
///
/// # Errors
/// A sentence, with the line if it is known.
pub(super) fn parse(text: &str) -> Result<Value, String> {
    let documents = Yaml::load_from_str(text).map_err(|error| format!("it is not YAML: {error}"))?;
    let [document] = documents.as_slice() else {
        return Err("it must be exactly one YAML document".to_owned());
    };
    convert(document)
}

fn convert(node: &Yaml<'_>) -> Result<Value, String> {
    match node {
        Yaml::Value(scalar) => convert_scalar(scalar),
        Yaml::Sequence(items) => items.iter().map(convert).collect::<Result<_, _>>().map(Value::Array),
        Yaml::Mapping(entries) => {
            let mut object = Map::new();
            for (key, value) in entries {
                let key = match convert(key)? {
                    Value::String(key) => key,
                    Value::Array(_) | Value::Object(_) => return Err("a key must be plain text".to_owned()),
                    other => other.to_string(),
                };
                object.insert(key, convert(value)?);
            }
            Ok(Value::Object(object))
        }
        Yaml::Tagged(tag, content) => long_form(&tag.suffix, convert(content)?),
        Yaml::Representation(..) | Yaml::Alias(_) | Yaml::BadValue => {
            Err("it uses YAML that CloudFormation does not support".to_owned())
        }
    }
}

fn convert_scalar(scalar: &Scalar<'_>) -> Result<Value, String> {
    Ok(match scalar {
        Scalar::Null => Value::Null,
        Scalar::Boolean(value) => Value::Bool(*value),
        Scalar::Integer(value) => Value::from(*value),
        Scalar::FloatingPoint(value) => {
            Value::Number(Number::from_f64(value.0).ok_or("a number must be finite")?)
        }
        Scalar::String(value) => Value::from(value.as_ref()),
    })
}

fn long_form(tag: &str, content: Value) -> Result<Value, String> {
    let (function, argument) = match tag {
        "Ref" => (tag.to_owned(), content),
        "GetAtt" => match content.as_str().and_then(|text| text.split_once('.')) {
            Some(parts) => ("Fn::GetAtt".to_owned(), Value::from(vec![parts.0, parts.1])),
            None => return Err("!GetAtt must name a resource and an attribute".to_owned()),
        },
        "And" | "Equals" | "If" | "Not" | "Sub" => (format!("Fn::{tag}"), content),
        _ => return Err(format!("it uses the tag !{tag}, which the local cloud does not support")),
    };
    Ok(Value::Object(Map::from_iter([(function, argument)])))
}
