/**
 * Operators and their gradients on an opserve server.
 *
 * <pre>{@code
 * try (Client client = Client.connect("localhost:8500")) {
 *   Tensor x = Tensor.of(new float[] {-1, 0.25f, 2});
 *   Result result = client.execute(Call.of("Hardshrink").input("self", x).attribute("lambd", 0.5));
 *   float[] out = result.get("out").toFloats();
 * }
 * }</pre>
 *
 * <p>A {@link dev.opserve.Call} is an operator with its inputs and attributes; a {@link dev.opserve.Client} runs it, and a {@link
 * dev.opserve.Session} runs it on tensors that stay on the server. {@link dev.opserve.ops} has a typed call for each operator of the
 * catalogue. A {@link dev.opserve.Program} is several operators in one call, and the gradients of a result. Every failure is an {@link dev.opserve.OpserveException}.
 */
package dev.opserve;
