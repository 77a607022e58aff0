// Buffers that live for one commit. Node's pool would mix them with buffers of cached objects, and a slab of it stays allocated as
// long as one of its buffers; here they are freed together.

/** Large enough to be allocated rarely, small enough to be allocated quickly. */
const slabBytes = 256 * 1024;
/** Larger texts get a buffer of their own. */
const maxBytes = slabBytes / 8;
/** Of UTF-8, for each unit of a JavaScript string. */
const bytesPerUnit = 3;

let slab = Buffer.alloc(0);
let used = 0;

/** The text as UTF-8, for short-lived use. */
export function scratchBytes(text: string): Buffer {
  const maxNeeded = text.length * bytesPerUnit;
  if (maxNeeded > maxBytes) return Buffer.from(text);
  if (used + maxNeeded > slab.length) {
    slab = Buffer.allocUnsafeSlow(slabBytes);
    used = 0;
  }
  const start = used;
  used += slab.write(text, start);
  return slab.subarray(start, used);
}
