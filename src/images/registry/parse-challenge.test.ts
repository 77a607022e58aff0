import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseChallenge } from './parse-challenge.ts';

const bearer = { kind: 'bearer', realm: 'https://a/t' };
const cases: Readonly<Record<string, ReturnType<typeof parseChallenge>>> = {
  '': undefined,
  'Basic realm="x"': { kind: 'basic' },
  basic: { kind: 'basic' },
  'Bearer realm="https://a/t"': { kind: 'bearer', realm: 'https://a/t' },
  'Bearer realm="https://a/t",service="s",scope="repository:a/b:pull"': {
    ...{ kind: 'bearer', realm: 'https://a/t' },
    ...{ service: 's', scope: 'repository:a/b:pull' },
  },
  'bearer realm=https://a/t, error="insufficient_scope"': {
    ...{ kind: 'bearer', realm: 'https://a/t', error: 'insufficient_scope' },
  },
  'Basic realm="x", Bearer realm="https://a/t"': { kind: 'bearer', realm: 'https://a/t' },
  'Negotiate, Basic realm="x"': { kind: 'basic' },
  'Bearer realm="https://a/t", scope="a \\"b\\", c"': {
    ...{ kind: 'bearer', realm: 'https://a/t', scope: 'a "b", c' },
  },
  'Bearer service="without a realm"': undefined,
  'Digest realm="x", nonce="y"': undefined,
  '"': undefined,
  '=,=,=': undefined,
};

describe('parseChallenge()', () => {
  for (const [header, expected] of Object.entries(cases)) {
    it(`reads ${JSON.stringify(header)}`, () => assert.deepEqual(parseChallenge(header), expected));
  }

  it('prefers Bearer', () => {
    assert.deepEqual(parseChallenge('Bearer realm="https://a/t", Basic realm="y"'), bearer);
  });

  it('does not read what is too long', () => {
    assert.equal(parseChallenge(`Basic realm="${'x'.repeat(10_000)}"`), undefined);
  });
});
