import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CertificateSigningRequest } from '../../kinds/certificate-signing-request/types.ts';
import { removalTime } from './desired.ts';

const created = Date.parse('2026-01-02T00:00:00Z');
const hourMs = 3_600_000;

function request(types: readonly string[], certificate?: string): CertificateSigningRequest {
  const at = '2026-01-02T02:00:00Z';
  return {
    kind: 'CertificateSigningRequest',
    apiVersion: 'certificates.k8s.io/v1',
    metadata: { name: 'a', creationTimestamp: '2026-01-02T00:00:00Z' },
    spec: { signerName: 'a.b/c' },
    status: {
      conditions: types.map((type) => ({
        ...{ type, status: 'True', lastUpdateTime: at, lastTransitionTime: at },
      })),
      ...(certificate === undefined ? {} : { certificate }),
    },
  };
}

const cases: readonly (readonly [string, CertificateSigningRequest, number])[] = [
  ['pending: a day', request([]), 24],
  ['approved and issued: an hour after that', request(['Approved'], 'AA=='), 3],
  ['approved, not signed: a day after that', request(['Approved']), 26],
  ['denied: an hour after that', request(['Denied']), 3],
  ['failed: an hour after that', request(['Approved', 'Failed']), 3],
];
for (const [name, given, hours] of cases) {
  test(`removalTime(): ${name}`, () => {
    assert.equal((removalTime(given) - created) / hourMs, hours);
  });
}
