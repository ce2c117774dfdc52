//! Numbers of 16 bits: of bits exactly, to bits with rounding to nearest even.

/// The number of the bits of an IEEE 754 binary16.
pub(crate) fn of_float16(bits: u16) -> f32 {
    let (sign, exponent, fraction) =
        (u32::from(bits >> 15) << 31, u32::from(bits >> 10 & 0x1F), u32::from(bits & 0x3FF));
    match exponent {
        0 => f32::from_bits(sign | (fraction as f32 / (1 << 24) as f32).to_bits()),
        0x1F => f32::from_bits(sign | 0x7F80_0000 | fraction << 13),
        _ => f32::from_bits(sign | (exponent + 112) << 23 | fraction << 13),
    }
}

/// The number of the upper half of a binary32.
pub(crate) fn of_bfloat16(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// The nearest number of binary16; an infinity beyond its range.
pub(crate) fn float16(number: f32) -> f32 {
    let bits = number.to_bits();
    let (sign, magnitude) = (bits >> 16 & 0x8000, bits & 0x7FFF_FFFF);
    let rounded = match magnitude {
        0x7F80_0001.. => return number,
        0x4780_0000.. => 0x7C00,
        // Below 2^-14: a whole number of 2^-24, which adding 0.5 rounds to.
        ..0x3880_0000 => (f32::from_bits(magnitude) + 0.5).to_bits() - 0x3F00_0000,
        _ => (magnitude - 0x3800_0000 + 0xFFF + (magnitude >> 13 & 1)) >> 13,
    };
    of_float16((sign | rounded) as u16)
}

/// The nearest number that the upper half of a binary32 has.
pub(crate) fn bfloat16(number: f32) -> f32 {
    let bits = number.to_bits();
    if number.is_nan() {
        return number;
    }
    of_bfloat16(((bits + 0x7FFF + (bits >> 16 & 1)) >> 16) as u16)
}

#[cfg(all(test, feature = "half"))]
mod tests {
    use super::*;

    #[test]
    fn all_numbers_are_those_of_half() {
        for bits in 0..=u16::MAX {
            let (float16, bfloat16) = (half::f16::from_bits(bits), half::bf16::from_bits(bits));
            assert!(of_float16(bits).to_bits() == float16.to_f32().to_bits() || float16.is_nan());
            assert!(of_bfloat16(bits).to_bits() == bfloat16.to_f32().to_bits() || bfloat16.is_nan());
        }
    }

    #[test]
    fn rounding_is_that_of_half() {
        for bits in (0..=u32::MAX).step_by(0xFFD) {
            let number = f32::from_bits(bits);
            if !number.is_nan() {
                assert_eq!(float16(number).to_bits(), half::f16::from_f32(number).to_f32().to_bits(), "{number}");
                assert_eq!(bfloat16(number).to_bits(), half::bf16::from_f32(number).to_f32().to_bits(), "{number}");
            }
        }
    }
}
