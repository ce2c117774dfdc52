/** Programs that show how the client is used. */
package dev.opserve.examples;
