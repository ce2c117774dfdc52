package dev.opserve;

import dev.opserve.Parts.Places;
import java.util.function.Function;

/** A unary call: its method, its message, where the answer's bytes are to go, and what reads the answer. */
record Request<T>(String method, Message message, Places places, Function<Parts, T> reader) {}
