import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { addressText } from './address-bytes.ts';
import { type ExampleFlow, exampleFlowDatagram } from './example-flows.ts';
import { createFlowRecord, type FlowRecord, readFlowRecords } from './flow-records.ts';

const flow: ExampleFlow = {
  ...{ source: '10.244.1.7', sourcePort: 50_001 },
  ...{ destination: '10.96.0.10', destinationPort: 80 },
  ...{ replySource: '10.244.2.9', replySourcePort: 8080 },
  ...{ id: 0xfedc_ba98, zone: 7, bytes: [2 ** 40 + 5, 12] },
};

const seenReply = 1 << 1;

function textsOf(record: FlowRecord) {
  const { bytes, addressBytes, source, destination, replySource, ...rest } = record;
  const address = (at: number): string => addressText(bytes.subarray(at, at + addressBytes));
  return {
    ...rest,
    source: address(source),
    destination: address(destination),
    replySource: address(replySource),
  };
}

function read(datagram: Buffer) {
  const seen: ReturnType<typeof textsOf>[] = [];
  const end = readFlowRecords(datagram, createFlowRecord(), (one) => seen.push(textsOf(one)));
  return { seen, end };
}

describe('readFlowRecords()', () => {
  it('reads addresses, ports, state and bytes', () => {
    const { seen, end } = read(exampleFlowDatagram([flow]));
    assert.equal(end, undefined);
    assert.deepEqual(seen, [
      {
        ...{ protocol: 6, source: '10.244.1.7', sourcePort: 50_001 },
        ...{ destination: '10.96.0.10', destinationPort: 80 },
        ...{ replySource: '10.244.2.9', replySourcePort: 8080 },
        ...{ status: seenReply, state: 3, id: 0xfedc_ba98, zone: 7 },
        ...{ originalBytes: 2 ** 40 + 5, replyBytes: 12 },
      },
    ]);
  });
  it('reads IPv6, and connections that are not counted after ones that are', () => {
    const other: ExampleFlow = {
      ...{ protocol: 17, source: 'fd00::7', destination: 'fd00:96::a', destinationPort: 53 },
      ...{ replySource: 'fd00:1::9', replySourcePort: 5353, status: 0 },
    };
    const { seen } = read(exampleFlowDatagram([flow, other]));
    assert.deepEqual(
      seen.map((one) => [one.destination, one.state, one.zone, one.originalBytes, one.status]),
      [
        ['10.96.0.10', 3, 7, 2 ** 40 + 5, seenReply],
        ['fd00:96::a', 0, 0, undefined, 0],
      ],
    );
  });
  it('says when the listing has ended', () => {
    const { seen, end } = read(exampleFlowDatagram([flow], true));
    assert.equal(seen.length, 1);
    assert.equal(end?.errno, 0);
  });
  it('refuses what is cut short, at any byte', () => {
    const whole = exampleFlowDatagram([flow]);
    for (let length = 1; length < whole.length; length += 1) {
      assert.throws(() => read(whole.subarray(0, length)), RangeError, `${length} bytes`);
    }
  });
});
