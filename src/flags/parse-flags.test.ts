import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidArgumentError } from 'commander';
import { formatCidr } from '../ip/cidr.ts';
import { ipAddress, logLevel, port, portRange, serviceRanges } from './parse-flags.ts';

function refuses(parse: (text: string) => unknown, text: string, why: RegExp): void {
  assert.throws(
    () => parse(text),
    (error) => error instanceof InvalidArgumentError && why.test(error.message),
    `"${text}"`,
  );
}

test('port() takes numbers from 0 to 65535', () => {
  assert.deepEqual(['0', '6443', '65535'].map(port), [0, 6443, 65535]);
  for (const text of ['', '-1', '65536', '80a', ' 80', '1e3', '0x50', '8.0']) {
    refuses(port, text, /is not a port; it must be a number from 0 to 65535/);
  }
});

test('ipAddress() takes addresses of both families', () => {
  for (const text of ['127.0.0.1', '0.0.0.0', '::', '::1', 'fd00::1']) {
    assert.equal(ipAddress(text), text);
  }
  for (const text of ['', 'localhost', '127.1', '01.2.3.4', '1.2.3.4/8', '[::1]']) {
    refuses(ipAddress, text, /is not an IP address/);
  }
});

test('serviceRanges() takes one range or one of each family, the first of which is the usual (IPA-01)', () => {
  const formatted = (text: string): readonly string[] => serviceRanges(text).map(formatCidr);
  assert.deepEqual(formatted('10.96.0.0/16'), ['10.96.0.0/16']);
  assert.deepEqual(formatted('10.96.0.0/16, fd00:96::/108'), ['10.96.0.0/16', 'fd00:96::/108']);
  assert.deepEqual(formatted('fd00:96::/108,10.96.0.0/12'), ['fd00:96::/108', '10.96.0.0/12']);
});

test('serviceRanges() says what is wrong (IPA-01, IPA-04)', () => {
  refuses(serviceRanges, '10.96.0.0', /"10.96.0.0" is not a network/);
  refuses(serviceRanges, '', /is not a network/);
  refuses(serviceRanges, '10.96.0.0/16,nope', /"nope" is not a network/);
  refuses(serviceRanges, '10.96.0.0/16,10.97.0.0/16', /of different families/);
  refuses(serviceRanges, '10.96.0.0/16,fd00::/108,fd01::/108', /at most two ranges/);
  refuses(serviceRanges, 'fd00::/48', /\/64 or smaller/);
  refuses(serviceRanges, '10.96.0.0/30', /at least 8 addresses/);
  refuses(serviceRanges, '10.96.0.0/16,fd00::/126', /at least 8 addresses/);
});

test('portRange() takes a range (NPT-01)', () => {
  assert.deepEqual(portRange('30000-32767'), { first: 30000, last: 32767 });
  for (const text of ['', 'x', '2-1', '0-70000']) refuses(portRange, text, /is not a port range/);
});

test('logLevel() takes the known levels', () => {
  assert.equal(logLevel('debug'), 'debug');
  refuses(logLevel, 'loud', /must be one of debug, info, warn, error, silent/);
});
