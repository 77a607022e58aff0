// Elements of sets and maps as the kernel takes them. A prefix is one element with a first and a last key where the key
// has several fields, and two elements, where it starts and where it is over, where the key is an address alone.
import type { AttributeWriter } from '../netlink/attributes.ts';
import { writeData } from './expressions.ts';
import { elementAttribute, elementFlag, listEntry } from './netlink-names.ts';
import type { Element, NftSet, Verdict } from './objects.ts';
import { joinScalars, rangeBytes } from './set-types.ts';

/** Writes one element into the open list. */
export function writeElement(writer: AttributeWriter, set: NftSet, element: Element): void {
  if (set.hasIntervals && set.key.length === 1) writeRange(writer, set, element);
  else writeKeyed(writer, set, element);
}

function writeKeyed(writer: AttributeWriter, set: NftSet, element: Element): void {
  writer.nested(listEntry, () => {
    writeData(writer, elementAttribute.key, joinScalars(set.key, element.key));
    if (set.hasIntervals) {
      writeData(writer, elementAttribute.keyEnd, joinScalars(set.key, element.key, 'last'));
    }
    writeElementData(writer, set, element);
  });
}

/** nft's mark for a range without an end, which it looks for when it lists the set. */
const openIntervalUserdata = Uint8Array.of(1, 4, 1, 0, 0, 0);

function writeRange(writer: AttributeWriter, set: NftSet, element: Element): void {
  const { first, last } = rangeBytes(String(element.key[0]));
  const end = next(last);
  writer.nested(listEntry, () => {
    writeData(writer, elementAttribute.key, first);
    writeElementData(writer, set, element);
    if (end === undefined) writer.attribute(elementAttribute.userdata, openIntervalUserdata);
  });
  if (end === undefined) return;
  writer.nested(listEntry, () => {
    writer.attributeBe32(elementAttribute.flags, elementFlag.intervalEnd);
    writeData(writer, elementAttribute.key, end);
  });
}

function writeElementData(writer: AttributeWriter, set: NftSet, { data }: Element): void {
  if (data === undefined) return;
  writeData(writer, elementAttribute.data, dataOf(set, data));
}

function dataOf(set: NftSet, data: NonNullable<Element['data']>): Uint8Array | Verdict {
  if ('kind' in data) return data;
  if (set.data === undefined || set.data === 'verdict') {
    throw new RangeError(
      `Cannot add an element to "${set.name}": it has data that the set has not`,
    );
  }
  return joinScalars(set.data, data);
}

/** The number after these bytes; undefined after the last there is. */
function next(bytes: Uint8Array): Uint8Array | undefined {
  const result = Uint8Array.from(bytes);
  for (let at = result.length - 1; at >= 0; at--) {
    result[at] = ((result[at] ?? 0) + 1) & 0xff;
    if (result[at] !== 0) return result;
  }
  return undefined;
}
