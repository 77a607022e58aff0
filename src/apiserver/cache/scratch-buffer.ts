// Bytes that live for one commit. Node's own pool mixes them with those that stay, and every piece of it that holds one
// byte of an object in a cache stays with it; here they go together.

/** Large enough that making one is rare, small enough to be made quickly. */
const slabBytes = 256 * 1024;
/** Texts that could take more than this have a buffer of their own. */
const maxBytes = slabBytes / 8;
/** Of UTF-8, for each unit of a JavaScript string. */
const bytesPerUnit = 3;

let slab = Buffer.alloc(0);
let used = 0;

/** The text as UTF-8, for readers that are done with it soon. */
export function scratchBytes(text: string): Buffer {
  const most = text.length * bytesPerUnit;
  if (most > maxBytes) return Buffer.from(text);
  if (used + most > slab.length) {
    slab = Buffer.allocUnsafeSlow(slabBytes);
    used = 0;
  }
  const start = used;
  used += slab.write(text, start);
  return slab.subarray(start, used);
}
