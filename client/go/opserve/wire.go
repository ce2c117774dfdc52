package opserve

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
)

// Messages have their bulk in `repeated bytes raw = 15`, behind small fields, which protobuf reads and writes. Entries of raw are
// given to gRPC where they lie, and copied once out of the frames in which they came.
const (
	rawField = 15
	rawKey   = rawField<<3 | 2

	// Entries up to this size are sent among the bytes before them.
	smallEntryBytes = 1 << 10

	// What an answer may have. A batch has at most 4096 results, of three outputs or an error of 3088 bytes each.
	maxAnswerEntries     = 1 << 16
	maxAnswerHeaderBytes = 16 << 20
)

// An outgoing message: its fields below 15, as protobuf writes them, and the entries of raw.
type outgoing struct {
	header []byte
	raw    [][]byte
}

// An incoming message, taken apart. Its entries lie in the frames until free.
type incoming struct {
	buffers mem.BufferSlice
	header  []byte
	raw     []span
	err     *Error // it was no message
}

// A span is where an entry begins, and its size.
type span struct {
	buffer, at, size int
	taken            bool // an output has it
}

// codec is gRPC's way to write outgoing and to read incoming.
type codec struct{}

func (codec) Name() string { return "proto" }

func (codec) Marshal(v any) (mem.BufferSlice, error) {
	message, ok := v.(*outgoing)
	if !ok {
		return nil, fmt.Errorf("opserve: want an outgoing message, got %T", v)
	}
	var parts mem.BufferSlice
	run := message.header
	for _, entry := range message.raw {
		run = binary.AppendUvarint(append(run, rawKey), uint64(len(entry)))
		if len(entry) <= smallEntryBytes {
			run = append(run, entry...)
			continue
		}
		parts = append(parts, mem.SliceBuffer(run), mem.SliceBuffer(entry))
		run = nil
	}
	if len(run) > 0 || len(parts) == 0 {
		parts = append(parts, mem.SliceBuffer(run))
	}
	return parts, nil
}

func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	message, ok := v.(*incoming)
	if !ok {
		return fmt.Errorf("opserve: want an incoming message, got %T", v)
	}
	data.Ref()
	*message = incoming{buffers: data}
	message.err = message.index()
	return nil
}

// size is that of the message on the wire.
func (m *outgoing) size() int {
	size := len(m.header)
	for _, entry := range m.raw {
		size += 1 + len(binary.AppendUvarint(nil, uint64(len(entry)))) + len(entry)
	}
	return size
}

// index finds the header and the entries.
func (m *incoming) index() *Error {
	at := cursor{buffers: m.buffers, left: m.buffers.Len()}
	for at.left > 0 {
		start := at
		key, ok := at.varint()
		if !ok {
			return badAnswer("a number without an end")
		}
		size, err := at.fieldSize(key)
		if err != nil {
			return err
		}
		if key == rawKey {
			if len(m.raw) == maxAnswerEntries {
				return badAnswer("more than %d entries of raw", maxAnswerEntries)
			}
			m.raw = append(m.raw, at.span(size))
			at.skip(size)
			continue
		}
		at.skip(size)
		if m.header, err = start.appendTo(m.header, start.left-at.left); err != nil {
			return err
		}
	}
	return nil
}

// read has protobuf read the header.
func (m *incoming) read(into proto.Message) *Error {
	if m.err != nil {
		return m.err
	}
	if err := proto.Unmarshal(m.header, into); err != nil {
		return badAnswer("it is no %s", into.ProtoReflect().Descriptor().Name())
	}
	return nil
}

// copyEntry copies an entry of raw; `into` has its size.
func (m *incoming) copyEntry(index int, into []byte) {
	from := m.raw[index]
	at := cursor{buffers: m.buffers, buffer: from.buffer, at: from.at, left: from.size}
	for len(into) > 0 {
		into = into[copy(into, at.part(len(into))):]
	}
}

// entry is a copy of an entry of raw.
func (m *incoming) entry(index int) []byte {
	from := m.raw[index]
	at := cursor{buffers: m.buffers, buffer: from.buffer, at: from.at, left: from.size}
	parts := make([][]byte, 0, 4)
	for at.left > 0 {
		parts = append(parts, at.part(at.left))
	}
	return bytes.Join(parts, nil) // which fills no memory with zeros first, as make does
}

// free gives the frames back.
func (m *incoming) free() {
	m.buffers.Free()
	m.buffers = nil
}

// A cursor walks through the bytes of a message that lies in pieces.
type cursor struct {
	buffers    mem.BufferSlice
	buffer, at int
	left       int
}

// part is the next bytes that lie together, at most `size`, which is not above left.
func (c *cursor) part(size int) []byte {
	data := c.buffers[c.buffer].ReadOnlyData()
	for c.at == len(data) {
		c.buffer, c.at = c.buffer+1, 0
		data = c.buffers[c.buffer].ReadOnlyData()
	}
	data = data[c.at:]
	data = data[:min(size, len(data))]
	c.at += len(data)
	c.left -= len(data)
	return data
}

func (c *cursor) skip(size int) {
	for size > 0 {
		size -= len(c.part(size))
	}
}

func (c *cursor) span(size int) span { return span{buffer: c.buffer, at: c.at, size: size} }

func (c *cursor) appendTo(header []byte, size int) ([]byte, *Error) {
	if size > maxAnswerHeaderBytes-len(header) {
		return nil, badAnswer("more than %d bytes besides raw", maxAnswerHeaderBytes)
	}
	for size > 0 {
		part := c.part(size)
		header = append(header, part...)
		size -= len(part)
	}
	return header, nil
}

func (c *cursor) varint() (uint64, bool) {
	var value uint64
	for shift := 0; shift < 70 && c.left > 0; shift += 7 {
		b := c.part(1)[0]
		value |= uint64(b&0x7F) << shift
		if b < 0x80 {
			return value, shift < 63 || b <= 1
		}
	}
	return 0, false
}

// fieldSize is how many bytes of a field are behind its key and its length.
func (c *cursor) fieldSize(key uint64) (int, *Error) {
	var size uint64
	switch kind := key & 7; kind {
	case 0:
		if _, ok := c.varint(); !ok {
			return 0, badAnswer("a number without an end")
		}
	case 1:
		size = 8
	case 2:
		length, ok := c.varint()
		if !ok {
			return 0, badAnswer("a number without an end")
		}
		size = length
	case 5:
		size = 4
	default:
		return 0, badAnswer("a field of kind %d", kind)
	}
	if size > uint64(c.left) {
		return 0, badAnswer("a field is longer than the message")
	}
	return int(size), nil
}
