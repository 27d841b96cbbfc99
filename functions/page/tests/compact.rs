//! The build script shortens scripts and style sheets without changing their effect.

#[path = "../build/compact.rs"]
mod compact;

use compact::compact;

#[test]
fn comments_indentation_and_empty_lines_are_left_out() {
    let code = "/**\n * One `${`.\n */\nconst a = () => {\n  // Two.\n\n  return `x${b ? `y` : { c: `\\`` }.c} //`;\n};\n// Three.\n";
    assert_eq!(compact(code).unwrap(), "const a = () => {\nreturn `x${b ? `y` : { c: `\\`` }.c} //`;\n};");
}

#[test]
fn a_line_of_a_template_that_begins_like_a_comment_is_an_error() {
    for line in ["// text", "/* text */"] {
        for (before, after) in
            [("html`<p>", "</p>`;"), ("html`${a && html`<p>", "</p>`}`;"), ("html`${{ a }}", "`;")]
        {
            let error = compact(&format!("{before}\n  {line}\n{after}")).unwrap_err();
            assert!(error.ends_with(line), "{before}: {error}");
        }
        // Within the code of a template, the line is a comment.
        assert_eq!(compact(&format!("`${{\n{line}\na}}`")).unwrap(), "`${\na}`");
    }
}

#[test]
fn a_file_whose_templates_are_not_known_is_an_error() {
    for code in ["const a = `x;", "const a = '`';", "if (a) {", "a { color: red; "] {
        assert!(compact(code).is_err(), "{code}");
    }
}
