import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeAnswer } from '../wire/encode-answer.ts';
import { name } from '../wire/example.ts';
import { flags, rcodes } from '../wire/record-types.ts';
import { negativeAnswer, soaRecord } from './soa.ts';

const zone = name('cluster.local');

for (const text of ['nope.a.svc.cluster.local', 'cluster.local']) {
  test(`negativeAnswer() for ${text} is what the encoder makes of the record (DNS-05)`, () => {
    const options = { ttl: 30, serial: 1_700_000_000 };
    const wanted = encodeAnswer(name(text), {
      flags: flags.authoritative | rcodes.NXDOMAIN,
      answers: [],
      authorities: [soaRecord(zone, options)],
    });
    assert.deepEqual(negativeAnswer(name(text), zone, rcodes.NXDOMAIN, options), wanted);
  });
}

for (const ttl of [0, 5, 30, 3600]) {
  test(`soaRecord() lets a no be kept for ${ttl}, itself for five minutes at most (DNS-25)`, () => {
    const record = soaRecord(zone, { ttl, serial: 1 });
    const numbers = Buffer.concat(
      record.data.filter((part) => typeof part !== 'string').map((part) => Buffer.from(part)),
    );
    assert.deepEqual(
      [record.ttl, numbers.readUInt32BE(numbers.length - 4)],
      [Math.min(ttl, 300), ttl],
    );
  });
}
