//! One message: what samples of it refer to, and the samples. How much it grows by a sample is never
//! more than the bound that is compared with the limit, so that nothing is taken back.

use super::dictionary::Dictionary;
use super::identity::Identity;
use crate::collect::{FrameName, Moment};
use crate::convert::profile::{Kind, MAX_VALUE, Profile};
use crate::convert::protobuf::Message;
use crate::convert::resource::resource;

/// Bounds of the bytes that an element takes, beside its texts: numbers of at most five bytes, and
/// keys and lengths of the fields. Of a message: its profiles without samples, and the types of
/// frames.
const MESSAGE_LEN: usize = 1024;
const SAMPLE_LEN: usize = 96;
const ATTRIBUTE_LEN: usize = 48;
const FRAME_LEN: usize = 64;
/// A frame that the message has already.
const FRAME_PLACE_LEN: usize = 5;
const TIME_LEN: usize = 8;

/// A message, as two halves.
pub(super) type MessageBytes<'m> = [&'m [u8]; 2];

/// What all messages begin with.
pub(super) struct Head {
    resource: Message,
    scope: Message,
}

impl Head {
    pub(super) fn of(profile: &Profile) -> Self {
        let mut scope = Message::default();
        scope.text(1, "ctxjfr");
        scope.text(2, env!("CARGO_PKG_VERSION"));
        Self {
            resource: resource(&profile.process),
            scope,
        }
    }
}

/// What the profiles of a kind begin with.
pub(super) struct KindFacts<'p> {
    place: usize,
    frames: &'p [FrameName],
    value_type: (&'static str, &'static str),
    start: u64,
    duration: u64,
    period: Option<u64>,
}

impl<'p> KindFacts<'p> {
    pub(super) fn of(place: usize, all: &Profile, kind: &'p Kind) -> Self {
        let [_, value_type] = kind.value_types();
        let (start, duration) = span(all, kind);
        Self {
            place,
            frames: &kind.frames,
            value_type,
            start,
            duration,
            period: kind.interval_nanos.filter(|_| kind.unit.is_time()),
        }
    }
}

/// Begin and length of the time that holds all samples.
fn span(all: &Profile, kind: &Kind) -> (u64, u64) {
    let moments = kind.rows.iter().flat_map(|row| &row.moments);
    let (mut first, mut end) = (all.start_nanos, all.end_nanos);
    for moment in moments {
        first = first.min(moment.nanos);
        end = end.max(moment.nanos.saturating_add(1));
    }
    let (first, end) = (first.max(0), end.max(1));
    (first.cast_unsigned(), end.abs_diff(first))
}

/// A message in the making.
pub(super) struct Part<'p> {
    head: &'p Head,
    dictionary: Dictionary<'p>,
    /// The finished profiles.
    profiles: Message,
    /// The one at hand, and its kind's place.
    profile: Message,
    kind: Option<usize>,
    /// Places of the kind's frames in the dictionary; 0: it is not there yet.
    locations: Vec<u64>,
}

impl<'p> Part<'p> {
    pub(super) fn new(head: &'p Head) -> Self {
        Self {
            head,
            dictionary: Dictionary::new(),
            profiles: Message::default(),
            profile: Message::default(),
            kind: None,
            locations: Vec::new(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.kind.is_none()
    }

    /// How many events of a sample with no larger value than `max_value` still fit.
    pub(super) fn room(
        &self,
        limit: usize,
        kind: &KindFacts<'_>,
        (identity, stack): (&Identity<'_>, &[u32]),
        max_value: u64,
    ) -> usize {
        let is_known = |frame: u32| {
            let location = self.locations.get(frame as usize);
            self.kind == Some(kind.place) && location.is_some_and(|&location| location != 0)
        };
        let frames = stack.iter().map(|&frame| {
            if is_known(frame) {
                FRAME_PLACE_LEN
            } else {
                FRAME_LEN + kind.frames[frame as usize].text.len()
            }
        });
        let attributes = identity.attributes.iter();
        let attributes = attributes.map(|(key, value)| ATTRIBUTE_LEN + key.len() + value.len());
        let head = self.head.resource.bytes().len() + self.head.scope.bytes().len();
        let written = self.profiles.bytes().len() + self.profile.bytes().len();
        let len = MESSAGE_LEN + head + written + self.dictionary.len();
        let growth = SAMPLE_LEN + frames.sum::<usize>() + attributes.sum::<usize>();
        let bits = (u64::BITS - max_value.leading_zeros()).max(1);
        let moment_len = TIME_LEN + bits.div_ceil(7) as usize;
        limit.saturating_sub(len + growth) / moment_len
    }

    /// Adds a sample with these events.
    pub(super) fn add(
        &mut self,
        kind: &KindFacts<'p>,
        identity: &Identity<'p>,
        stack: &[u32],
        moments: &[Moment],
    ) {
        if self.kind != Some(kind.place) {
            self.begin_profile(kind);
        }
        let locations = stack.iter().map(|&frame| {
            let place = frame as usize;
            if self.locations[place] == 0 {
                self.locations[place] = self.dictionary.location(&kind.frames[place]);
            }
            self.locations[place]
        });
        let locations = locations.collect();
        let mut sample = Message::default();
        sample.unsigned(1, self.dictionary.stack(locations));
        let attributes = identity.attributes.iter();
        let attributes = attributes.map(|(key, value)| self.dictionary.attribute(key, value));
        sample.packed(2, attributes);
        let link = identity.link;
        sample.unsigned(3, link.map_or(0, |ids| self.dictionary.link(ids)));
        sample.packed(4, moments.iter().map(|moment| moment.value.min(MAX_VALUE)));
        let times = moments.iter().map(|moment| moment.nanos.max(0));
        sample.packed_fixed(5, times.map(i64::cast_unsigned));
        self.profile.message(2, &sample);
    }

    fn begin_profile(&mut self, kind: &KindFacts<'p>) {
        self.end_profile();
        let value_type = self.dictionary.value_type(kind.value_type);
        self.profile.message(1, &value_type);
        self.profile.fixed(3, kind.start);
        self.profile.unsigned(4, kind.duration);
        if let Some(period) = kind.period {
            self.profile.message(5, &value_type);
            self.profile.unsigned(6, period);
        }
        self.kind = Some(kind.place);
        self.locations.clear();
        self.locations.resize(kind.frames.len(), 0);
    }

    fn end_profile(&mut self) {
        if self.kind.is_some() {
            self.profiles.message(2, &self.profile);
            self.profile.clear();
        }
    }

    /// Gives the message to `write`.
    pub(super) fn finish<E>(
        mut self,
        write: &mut dyn FnMut(MessageBytes<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.end_profile();
        let mut scoped = Message::default();
        scoped.message(1, &self.head.scope);
        scoped.append(&self.profiles);
        let mut resourced = Message::default();
        resourced.message(1, &self.head.resource);
        resourced.message(2, &scoped);
        drop(scoped);
        let (mut profiles, mut dictionary) = (Message::default(), Message::default());
        profiles.message(1, &resourced);
        drop(resourced);
        dictionary.message(2, &self.dictionary.message());
        write([profiles.bytes(), dictionary.bytes()])
    }
}
