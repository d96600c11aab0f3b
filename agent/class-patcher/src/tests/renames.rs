//! Classes that name others by other names.

use super::test_class::TestClass;
use crate::class_file::ClassFile;
use crate::error::Result;

const NAMES: [(&str, &str); 2] = [("java/lang/", "j/"), ("run", "carry on")];

fn rename(bytes: &[u8], names: &[(&str, &str)]) -> Result<Vec<u8>> {
    ClassFile::parse(bytes)?.with_other_names(names)
}

/// Texts get shorter and longer, and other constants keep theirs.
#[test]
fn each_text_of_the_pool_has_the_other_name() {
    let class = TestClass {
        callees: vec![(10, "java/lang/System", "run", "(Ljava/lang/String;)V")],
        spare_constants: 2,
        ..TestClass::default()
    };
    let bytes = class.bytes();
    let renamed = rename(&bytes, &NAMES).unwrap();
    let has = |text: &str| renamed.windows(text.len()).any(|w| w == text.as_bytes());
    for text in ["j/Object", "j/System", "(Lj/String;)V", "carry on"] {
        assert!(has(text), "{text}");
    }
    assert!(!has("java/lang/") && !has("run"));
    let back = [("j/", "java/lang/"), ("carry on", "run")];
    assert_eq!(rename(&renamed, &back).unwrap(), bytes);
    assert_eq!(rename(&bytes, &[]).unwrap(), bytes);
}

#[test]
fn text_that_gets_too_long_is_refused() {
    let bytes = TestClass::default().bytes();
    let long = "l".repeat(70_000);
    assert!(rename(&bytes, &[("run", long.as_str())]).is_err());
}
