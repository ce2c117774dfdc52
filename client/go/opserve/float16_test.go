package opserve

import (
	"math"
	"testing"
)

// nearest is the number of the table that is nearest to a value, of two equally near ones the one with even bits. The table has
// the finite numbers >= 0 in order, with their bits as indices.
func nearest(table []float64, value float64) uint16 {
	low, high := 0, len(table)-1
	for high-low > 1 {
		if middle := (low + high) / 2; table[middle] <= value {
			low = middle
		} else {
			high = middle
		}
	}
	switch below, above := value-table[low], table[high]-value; {
	case below < above, below == above && low%2 == 0:
		return uint16(low)
	default:
		return uint16(high)
	}
}

func checkRounding(t *testing.T, infinity uint16, widen func(uint16) float32, round func(float32) uint16) {
	t.Helper()
	var table []float64
	for bits := range infinity {
		table = append(table, float64(widen(bits)))
	}
	// What would follow the largest number stands for infinity.
	table = append(table, 2*table[infinity-1]-table[infinity-2])
	for bits := range infinity {
		for _, value := range []float64{table[bits], (table[bits] + table[bits+1]) / 2, table[bits] + (table[bits+1]-table[bits])/4,
			table[bits] + (table[bits+1]-table[bits])*3/4} {
			exact := float32(value)
			if float64(exact) != value {
				continue
			}
			want := nearest(table, value)
			if got := round(exact); got != want {
				t.Fatalf("%g: want the bits %#x, got %#x", value, want, got)
			}
			if got := round(-exact); got != want|0x8000 {
				t.Fatalf("%g: want the bits %#x, got %#x", -value, want|0x8000, got)
			}
		}
	}
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	if round(inf) != infinity || round(-inf) != infinity|0x8000 || widen(infinity) != inf || widen(infinity|0x8000) != -inf {
		t.Errorf("infinities: %#x, %g", round(inf), widen(infinity))
	}
	if made := widen(round(nan)); made == made {
		t.Errorf("NaN became %g", made)
	}
	if made := widen(round(math.Float32frombits(0x7F800001))); made == made {
		t.Errorf("a NaN of low bits became %g", made)
	}
}

func TestFloat16(t *testing.T) {
	checkRounding(t, 0x7C00, func(bits uint16) float32 { return Float16(bits).Float32() },
		func(value float32) uint16 { return uint16(NewFloat16(value)) })
	for value, want := range map[float32]Float16{1: 0x3C00, -2: 0xC000, 65504: 0x7BFF, 65520: 0x7C00, 5.9604645e-8: 1, 0.1: 0x2E66} {
		if got := NewFloat16(value); got != want {
			t.Errorf("%g: want %#x, got %#x", value, want, got)
		}
	}
}

func TestBFloat16(t *testing.T) {
	checkRounding(t, 0x7F80, func(bits uint16) float32 { return BFloat16(bits).Float32() },
		func(value float32) uint16 { return uint16(NewBFloat16(value)) })
	for value, want := range map[float32]BFloat16{1: 0x3F80, -2: 0xC000, math.MaxFloat32: 0x7F80, 0.1: 0x3DCD} {
		if got := NewBFloat16(value); got != want {
			t.Errorf("%g: want %#x, got %#x", value, want, got)
		}
	}
}
