"""As much of a 64-bit little-endian ELF file as tells how it was hardened."""

import collections
import struct

ET_DYN = 3
PT_LOAD, PT_DYNAMIC, PT_GNU_STACK, PT_GNU_RELRO = 1, 2, 0x6474E551, 0x6474E552
PF_X, PF_W = 1, 2
DT_NULL, DT_STRTAB, DT_TEXTREL, DT_RPATH, DT_BIND_NOW, DT_RUNPATH, DT_FLAGS = 0, 5, 22, 15, 24, 29, 30
DT_FLAGS_1 = 0x6FFFFFFB
DF_BIND_NOW, DF_1_NOW, DF_1_PIE = 8, 1, 0x08000000
SHT_SYMTAB, SHT_DYNSYM = 2, 11
STT_FUNC = 2
EM_X86_64, EM_AARCH64 = 62, 183

Segment = collections.namedtuple("Segment", "type flags offset address physical file_size memory_size alignment")
Section = collections.namedtuple("Section", "name type flags address offset size link info alignment entry_size")
Symbol = collections.namedtuple("Symbol", "name is_function section address")


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(6) == b"\x7fELF\x02\x01"


class ElfFile:
    def __init__(self, path):
        self.bytes = path.read_bytes()
        (self.type, self.machine, _, self.entry, segments_at, sections_at, _, _, segment_size, num_segments, section_size,
         num_sections, _) = struct.unpack_from("<HHIQQQIHHHHHH", self.bytes, 16)
        assert segment_size == 56 and (num_sections == 0 or section_size == 64), f"{path}: not the ELF that we know"
        segments = [struct.unpack_from("<IIQQQQQQ", self.bytes, segments_at + 56 * i) for i in range(num_segments)]
        self.segments = [Segment(*fields) for fields in segments]
        self.sections = [Section(*struct.unpack_from("<IIQQQQIIQQ", self.bytes, sections_at + 64 * i))
                         for i in range(num_sections)]
        self.dynamic = self._dynamic()

    def segments_of(self, kind):
        return [segment for segment in self.segments if segment.type == kind]

    def _dynamic(self):
        entries = []
        for segment in self.segments_of(PT_DYNAMIC):
            for tag, value in struct.iter_unpack("<QQ", self.bytes[segment.offset:segment.offset + segment.file_size]):
                if tag == DT_NULL:
                    break
                entries.append((tag, value))
        return entries

    def dynamic_values(self, tag):
        return [value for found, value in self.dynamic if found == tag]

    def dynamic_flags(self, tag):
        return sum(self.dynamic_values(tag))

    def dynamic_strings(self, tag):
        """Texts of the entries that are places in the table of strings."""
        table = self._offset_of(self.dynamic_values(DT_STRTAB)[0])
        return [self._string(table + value) for value in self.dynamic_values(tag)]

    def symbols(self, kind):
        found = []
        for section in self.sections:
            if section.type != kind:
                continue
            names = self.sections[section.link].offset
            table = self.bytes[section.offset:section.offset + section.size]
            for name, info, _, index, address, _ in struct.iter_unpack("<IBBHQQ", table):
                found.append(Symbol(self._string(names + name), info & 15 == STT_FUNC, index, address))
        return found

    def undefined(self):
        """Names of the dynamic symbols that other libraries define."""
        return {symbol.name for symbol in self.symbols(SHT_DYNSYM) if symbol.section == 0 and symbol.name}

    def code_at(self, address, size):
        offset = self._offset_of(address)
        return self.bytes[offset:offset + size]

    def _offset_of(self, address):
        for segment in self.segments_of(PT_LOAD):
            if segment.address <= address < segment.address + segment.file_size:
                return address - segment.address + segment.offset
        raise ValueError(f"no byte of the file lies at {address:#x}")

    def _string(self, offset):
        return self.bytes[offset:self.bytes.index(0, offset)].decode()
