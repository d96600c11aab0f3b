//! A class file as far as a patch needs it: constant pool, own name, methods and their code.

mod constant_pool;
mod names;

use std::ops::Range;

use crate::bytes::Reader;
use crate::error::{Error, ErrorKind, HookFault, Result};
pub(crate) use constant_pool::{ConstantPool, MethodName, NewConstants};

const MAGIC: u32 = 0xCAFE_BABE;
/// Major and minor version of the first `Code` attribute with 16-bit sizes.
const MIN_VERSION: (u16, u16) = (45, 3);
const ACC_STATIC: u16 = 0x0008;

/// A class file that was read; borrows its bytes.
#[derive(Debug)]
pub struct ClassFile<'a> {
    bytes: &'a [u8],
    pool: ConstantPool<'a>,
    name: &'a [u8],
    methods: Vec<Method<'a>>,
}

/// A method of a class file.
#[derive(Debug)]
pub struct Method<'a> {
    at: usize,
    access: u16,
    name: &'a [u8],
    descriptor: &'a [u8],
    /// Position of the `Code` attribute's length and content.
    code: Option<Range<usize>>,
}

impl<'a> ClassFile<'a> {
    /// Reads a class, with the structure of all its attributes but the content of none.
    ///
    /// # Errors
    ///
    /// If the bytes are not one class file of version 45.3 or later. What a patch does not touch is
    /// not checked.
    pub fn parse(bytes: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(bytes);
        read_version(&mut reader)?;
        let pool = ConstantPool::read(&mut reader)?;
        let _access = reader.u16()?;
        let name = pool.class_name(&mut reader)?;
        let _super_class = reader.u16()?;
        let interfaces = reader.u16()?;
        reader.take(usize::from(interfaces).saturating_mul(2))?;
        for _ in 0..reader.u16()? {
            Method::read(&mut reader, &pool)?; // fields have the same structure
        }
        let mut methods = Vec::new();
        for _ in 0..reader.u16()? {
            methods.push(Method::read(&mut reader, &pool)?);
        }
        for _ in 0..reader.u16()? {
            let _name = reader.u16()?;
            let len = reader.u32()?;
            reader.part(len)?;
        }
        reader.expect_end()?;
        Ok(Self {
            bytes,
            pool,
            name,
            methods,
        })
    }

    /// Name of the class in internal form (`java/lang/String`), as modified UTF-8.
    pub fn name(&self) -> &'a [u8] {
        self.name
    }

    /// Its methods, in the order of the file.
    pub fn methods(&self) -> &[Method<'a>] {
        &self.methods
    }

    /// The class file with other names of packages and classes: in all its texts, the first of each
    /// pair gives way to the second. Those are parts of names in internal form, `javax/servlet/`.
    ///
    /// # Errors
    ///
    /// If a text would be longer than 65,535 bytes.
    pub fn with_other_names(&self, names: &[(&str, &str)]) -> Result<Vec<u8>> {
        let pool = self.pool.range();
        let (head, tail) = (self.bytes.get(..pool.start), self.bytes.get(pool.end..));
        let entries = names::with_other_names(&self.pool, names)?;
        Ok([head.unwrap_or_default(), &entries, tail.unwrap_or_default()].concat())
    }

    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    pub(crate) fn pool(&self) -> &ConstantPool<'a> {
        &self.pool
    }
}

impl<'a> Method<'a> {
    /// Reads a field or a method.
    fn read(reader: &mut Reader<'a>, pool: &ConstantPool<'a>) -> Result<Self> {
        let at = reader.at();
        let access = reader.u16()?;
        let name = pool.utf8(reader)?;
        let descriptor = pool.utf8(reader)?;
        let mut code = None;
        for _ in 0..reader.u16()? {
            let attribute_at = reader.at();
            let attribute = pool.utf8(reader)?;
            let begin = reader.at();
            let len = reader.u32()?;
            reader.part(len)?;
            if attribute == b"Code" && code.replace(begin..reader.at()).is_some() {
                return Err(Error::new(attribute_at, ErrorKind::SecondCode));
            }
        }
        Ok(Self {
            at,
            access,
            name,
            descriptor,
            code,
        })
    }

    /// Its name, as modified UTF-8.
    pub fn name(&self) -> &'a [u8] {
        self.name
    }

    /// Its descriptor, as modified UTF-8.
    pub fn descriptor(&self) -> &'a [u8] {
        self.descriptor
    }

    /// Whether it has no `this`.
    pub fn is_static(&self) -> bool {
        self.access & ACC_STATIC != 0
    }

    /// Whether it has code: it is neither abstract nor native.
    pub fn has_code(&self) -> bool {
        self.code.is_some()
    }

    /// The error of a hook at this method.
    pub(crate) fn bad_hook(&self, reason: HookFault) -> Error {
        Error::bad_hook(self.at, (self.name, self.descriptor), reason)
    }

    /// Whether `this` is not yet initialised at its entry.
    pub(crate) fn is_constructor(&self) -> bool {
        self.name == b"<init>"
    }

    /// Position of the `Code` attribute's length and content.
    pub(crate) fn code(&self) -> Option<Range<usize>> {
        self.code.clone()
    }
}

fn read_version(reader: &mut Reader<'_>) -> Result<()> {
    let magic = reader.u32()?;
    if magic != MAGIC {
        return Err(Error::new(0, ErrorKind::BadMagic(magic)));
    }
    let at = reader.at();
    let (minor, major) = (reader.u16()?, reader.u16()?);
    if (major, minor) < MIN_VERSION {
        return Err(Error::new(at, ErrorKind::OldVersion { major, minor }));
    }
    Ok(())
}
