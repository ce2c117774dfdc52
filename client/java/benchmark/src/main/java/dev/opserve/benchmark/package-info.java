/** The client beside bare gRPC. */
package dev.opserve.benchmark;
