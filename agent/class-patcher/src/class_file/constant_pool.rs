//! The constant pool: where each entry is, and entries to append.

use std::collections::HashMap;
use std::ops::Range;

use crate::bytes::{Reader, put_u16};
use crate::error::{Error, ErrorKind, Result};

pub(crate) const UTF8: u8 = 1;
const CLASS: u8 = 7;
const METHOD: u8 = 10;
const INTERFACE_METHOD: u8 = 11;
const NAME_AND_TYPE: u8 = 12;

/// A method as a constant names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MethodName<'a> {
    pub(crate) class: &'a [u8],
    pub(crate) method: &'a [u8],
    pub(crate) descriptor: &'a [u8],
}

/// The constants of a class.
#[derive(Debug)]
pub(crate) struct ConstantPool<'a> {
    /// Tag and content by index; none at 0 and behind each `long` and `double`.
    entries: Vec<Option<(u8, &'a [u8])>>,
    /// Position of the entries in the class, without their number.
    range: Range<usize>,
}

impl<'a> ConstantPool<'a> {
    pub(crate) fn read(reader: &mut Reader<'a>) -> Result<Self> {
        let count = usize::from(reader.u16()?);
        let begin = reader.at();
        let mut entries = vec![None];
        while entries.len() < count {
            let at = reader.at();
            let tag = reader.u8()?;
            let len = match tag {
                UTF8 => usize::from(reader.u16()?),
                3 | 4 | 9..=12 | 17 | 18 => 4,
                5 | 6 => 8,
                7 | 8 | 16 | 19 | 20 => 2,
                15 => 3,
                _ => return Err(Error::unknown_tag(at, "constant", tag)),
            };
            entries.push(Some((tag, reader.take(len)?)));
            if matches!(tag, 5 | 6) {
                entries.push(None);
            }
        }
        // The pool of no class is empty, and a `long` at its end needs two indexes too.
        if entries.len() != count {
            let (at, index) = (begin, u16::try_from(count).unwrap_or(u16::MAX));
            let expected = "end of the pool";
            return Err(Error::new(at, ErrorKind::WrongConstant { index, expected }));
        }
        let range = begin..reader.at();
        Ok(Self { entries, range })
    }

    /// Position of the entries in the class, without their number.
    pub(crate) fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// Tag and content of each entry. Those of texts lack their length.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (u8, &'a [u8])> {
        self.entries.iter().flatten().copied()
    }

    /// The text that the next index leads to.
    pub(crate) fn utf8(&self, reader: &mut Reader<'_>) -> Result<&'a [u8]> {
        let at = reader.at();
        self.content(reader.u16()?, at, UTF8, "text")
    }

    /// The name of the class that the next index leads to.
    pub(crate) fn class_name(&self, reader: &mut Reader<'_>) -> Result<&'a [u8]> {
        let at = reader.at();
        let index = reader.u16()?;
        self.class_name_at(index, at)
    }

    /// The method of a class at an index.
    pub(crate) fn method(&self, index: u16, at: usize) -> Result<MethodName<'a>> {
        self.method_name(self.content(index, at, METHOD, "method")?, at)
    }

    /// The method of an interface at an index.
    pub(crate) fn interface_method(&self, index: u16, at: usize) -> Result<MethodName<'a>> {
        let content = self.content(index, at, INTERFACE_METHOD, "interface method")?;
        self.method_name(content, at)
    }

    /// The method of a class or of an interface at an index.
    pub(crate) fn any_method(&self, index: u16, at: usize) -> Result<MethodName<'a>> {
        match self.entries.get(usize::from(index)) {
            Some(Some((INTERFACE_METHOD, _))) => self.interface_method(index, at),
            _ => self.method(index, at),
        }
    }

    fn method_name(&self, content: &[u8], at: usize) -> Result<MethodName<'a>> {
        let mut indexes = Reader::new(content);
        let class = self.class_name_at(indexes.u16()?, at)?;
        let name_and_type = self.content(indexes.u16()?, at, NAME_AND_TYPE, "name and type")?;
        let mut indexes = Reader::new(name_and_type);
        Ok(MethodName {
            class,
            method: self.content(indexes.u16()?, at, UTF8, "text")?,
            descriptor: self.content(indexes.u16()?, at, UTF8, "text")?,
        })
    }

    fn class_name_at(&self, index: u16, at: usize) -> Result<&'a [u8]> {
        let class = self.content(index, at, CLASS, "class")?;
        self.content(Reader::new(class).u16()?, at, UTF8, "text")
    }

    fn content(&self, index: u16, at: usize, tag: u8, expected: &'static str) -> Result<&'a [u8]> {
        match self.entries.get(usize::from(index)) {
            Some(Some((found, content))) if *found == tag => Ok(content),
            _ => Err(Error::new(at, ErrorKind::WrongConstant { index, expected })),
        }
    }
}

/// A constant to append; numbers are indexes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Constant {
    Utf8(String),
    Class(u16),
    Method(u16, u16),
    NameAndType(u16, u16),
}

/// Constants to append to a pool, each once.
#[derive(Debug)]
pub(crate) struct NewConstants {
    /// Index that the next one gets.
    next: usize,
    /// Where the pool ends, for errors.
    at: usize,
    bytes: Vec<u8>,
    indexes: HashMap<Constant, u16>,
}

impl NewConstants {
    pub(crate) fn behind(pool: &ConstantPool<'_>) -> Self {
        Self {
            next: pool.entries.len(),
            at: pool.range.end,
            bytes: Vec::new(),
            indexes: HashMap::new(),
        }
    }

    /// Number of constants of the whole pool as the class file has it: the last index and one more.
    pub(crate) fn count(&self) -> Result<u16> {
        self.checked_index()
    }

    /// The entries, without their number.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Index of a class by its internal name, or by the descriptor of an array.
    pub(crate) fn class(&mut self, name: &str) -> Result<u16> {
        let name = self.utf8(name)?;
        self.index(Constant::Class(name))
    }

    /// Index of a method of a class that is no interface.
    pub(crate) fn method(&mut self, class: &str, name: &str, descriptor: &str) -> Result<u16> {
        let class = self.class(class)?;
        let (name, descriptor) = (self.utf8(name)?, self.utf8(descriptor)?);
        let name_and_type = self.index(Constant::NameAndType(name, descriptor))?;
        self.index(Constant::Method(class, name_and_type))
    }

    fn utf8(&mut self, text: &str) -> Result<u16> {
        self.index(Constant::Utf8(text.to_owned()))
    }

    fn index(&mut self, constant: Constant) -> Result<u16> {
        if let Some(index) = self.indexes.get(&constant) {
            return Ok(*index);
        }
        let index = self.checked_index()?;
        self.next = self.next.saturating_add(1);
        self.checked_index()?; // the number of constants must fit too
        self.put(&constant)?;
        self.indexes.insert(constant, index);
        Ok(index)
    }

    fn checked_index(&self) -> Result<u16> {
        let most = usize::from(u16::MAX);
        u16::try_from(self.next).map_err(|_| Error::limit(self.at, "constants", self.next, most))
    }

    fn put(&mut self, constant: &Constant) -> Result<()> {
        let (tag, first, second) = match constant {
            Constant::Utf8(text) => {
                self.bytes.push(UTF8);
                // ASCII without NUL is its own modified UTF-8.
                return put_text(text.as_bytes(), self.at, &mut self.bytes);
            }
            Constant::Class(name) => (CLASS, *name, None),
            Constant::Method(class, method) => (METHOD, *class, Some(*method)),
            Constant::NameAndType(name, kind) => (NAME_AND_TYPE, *name, Some(*kind)),
        };
        self.bytes.push(tag);
        put_u16(&mut self.bytes, first);
        if let Some(second) = second {
            put_u16(&mut self.bytes, second);
        }
        Ok(())
    }
}

/// Writes the rest of a text behind its tag. The text is modified UTF-8.
pub(crate) fn put_text(text: &[u8], at: usize, out: &mut Vec<u8>) -> Result<()> {
    let most = usize::from(u16::MAX);
    let len = u16::try_from(text.len())
        .map_err(|_| Error::limit(at, "bytes of a text", text.len(), most))?;
    put_u16(out, len);
    out.extend_from_slice(text);
    Ok(())
}
