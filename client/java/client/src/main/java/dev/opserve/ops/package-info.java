// Written by client/catalogue/generate.py; changes are lost.
/**
 * A typed call for each operator of the catalogue, by families: {@link Losses}, {@link Activations}, {@link Gates}, {@link
 * AlongOneDimension}, {@link Normalization}, {@link Products}, {@link Pooling}, {@link Padding}, {@link Upsampling}, {@link
 * Embeddings}, {@link Arithmetic}.
 */
package dev.opserve.ops;
