//! Frames: a packet behind its length, which takes four bytes.

use std::io::{self, Read};

use super::jute::LENGTH_BYTES;

/// The announced length of a frame is negative, or exceeds the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a frame of {0} bytes is announced")]
pub struct TooLong(pub i32);

impl From<TooLong> for io::Error {
    fn from(why: TooLong) -> Self {
        io::Error::new(io::ErrorKind::InvalidData, why)
    }
}

/// The length of the packet that begins these bytes. `None`: they are fewer than a length has.
///
/// # Errors
///
/// The length is negative, or exceeds the limit.
pub fn length(bytes: &[u8], limit: usize) -> Result<Option<usize>, TooLong> {
    let Some((length, _)) = bytes.split_first_chunk::<LENGTH_BYTES>() else { return Ok(None) };
    let announced = i32::from_be_bytes(*length);
    let length = usize::try_from(announced).ok().filter(|length| *length <= limit);
    length.map(Some).ok_or(TooLong(announced))
}

/// The packet that begins these bytes, without its length. `None`: part of it is missing.
///
/// # Errors
///
/// The length is negative, or exceeds the limit.
pub fn first(bytes: &[u8], limit: usize) -> Result<Option<&[u8]>, TooLong> {
    Ok(length(bytes, limit)?.and_then(|length| bytes[LENGTH_BYTES..].get(..length)))
}

/// Takes the first packet out of the bytes that have arrived. `None`: part of it is missing.
///
/// # Errors
///
/// The length is negative.
pub fn take(arrived: &mut Vec<u8>) -> Result<Option<Vec<u8>>, TooLong> {
    let packet = first(arrived, usize::MAX)?.map(<[u8]>::to_vec);
    if let Some(packet) = &packet {
        arrived.drain(..LENGTH_BYTES + packet.len());
    }
    Ok(packet)
}

/// Reads a packet whose sender is trusted with its length.
///
/// # Errors
///
/// Those of the reader, and a negative length.
pub fn read(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut announced = [0; LENGTH_BYTES];
    from.read_exact(&mut announced)?;
    let mut packet = vec![0; length(&announced, usize::MAX)?.unwrap_or_default()];
    from.read_exact(&mut packet)?;
    Ok(packet)
}

/// Begins a frame: writes the length of its packet.
pub fn header(out: &mut Vec<u8>, length: usize) {
    out.extend(i32::try_from(length).expect("a packet is shorter than 2 GiB").to_be_bytes());
}

/// The frame of a packet.
pub fn of(packet: &[u8]) -> Vec<u8> {
    let mut frame = Vec::with_capacity(LENGTH_BYTES + packet.len());
    header(&mut frame, packet.len());
    frame.extend(packet);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_come_out_as_they_went_in_whole_and_in_their_order() {
        let packets: [&[u8]; 4] = [b"one", b"", &[7; 300], b"last"];
        let sent = packets.map(of).concat();
        let (mut arrived, mut taken) = (Vec::new(), Vec::new());
        for byte in &sent {
            arrived.push(*byte);
            assert_eq!(
                first(&arrived, 300).unwrap().map(<[u8]>::to_vec),
                take(&mut arrived.clone()).unwrap()
            );
            taken.extend(take(&mut arrived).unwrap());
        }
        assert_eq!((taken, arrived), (packets.map(<[u8]>::to_vec).to_vec(), Vec::new()));
        let mut reader = &sent[..];
        assert!(packets.iter().all(|packet| read(&mut reader).unwrap() == *packet));
        assert_eq!(read(&mut reader).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_length_is_refused_as_soon_as_it_is_announced() {
        let announced = of(&[0; 300]);
        assert_eq!(first(&announced[..3], 299), Ok(None));
        assert_eq!(first(&announced[..4], 300), Ok(None));
        assert_eq!(first(&announced[..4], 299), Err(TooLong(300)));
        let mut negative = (-1_i32).to_be_bytes().to_vec();
        assert_eq!(first(&negative, usize::MAX), Err(TooLong(-1)));
        assert_eq!(take(&mut negative), Err(TooLong(-1)));
        assert_eq!(read(&mut &negative[..]).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }
}
