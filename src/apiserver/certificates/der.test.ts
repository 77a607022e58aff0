import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as der from './der.ts';

const cases: readonly { readonly title: string; readonly bytes: Buffer; readonly hex: string }[] = [
  { title: 'a short length', bytes: der.octetString(Buffer.alloc(2)), hex: '04020000' },
  {
    title: 'a length of two bytes',
    bytes: der.octetString(Buffer.alloc(200)).subarray(0, 4),
    hex: '0481c800',
  },
  {
    title: 'a length of three bytes',
    bytes: der.octetString(Buffer.alloc(300)).subarray(0, 4),
    hex: '0482012c',
  },
  { title: 'zero', bytes: der.unsignedInteger(Buffer.from([0, 0])), hex: '020100' },
  {
    title: 'a number without leading zeros',
    bytes: der.unsignedInteger(Buffer.from([0, 5])),
    hex: '020105',
  },
  {
    title: 'a number that would look negative',
    bytes: der.unsignedInteger(Buffer.from([0x80])),
    hex: '02020080',
  },
  {
    title: 'an identifier with large parts',
    bytes: der.objectIdentifier('1.2.840.10045.4.3.2'),
    hex: '06082a8648ce3d040302',
  },
  {
    title: 'a time before 2050',
    bytes: der.time(new Date('2049-12-31T23:59:59.5Z')),
    hex: `170d${Buffer.from('491231235959Z').toString('hex')}`,
  },
  {
    title: 'a time from 2050',
    bytes: der.time(new Date('2050-01-01T00:00:00Z')),
    hex: `180f${Buffer.from('20500101000000Z').toString('hex')}`,
  },
];

for (const { title, bytes, hex } of cases) {
  test(`der writes ${title}`, () => assert.equal(bytes.toString('hex'), hex));
}
