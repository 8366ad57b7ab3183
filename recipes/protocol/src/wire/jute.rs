//! Jute, ZooKeeper's encoding: big-endian numbers; strings, buffers and lists with a length in front, of which -1 means
//! null.

use zk_recipes::zk::{SessionId, Stat};

/// The bytes of a length, in front of a string, a buffer or a list.
pub const LENGTH_BYTES: usize = 4;

/// A reader of jute. `None` means a truncated or invalid input.
#[derive(Clone, Debug)]
pub struct In<'a> {
    rest: &'a [u8],
}

impl<'a> In<'a> {
    /// Reads a frame from its beginning.
    pub fn new(frame: &'a [u8]) -> Self {
        In { rest: frame }
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*taken)
    }

    /// A 4-byte integer.
    pub fn int(&mut self) -> Option<i32> {
        self.take().map(i32::from_be_bytes)
    }

    /// An 8-byte integer.
    pub fn long(&mut self) -> Option<i64> {
        self.take().map(i64::from_be_bytes)
    }

    /// A boolean.
    pub fn bool(&mut self) -> Option<bool> {
        self.take().map(|[byte]| byte != 0)
    }

    /// A nullable buffer.
    pub fn buffer(&mut self) -> Option<Option<&'a [u8]>> {
        let length = self.int()?;
        if length == -1 {
            return Some(None);
        }
        let (taken, rest) = self.rest.split_at_checked(usize::try_from(length).ok()?)?;
        self.rest = rest;
        Some(Some(taken))
    }

    /// A nullable string. Invalid UTF-8 becomes U+FFFD, as in Java.
    pub fn text(&mut self) -> Option<Option<std::borrow::Cow<'a, str>>> {
        Some(self.buffer()?.map(String::from_utf8_lossy))
    }

    /// A znode's stat.
    pub fn stat(&mut self) -> Option<Stat> {
        let (czxid, mzxid, ctime, mtime) = (self.long()?, self.long()?, self.long()?, self.long()?);
        let (version, cversion, aversion) = (self.int()?, self.int()?, self.int()?);
        let ephemeral_owner = SessionId(self.long()?);
        let (data_length, num_children, pzxid) = (self.int()?, self.int()?, self.long()?);
        Some(Stat {
            czxid,
            mzxid,
            pzxid,
            ctime,
            mtime,
            version,
            cversion,
            aversion,
            ephemeral_owner,
            data_length,
            num_children,
        })
    }

    /// The rest of the input.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// A nullable list; any other negative length is an empty one (`BinaryInputArchive.BinaryIndex`).
    pub fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Option<Vec<T>>> {
        let length = self.int()?;
        if length == -1 {
            return Some(None);
        }
        // Grown item by item, since the length is untrusted.
        let mut items = Vec::new();
        for _ in 0..length {
            items.push(item(self)?);
        }
        Some(Some(items))
    }
}

/// A writer of jute.
#[derive(Clone, Debug, Default)]
pub struct Out(Vec<u8>);

impl Out {
    /// A 4-byte integer.
    pub fn int(&mut self, value: i32) -> &mut Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    /// An 8-byte integer.
    pub fn long(&mut self, value: i64) -> &mut Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    /// A boolean.
    pub fn bool(&mut self, value: bool) -> &mut Self {
        self.0.push(u8::from(value));
        self
    }

    /// A nullable buffer.
    pub fn buffer(&mut self, value: Option<&[u8]>) -> &mut Self {
        self.int(value.map_or(-1, |bytes| length(bytes.len())));
        self.0.extend(value.unwrap_or_default());
        self
    }

    /// A string. Characters above U+FFFF are written as two surrogates of three bytes each, which is not UTF-8, but the
    /// behaviour of `BinaryOutputArchive.stringToByteBuffer`.
    pub fn text(&mut self, value: &str) -> &mut Self {
        if value.chars().all(|c| c <= '\u{ffff}') {
            return self.buffer(Some(value.as_bytes()));
        }
        let mut bytes = Vec::with_capacity(value.len() * 2);
        for unit in value.encode_utf16() {
            let low = |shift: u16| 0x80 | (unit >> shift & 0x3f) as u8;
            match unit {
                0..0x80 => bytes.push(unit as u8),
                0x80..0x800 => bytes.extend([0xc0 | (unit >> 6) as u8, low(0)]),
                _ => bytes.extend([0xe0 | (unit >> 12) as u8, low(6), low(0)]),
            }
        }
        self.buffer(Some(&bytes))
    }

    /// A list.
    pub fn list<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Self, &T)) -> &mut Self {
        self.int(length(items.len()));
        for each in items {
            item(self, each);
        }
        self
    }

    /// A znode's stat.
    pub fn stat(&mut self, stat: &Stat) -> &mut Self {
        self.long(stat.czxid).long(stat.mzxid).long(stat.ctime).long(stat.mtime);
        self.int(stat.version).int(stat.cversion).int(stat.aversion).long(stat.ephemeral_owner.0);
        self.int(stat.data_length).int(stat.num_children).long(stat.pzxid)
    }

    /// The number of bytes written.
    #[expect(clippy::len_without_is_empty, reason = "nobody asks whether nothing was written")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The bytes written.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The bytes written.
    pub fn done(self) -> Vec<u8> {
        self.0
    }
}

fn length(length: usize) -> i32 {
    i32::try_from(length).expect("a frame is shorter than 2 GiB")
}
