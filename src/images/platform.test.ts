import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { choosePlatform } from './platform.ts';

const linux = (architecture: string, variant?: string) => ({
  platform: { os: 'linux', architecture, ...(variant === undefined ? {} : { variant }) },
});
const windows = { platform: { os: 'windows', architecture: 'amd64' } };
const attestation = { platform: { os: 'unknown', architecture: 'unknown' } };
const plain = {};

const cases = [
  { name: 'its own', list: [linux('arm64'), linux('amd64')], arch: 'x64', chosen: 1 },
  { name: 'not Windows', list: [windows, linux('amd64')], arch: 'x64', chosen: 1 },
  { name: 'none', list: [windows, linux('arm64'), attestation], arch: 'x64', chosen: -1 },
  { name: 'no newer variant', list: [linux('amd64', 'v3')], arch: 'x64', chosen: -1 },
  {
    name: 'the best variant',
    list: [linux('arm', 'v6'), linux('arm', 'v7')],
    arch: 'arm',
    chosen: 1,
  },
  { name: 'an older variant', list: [linux('arm', 'v5'), linux('arm64')], arch: 'arm', chosen: 0 },
  { name: 'arm64 with v8', list: [linux('arm64', 'v8')], arch: 'arm64', chosen: 0 },
  { name: 'one without a platform', list: [plain], arch: 'x64', chosen: 0 },
  { name: 'the named one first', list: [plain, linux('amd64')], arch: 'x64', chosen: 1 },
];

describe('choosePlatform()', () => {
  for (const { name, list, arch, chosen } of cases) {
    it(`takes ${name}`, () => assert.equal(choosePlatform(list, arch), list[chosen]));
  }
});
