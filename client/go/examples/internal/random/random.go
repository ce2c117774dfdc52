// Package random draws the numbers that the training examples of all languages draw.
package random

// XorShift is Marsaglia's generator of 32 bits.
type XorShift uint32

// Uniform is from 0 to 1.
func (x *XorShift) Uniform() float64 {
	*x ^= *x << 13
	*x ^= *x >> 17
	*x ^= *x << 5
	return float64(*x) / (1 << 32)
}

// Normal nearly is: the sum of twelve numbers whose variances are a twelfth.
func (x *XorShift) Normal() float64 {
	sum := -6.0
	for range 12 {
		sum += x.Uniform()
	}
	return sum
}

// Normals are count of them, times scale.
func (x *XorShift) Normals(count int, scale float64) []float32 {
	values := make([]float32, count)
	for i := range values {
		values[i] = float32(x.Normal() * scale)
	}
	return values
}
