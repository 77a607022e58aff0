import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { formatAddress } from '../../ip/address.ts';
import { isApiError } from '../../meta/api-error.ts';
import { guardDial } from './guard-dial.ts';

const names: Readonly<Record<string, readonly string[]>> = {
  good: ['192.0.2.7'],
  localhost: ['127.0.0.1', '::1'],
  metadata: ['169.254.169.254'],
  mixed: ['127.0.0.1', '192.0.2.8'],
  nothing: [],
};

/** Where the connection went, or why it did not. */
async function dialled(host: string, port = 10250): Promise<string> {
  let where = '';
  const dial = guardDial({
    dial(to, toPort) {
      where = `${to} ${toPort}`;
      return new Socket();
    },
    isReserved: (address, to) => formatAddress(address) === '192.0.2.1' && to === 6443,
    resolve: async (name) => names[name] ?? [],
  });
  try {
    await dial(host, port);
    return where;
  } catch (error) {
    if (isApiError(error)) return `${error.status.code} ${error.message} ${where}`.trim();
    throw error;
  }
}

const refused = '400 address not allowed';
const cases: readonly (readonly [string, string, number?])[] = [
  ['192.0.2.7', '192.0.2.7 10250'],
  ['fd00::7', 'fd00::7 10250'],
  ['127.0.0.1', refused],
  ['127.8.9.10', refused],
  ['::1', refused],
  ['::ffff:127.0.0.1', refused],
  ['::ffff:192.0.2.7', refused],
  ['0.0.0.0', refused],
  ['::', refused],
  ['169.254.169.254', refused],
  ['fe80::1', refused],
  ['fd00:ec2::254', refused],
  ['fd00:ec2::253', 'fd00:ec2::253 10250'],
  ['fd20:ce::254', refused],
  ['100.100.100.200', refused],
  ['168.63.129.16', refused],
  ['64:ff9b::a9fe:a9fe', refused],
  ['64:ff9b::7f00:1', refused],
  ['64:ff9b::c000:207', '64:ff9b::c000:207 10250'],
  ['2002:7f00:1::1', refused],
  ['2002:c000:207::1', '2002:c000:207::1 10250'],
  ['::7f00:1', refused],
  ['224.0.0.1', refused],
  ['255.255.255.255', refused],
  ['192.0.2.1', '192.0.2.1 10250'],
  ['192.0.2.1', refused, 6443],
  // What is connected to is the address that was checked, not the name once more.
  ['good', '192.0.2.7 10250'],
  ['localhost', refused],
  ['metadata', refused],
  ['mixed', '192.0.2.8 10250'],
  ['nothing', refused],
];
for (const [host, wanted, port] of cases) {
  test(`guardDial() to ${host} ${port ?? ''}`, async () => {
    assert.equal(await dialled(host, port), wanted);
  });
}
