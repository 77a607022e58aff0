import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseCidr } from '../../../ip/cidr.ts';
import { keyText } from './contents.ts';
import { servers } from './layout.ts';
import { readServers, type ServerQuestion } from './read-kernel.ts';

/** The table says that these are ours, and the kernel's list has none of them. */
const written = [
  ['10.96.0.20', 'tcp', 80],
  ['198.51.100.11', 'sctp', 30080],
  ['192.0.2.7', 'udp', 53],
].map((key) => ({ key }));

const question: ServerQuestion = {
  family: 'IPv4',
  excludeCIDRs: [parseCidr('192.0.2.0/24')].filter((range) => range !== undefined),
  addresses: { ours: [], others: [] },
  table: {
    isThere: true,
    rules: 0,
    choices: new Set(),
    elements: new Map([[servers.name, new Map(written.map((one) => [keyText(one), one]))]]),
  },
  isWanted: (key) => key === '10.96.0.20 tcp 80',
};

describe('readServers()', () => {
  it('takes those for there that are written, not wanted, and left out by the kernel’s list (IVS-10)', async () => {
    const ipvs = { listServices: async () => [], listDestinations: async () => [] };
    assert.deepEqual(
      [...(await readServers({ ipvs }, question)).keys()],
      ['198.51.100.11 sctp 30080'],
    );
  });
});
