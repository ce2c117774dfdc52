package opserve

import "math"

// A Float16 is an IEEE 754 binary16 number, as its bits.
type Float16 uint16

// A BFloat16 is the upper half of a float32, as its bits.
type BFloat16 uint16

// NewBFloat16 rounds to the nearest BFloat16, of two equally near ones to the even one.
func NewBFloat16(value float32) BFloat16 {
	bits := math.Float32bits(value)
	if value != value {
		return BFloat16(bits>>16 | 0x40) // a NaN stays one
	}
	return BFloat16((bits + 0x7FFF + bits>>16&1) >> 16)
}

// Float32 is the number, exactly.
func (b BFloat16) Float32() float32 { return math.Float32frombits(uint32(b) << 16) }

// NewFloat16 rounds to the nearest Float16, of two equally near ones to the even one; what is beyond its range becomes an
// infinity.
func NewFloat16(value float32) Float16 {
	bits := math.Float32bits(value)
	sign, magnitude := bits>>16&0x8000, bits&0x7FFFFFFF
	switch {
	case magnitude > 0x7F800000: // NaN
		return Float16(sign | 0x7E00 | magnitude>>13&0x3FF)
	case magnitude >= 0x47800000: // 65536 and more
		return Float16(sign | 0x7C00)
	case magnitude < 0x38800000: // below 2^-14: a whole number of 2^-24, which adding 0.5 rounds to
		subnormal := math.Float32frombits(magnitude) + 0.5
		return Float16(sign | math.Float32bits(subnormal) - 0x3F000000)
	}
	rounded := magnitude - 0x38000000 + 0xFFF + magnitude>>13&1
	return Float16(sign | rounded>>13)
}

// Float32 is the number, exactly.
func (f Float16) Float32() float32 {
	sign, exponent, fraction := uint32(f)>>15<<31, uint32(f)>>10&0x1F, uint32(f)&0x3FF
	switch exponent {
	case 0:
		magnitude := float32(fraction) / (1 << 24)
		return math.Float32frombits(sign | math.Float32bits(magnitude))
	case 0x1F:
		return math.Float32frombits(sign | 0x7F800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}
