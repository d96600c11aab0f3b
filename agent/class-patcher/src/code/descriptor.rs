//! Descriptors of methods.

/// Most slots that the parameters of a method can fill, `this` included.
const MAX_SLOTS: usize = 255;
const MAX_DIMENSIONS: usize = 255;

/// The types of a method, as descriptors of fields: `I`, `[J`, `Ljava/lang/String;`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct MethodDescriptor<'a> {
    pub(crate) parameters: Vec<&'a str>,
    /// `None` for `void`.
    pub(crate) result: Option<&'a str>,
}

impl<'a> MethodDescriptor<'a> {
    /// `None` if it is malformed, or its parameters fill more than 255 slots.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let mut rest = text.strip_prefix('(')?;
        let mut parameters = Vec::new();
        let mut count = 0_usize;
        while !rest.starts_with(')') {
            let (parameter, behind) = split_type(rest)?;
            count = count.checked_add(slots(parameter))?;
            parameters.push(parameter);
            rest = behind;
        }
        let result = rest.strip_prefix(')')?;
        let result = if result == "V" {
            None
        } else {
            let (result, behind) = split_type(result)?;
            behind.is_empty().then_some(())?;
            Some(result)
        };
        (count <= MAX_SLOTS).then_some(Self { parameters, result })
    }

    /// Slots that the parameters in front of `index` fill.
    pub(crate) fn slots_before(&self, index: usize) -> usize {
        self.parameters
            .iter()
            .take(index)
            .map(|kind| slots(kind))
            .sum()
    }
}

/// Slots of a local variable or of the stack that a value fills.
pub(crate) fn slots(kind: &str) -> usize {
    if matches!(kind, "J" | "D") { 2 } else { 1 }
}

pub(crate) fn is_reference(kind: &str) -> bool {
    kind.starts_with(['L', '['])
}

/// The constant that a cast to this type names: the name of a class, the descriptor of an array.
pub(crate) fn class_constant(kind: &str) -> &str {
    let name = kind
        .strip_prefix('L')
        .and_then(|name| name.strip_suffix(';'));
    name.unwrap_or(kind)
}

/// The type at the begin of a text, and what is behind it.
fn split_type(text: &str) -> Option<(&str, &str)> {
    let element = text.trim_start_matches('[');
    let dimensions = text.len().checked_sub(element.len())?;
    let len = match element.bytes().next()? {
        b'B' | b'C' | b'D' | b'F' | b'I' | b'J' | b'S' | b'Z' => 1,
        b'L' => element.find(';')?.checked_add(1)?,
        _ => return None,
    };
    let split = text.split_at_checked(dimensions.checked_add(len)?);
    split.filter(|_| dimensions <= MAX_DIMENSIONS)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn types_of_a_descriptor_are_told_apart() {
        let text = "(I[[Ljava/lang/String;JZ[D)Ljava/util/List;";
        let descriptor = MethodDescriptor::parse(text).unwrap();
        let parameters = ["I", "[[Ljava/lang/String;", "J", "Z", "[D"];
        assert_eq!(descriptor.parameters, parameters);
        assert_eq!(descriptor.result, Some("Ljava/util/List;"));
        let slots: Vec<usize> = (0..=5).map(|n| descriptor.slots_before(n)).collect();
        assert_eq!(slots, [0, 1, 2, 4, 5, 6]);
        assert_eq!(MethodDescriptor::parse("()V").unwrap().result, None);
    }

    #[test]
    fn malformed_descriptors_are_refused() {
        let bad = [
            "", "(", "()", "V", "I)V", "(V)V", "(L)V", "(Lx)V", "([)V", "()VV", "()II", "(I)[V",
            "(é)V",
        ];
        for text in bad {
            assert_eq!(MethodDescriptor::parse(text), None, "{text}");
        }
    }

    #[test]
    fn at_most_255_slots_and_dimensions_are_accepted() {
        let longs = |count: usize| format!("(I{})V", "J".repeat(count));
        assert!(MethodDescriptor::parse(&longs(127)).is_some());
        assert!(MethodDescriptor::parse(&longs(128)).is_none());
        let array = |count: usize| format!("({}I)V", "[".repeat(count));
        assert!(MethodDescriptor::parse(&array(255)).is_some());
        assert!(MethodDescriptor::parse(&array(256)).is_none());
    }
}
