"""Parts of scripts/dist.sh that a shell does badly. Each writes the same bytes for the same input.

    dist.py unneed LIBRARY PREFIX          forgets that the library needs one of this prefix
    dist.py jar VERSION OUT API LOADER PLATFORM=LIBRARY...     ctxagent.jar
    dist.py repository DIRECTORY VERSION ARTIFACT=JARS[=DEPENDENCIES]...     Maven's layout
    dist.py sbom VERSION OUT ARTIFACT...   CycloneDX, from `cargo metadata` on stdin
"""

import hashlib
import json
import pathlib
import struct
import sys
import uuid
import zipfile
import zlib

GROUP = "io.ctxagent"
# The oldest date that a zip file can have.
EPOCH = (1980, 1, 1, 0, 0, 0)

DESCRIPTIONS = {
    "ctxagent": "JVM agent that labels CPU samples with thread context: the API, the agent of each "
    "platform and what loads it",
    "ctxagent-api": "Thread context for recordings; does nothing without the agent",
    "ctxagent-junit": "Fails a test of JUnit 5 that leaves a context open",
    "ctxagent-spring-boot-starter": "The agent in a service of Spring Boot: properties, an endpoint "
    "of Actuator, meters",
}


# ---- ELF: https://refspecs.linuxfoundation.org/elf/gabi4+/ch5.dynamic.html ----

DT_NEEDED, DT_STRTAB, PT_LOAD, PT_DYNAMIC = 1, 5, 1, 2


def program_headers(elf):
    offset, size, count = struct.unpack_from("<Q", elf, 32) + struct.unpack_from("<HH", elf, 54)
    for at in range(offset, offset + size * count, size):
        kind, _, start, address, _, length = struct.unpack_from("<IIQQQQ", elf, at)
        yield kind, start, address, length


def dynamic_entries(elf):
    """Position in the file, tag and value of each."""
    start = next(start for kind, start, _, _ in program_headers(elf) if kind == PT_DYNAMIC)
    while True:
        tag, value = struct.unpack_from("<QQ", elf, start)
        if tag == 0:
            return
        yield start, tag, value
        start += 16


def unneed(path, prefix):
    """Makes the entry of that library a second one of the C library.

    The library of the loader is there without being asked for, and musl has it under another name.
    """
    elf = bytearray(pathlib.Path(path).read_bytes())
    entries = list(dynamic_entries(elf))
    strings = next(value for _, tag, value in entries if tag == DT_STRTAB)
    strings = next(
        strings - address + start
        for kind, start, address, length in program_headers(elf)
        if kind == PT_LOAD and address <= strings < address + length
    )

    def name(value):
        start = strings + value
        return elf[start : elf.index(0, start)].decode()

    needed = {name(value): (at, value) for at, tag, value in entries if tag == DT_NEEDED}
    for library, (at, _) in needed.items():
        if library.startswith(prefix):
            struct.pack_into("<Q", elf, at + 8, needed["libc.so.6"][1])
    pathlib.Path(path).write_bytes(elf)


# ---- jars ----


def add(jar, name, data):
    entry = zipfile.ZipInfo(name, EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o644 << 16
    jar.writestr(entry, data, compresslevel=9)


def agent_jar(version, out, api, loader, *libraries):
    loader = pathlib.Path(loader)
    with zipfile.ZipFile(api) as source:
        files = {name: source.read(name) for name in source.namelist() if not name.endswith("/")}
    for path in loader.rglob("*.class"):
        files[str(path.relative_to(loader))] = path.read_bytes()
    for platform, library in (argument.split("=") for argument in libraries):
        data = pathlib.Path(library).read_bytes()
        name = f"META-INF/native-libs/{platform}/libctxagent.so"
        files[name] = data
        files[f"{name}.crc32"] = f"{zlib.crc32(data):x}".encode()
    manifest = (
        "Manifest-Version: 1.0\r\n"
        "Implementation-Title: ctxagent\r\n"
        f"Implementation-Version: {version}\r\n"
        "Premain-Class: io.ctxagent.internal.loader.JavaAgent\r\n"
        "Agent-Class: io.ctxagent.internal.loader.JavaAgent\r\n\r\n"
    )
    del files["META-INF/MANIFEST.MF"]
    with zipfile.ZipFile(out, "w") as jar:
        add(jar, "META-INF/MANIFEST.MF", manifest)
        for name in sorted(files):
            add(jar, name, files[name])


# ---- Maven's layout ----


def dependency(text):
    group, name, version = text.split(":")
    return f"""    <dependency>
      <groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version>
    </dependency>
"""


def pom(artifact, version, dependencies):
    elements = "".join(map(dependency, dependencies))
    if elements:
        elements = f"  <dependencies>\n{elements}  </dependencies>\n"
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>{GROUP}</groupId>
  <artifactId>{artifact}</artifactId>
  <version>{version}</version>
  <name>{artifact}</name>
  <description>{DESCRIPTIONS[artifact]}</description>
  <licenses>
    <license><name>Apache-2.0</name></license>
    <license><name>MIT</name></license>
  </licenses>
{elements}</project>
"""


def repository(directory, version, *artifacts):
    for artifact, jars, *dependencies in (argument.split("=") for argument in artifacts):
        place = pathlib.Path(directory, *GROUP.split("."), artifact, version)
        place.mkdir(parents=True)
        dependencies = [text for joined in dependencies for text in joined.split(",")]
        files = {f"{artifact}-{version}.pom": pom(artifact, version, dependencies).encode()}
        for jar in map(pathlib.Path, jars.split(",")):
            files[jar.name] = jar.read_bytes()
        for name, data in files.items():
            (place / name).write_bytes(data)
            for kind in ("sha1", "sha256"):
                (place / f"{name}.{kind}").write_text(hashlib.new(kind, data).hexdigest())


# ---- CycloneDX ----


def shipped(metadata, roots):
    """The packages that the roots are built from, without build scripts' and tests' own."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    pending = [id for id, package in packages.items() if package["name"] in roots]
    found = {}
    while pending:
        id = pending.pop()
        if id in found:
            continue
        edges = [
            edge["pkg"]
            for edge in nodes[id]["deps"]
            if any(kind["kind"] is None for kind in edge["dep_kinds"])
        ]
        found[id] = edges
        pending += edges
    return packages, found


def purl(package):
    return f"pkg:cargo/{package['name']}@{package['version']}"


def licence(package):
    # Before "OR" was written with words.
    return (package["license"] or "").replace("/", " OR ")


def sbom(version, out, *artifacts):
    packages, found = shipped(json.load(sys.stdin), ("ctxagent", "ctxjfr"))
    components = [
        {
            "type": "library",
            "bom-ref": purl(packages[id]),
            "name": packages[id]["name"],
            "version": packages[id]["version"],
            "purl": purl(packages[id]),
            "licenses": [{"expression": licence(packages[id])}],
        }
        for id in found
    ]
    for path in map(pathlib.Path, artifacts):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        components.append(
            {
                "type": "file",
                "bom-ref": path.name,
                "name": path.name,
                "hashes": [{"alg": "SHA-256", "content": digest}],
            }
        )
    components.sort(key=lambda component: component["bom-ref"])
    dependencies = [
        {"ref": purl(packages[id]), "dependsOn": sorted(purl(packages[edge]) for edge in edges)}
        for id, edges in found.items()
    ]
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "ctxagent", "version": version}},
        "components": components,
        "dependencies": sorted(dependencies, key=lambda dependency: dependency["ref"]),
    }
    text = json.dumps(document, sort_keys=True)
    document["serialNumber"] = f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, text)}"
    pathlib.Path(out).write_text(json.dumps(document, indent=1) + "\n")


COMMANDS = {"unneed": unneed, "jar": agent_jar, "repository": repository, "sbom": sbom}

if __name__ == "__main__":
    COMMANDS[sys.argv[1]](*sys.argv[2:])
