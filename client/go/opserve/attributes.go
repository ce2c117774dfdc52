package opserve

import (
	"fmt"
	"maps"
	"slices"

	pb "opserve.dev/go/opserve/v1"
)

// Attrs are an operator's attributes by name: a bool, an integer, a float, the name of a choice ("mean"), or a slice of bools,
// integers or floats: []bool, []int, []int64, []float64. One that is nil is left out.
type Attrs map[string]any

// messages are the attributes in the order of their names, so that calls that are alike look alike.
func (a Attrs) messages() ([]*pb.Attribute, *Error) {
	attributes := make([]*pb.Attribute, 0, len(a))
	for _, name := range slices.Sorted(maps.Keys(a)) {
		attribute := &pb.Attribute{Name: name}
		if a[name] == nil {
			continue
		}
		if !setValue(attribute, a[name]) {
			return nil, mistake("INVALID_PARAMETER", "a bool, a number, a name or a slice of bools or numbers",
				fmt.Sprintf("%T", a[name])).of("", name)
		}
		attributes = append(attributes, attribute)
	}
	return attributes, nil
}

func setValue(attribute *pb.Attribute, value any) bool {
	switch value := value.(type) {
	case bool:
		attribute.Value = &pb.Attribute_BoolValue{BoolValue: value}
	case string:
		attribute.Value = &pb.Attribute_StringValue{StringValue: value}
	case float64:
		attribute.Value = &pb.Attribute_FloatValue{FloatValue: value}
	case float32:
		attribute.Value = &pb.Attribute_FloatValue{FloatValue: float64(value)}
	case []bool:
		attribute.Value = &pb.Attribute_BoolList{BoolList: &pb.BoolList{Values: value}}
	case []float64:
		attribute.Value = &pb.Attribute_FloatList{FloatList: &pb.DoubleList{Values: value}}
	case []int64:
		attribute.Value = &pb.Attribute_IntList{IntList: &pb.Int64List{Values: value}}
	case []int:
		attribute.Value = &pb.Attribute_IntList{IntList: &pb.Int64List{Values: int64s(value)}}
	default:
		return setInteger(attribute, value)
	}
	return true
}

func setInteger(attribute *pb.Attribute, value any) bool {
	var number int64
	switch value := value.(type) {
	case int:
		number = int64(value)
	case int64:
		number = value
	case int32:
		number = int64(value)
	case int16:
		number = int64(value)
	case int8:
		number = int64(value)
	case uint32:
		number = int64(value)
	case uint16:
		number = int64(value)
	case uint8:
		number = int64(value)
	default:
		return false
	}
	attribute.Value = &pb.Attribute_IntValue{IntValue: number}
	return true
}

func int64s(values []int) []int64 {
	wide := make([]int64, len(values))
	for i, value := range values {
		wide[i] = int64(value)
	}
	return wide
}
