package opserve

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	pb "opserve.dev/go/opserve/v1"
)

// programText is a program in the text form of docs/programs.md. Names that a server tells have no line breaks in it.
func programText(program *pb.Program) string {
	var lines []string
	for _, step := range program.GetSteps() {
		lines = append(lines, fmt.Sprintf("%s = %s(%s)", step.GetName(), step.GetOp(), strings.Join(argumentTexts(step), ", ")))
	}
	if gradient := program.GetGradient(); gradient != nil {
		line := fmt.Sprintf("gradient %s: %s", gradient.GetOf(), strings.Join(gradient.GetWithRespectTo(), ", "))
		if gradient.GetSeed() != "" {
			line += " seed " + gradient.GetSeed()
		}
		if gradient.GetMaxWorkspaceBytes() != 0 {
			line += fmt.Sprintf(" within %d", gradient.GetMaxWorkspaceBytes())
		}
		lines = append(lines, line)
	}
	outputs := make([]string, 0, len(program.GetOutputs()))
	for _, output := range program.GetOutputs() {
		outputs = append(outputs, output.GetName()+"="+output.GetValue())
	}
	lines = append(lines, "return "+strings.Join(outputs, ", "))
	var text strings.Builder
	for _, line := range lines {
		text.WriteString(printableUpTo(line, math.MaxInt) + "\n")
	}
	return text.String()
}

func argumentTexts(step *pb.Step) []string {
	arguments := make([]string, 0, len(step.GetInputs())+len(step.GetAttributes()))
	for _, input := range step.GetInputs() {
		arguments = append(arguments, input.GetName()+"="+valueText(input))
	}
	for _, attribute := range step.GetAttributes() {
		arguments = append(arguments, attribute.GetName()+"="+attributeText(attribute))
	}
	return arguments
}

// valueText is an input of a step: a value as it is, a view of one, or a constant.
func valueText(tensor *pb.Tensor) string {
	text := tensor.GetValue()
	isConstant := tensor.GetValues() != nil
	if isConstant {
		text = cmp.Or(map[DType]string{Bool: "b8"}[DType(tensor.GetDtype())], DType(tensor.GetDtype()).String())
	}
	isView := len(tensor.GetShape()) > 0 || tensor.GetScalar()
	if isConstant || isView {
		text += "[" + listText(tensor.GetShape(), integerText) + "]"
	}
	if isConstant {
		text += "{" + strings.Join(elementTexts(tensor), ",") + "}"
	}
	if len(tensor.GetStrides()) > 0 || isView && !isConstant && tensor.GetStorageOffset() != 0 {
		text += ".strides(" + listText(tensor.GetStrides(), integerText) + ")"
	}
	if tensor.GetStorageOffset() != 0 {
		text += ".offset(" + integerText(tensor.GetStorageOffset()) + ")"
	}
	return text
}

func attributeText(attribute *pb.Attribute) string {
	switch value := attribute.GetValue().(type) {
	case *pb.Attribute_IntValue:
		return integerText(value.IntValue)
	case *pb.Attribute_FloatValue:
		return floatText(value.FloatValue, F64)
	case *pb.Attribute_BoolValue:
		return strconv.FormatBool(value.BoolValue)
	case *pb.Attribute_StringValue:
		return value.StringValue
	case *pb.Attribute_IntList:
		return "[" + listText(value.IntList.GetValues(), integerText) + "]"
	case *pb.Attribute_BoolList:
		return "[" + listText(value.BoolList.GetValues(), strconv.FormatBool) + "]"
	case *pb.Attribute_FloatList:
		return "[" + listText(value.FloatList.GetValues(), doubleText) + "]"
	}
	return ""
}

// elementTexts are the elements of a constant, as its dtype has them.
func elementTexts(tensor *pb.Tensor) []string {
	dtype, values := DType(tensor.GetDtype()), tensor.GetValues()
	var texts []string
	number := func(value float64, exact string) {
		switch dtype {
		case F32, F16, BF16, F64:
			exact = floatText(value, dtype)
		case Bool:
			exact = strconv.FormatBool(value != 0)
		}
		texts = append(texts, exact)
	}
	for _, value := range values.GetFloats() {
		number(value, doubleText(value))
	}
	for _, value := range values.GetInts() {
		number(float64(value), integerText(value))
	}
	for _, value := range values.GetUints() {
		number(float64(value), strconv.FormatUint(value, 10))
	}
	for _, value := range values.GetBools() {
		texts = append(texts, strconv.FormatBool(value))
	}
	return texts
}

func listText[E any](values []E, text func(E) string) string {
	texts := make([]string, 0, len(values))
	for _, value := range values {
		texts = append(texts, text(value))
	}
	return strings.Join(texts, ",")
}

func integerText(value int64) string { return strconv.FormatInt(value, 10) }

func doubleText(value float64) string { return floatText(value, F64) }

// floatText is the shortest text that is read as the same number of the dtype.
func floatText(value float64, dtype DType) string {
	switch {
	case math.IsNaN(value):
		return "nan"
	case math.IsInf(value, 0):
		return cmp.Or(map[bool]string{true: "-inf"}[value < 0], "inf")
	case dtype == F16:
		return halfText(float64(NewFloat16(float32(value)).Float32()), func(read float32) float32 { return NewFloat16(read).Float32() })
	case dtype == BF16:
		return halfText(float64(NewBFloat16(float32(value)).Float32()), func(read float32) float32 { return NewBFloat16(read).Float32() })
	}
	bits := dtype.Size() * 8
	if bits == 32 {
		value = float64(float32(value))
	}
	scientific := shortestText(value, bits)
	digits, exponent, _ := strings.Cut(scientific, "e")
	power, _ := strconv.Atoi(exponent)
	behindPoint := max(0, digitsOf(digits)-1-power)
	fixed := strconv.FormatFloat(value, 'f', behindPoint, 64) // all digits of a large number, where they are no longer
	if len(scientific) < len(fixed) {
		return scientific
	}
	return fixed
}

// shortestText has as few digits as are read as the same number; the even ones where it lies halfway between two of as many.
func shortestText(value float64, bits int) string {
	shortest := strconv.FormatFloat(value, 'e', -1, bits)
	digits, _, _ := strings.Cut(shortest, "e")
	even := strconv.FormatFloat(value, 'e', digitsOf(digits)-1, 64)
	if read, err := strconv.ParseFloat(even, bits); err == nil && read == value {
		return even
	}
	return shortest
}

func digitsOf(number string) int { return len(strings.Trim(strings.ReplaceAll(number, ".", ""), "-")) }

// halfText has as few digits as `rounded` reads as the same number.
func halfText(value float64, rounded func(float32) float32) string {
	const enough = 9 // of any float32
	text := ""
	for digits := 1; digits <= enough; digits++ {
		text = strconv.FormatFloat(value, 'g', digits, 64)
		if read, err := strconv.ParseFloat(text, 64); err == nil && float64(rounded(float32(read))) == value {
			break
		}
	}
	return text
}
