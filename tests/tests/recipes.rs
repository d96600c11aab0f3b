//! The programs of the recipes, as a reader copies them: each compiles against the API. The
//! libraries that they are about are not here; `libraries.txt` declares what they use of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use e2e::workspace::{find_tool, root};
use e2e::{TestDir, build, process};

const LIBRARIES: &str = include_str!("recipes/libraries.txt");
/// What the programs use besides, of the API and of the JDK.
const PACKAGES: &[&str] = &[
    "io.ctxagent",
    "java.io",
    "java.sql",
    "java.time",
    "java.util.concurrent",
];

/// The Java blocks of the page.
fn programs(page: &str) -> Vec<&str> {
    let blocks = page.split("```java\n").skip(1);
    blocks.filter_map(|rest| rest.split("```").next()).collect()
}

/// Name of the first type that the text declares.
fn type_name(text: &str) -> &str {
    let words: Vec<&str> = text.split_whitespace().collect();
    let kinds = ["class", "interface", "@interface"];
    let at = words.iter().position(|word| kinds.contains(word)).unwrap();
    words[at + 1].split(['<', '{']).next().unwrap()
}

/// Writes a type; returns where.
fn write(directory: &Path, package: &str, text: &str) -> PathBuf {
    let directory = directory.join(package.replace('.', "/"));
    fs::create_dir_all(&directory).unwrap();
    let file = directory.join(type_name(text)).with_extension("java");
    fs::write(&file, text).unwrap();
    file
}

#[test]
fn programs_of_the_recipes_compile() {
    let test_dir = TestDir::new();
    let mut packages: BTreeSet<&str> = PACKAGES.iter().copied().collect();
    let mut files = Vec::new();
    for line in LIBRARIES.lines().filter(|line| !line.starts_with('#')) {
        let (package, declaration) = line.split_once(' ').unwrap();
        packages.insert(package);
        let text = format!("package {package};\npublic {declaration}\n");
        files.push(write(test_dir.path(), package, &text));
    }
    let imports: Vec<String> = packages
        .iter()
        .map(|p| format!("import {p}.*;\n"))
        .collect();
    let imports = imports.concat();
    let page = fs::read_to_string(root().join("docs/user-guide/recipes.md")).unwrap();
    let programs = programs(&page);
    assert_eq!(programs.len(), 4, "the page is written otherwise");
    for program in programs {
        let text = format!("{imports}import java.util.function.Function;\n{program}");
        files.push(write(test_dir.path(), "", &text));
    }
    let javac = find_tool("javac")
        .expect("a JDK with javac")
        .join("bin/javac");
    let mut command = Command::new(javac);
    let classes = test_dir.file("classes");
    command
        .args([
            "-nowarn",
            "--release",
            "17",
            "-cp",
            build::class_path(),
            "-d",
        ])
        .arg(classes)
        .args(&files);
    process::run(command).success();
}
