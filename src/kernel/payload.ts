/**
 * A payload as JSON text. The kernel never parses one: an input, result or signal crosses it as opaque text,
 * so a decision costs the same for ten bytes and for a megabyte, and replay returns the bytes that were recorded.
 */
export type JsonText = string;

/** Milliseconds since the Unix epoch, on the store's clock. */
export type Timestamp = number;

/**
 * Marks a payload that was erased: the text is this character and the digest of what stood there.
 * No JSON text begins so, hence an erased payload can never be mistaken for data.
 */
export const ERASED_PREFIX = '!';
