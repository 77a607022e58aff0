// Broken clusters, each with the code that must come first, and healthy ones, which must have no finding above `info`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allChecks } from '../../src/doctor/all-checks.ts';
import { type Diagnosis, diagnose } from '../../src/doctor/diagnose.ts';
import { clusterSettings } from '../../src/snapshot/cluster-settings.ts';
import { brokenAddresses } from './doctor/broken-addresses.ts';
import { brokenEndpoints } from './doctor/broken-endpoints.ts';
import { brokenNames } from './doctor/broken-names.ts';
import { brokenParts } from './doctor/broken-parts.ts';
import { brokenPods } from './doctor/broken-pods.ts';
import { brokenPolicies } from './doctor/broken-policies.ts';
import { brokenPorts } from './doctor/broken-ports.ts';
import { brokenSelectors } from './doctor/broken-selectors.ts';
import type { BrokenCase } from './doctor/case.ts';
import { clusterOf } from './doctor/cluster-of.ts';
import { healthyClusters } from './doctor/healthy-clusters.ts';
import { healthyNames } from './doctor/healthy-names.ts';
import { notes } from './doctor/notes.ts';

const nowMs = Date.parse('2026-11-19T12:00:00Z');

function diagnosed(objects: string): Diagnosis {
  const index = clusterOf(objects);
  return diagnose({ index, settings: clusterSettings(index), scope: { isLive: true, nowMs } });
}

const brokenClusters: readonly BrokenCase[] = [
  ...brokenSelectors,
  ...brokenAddresses,
  ...brokenEndpoints,
  ...brokenPorts,
  ...brokenPods,
  ...brokenPolicies,
  ...brokenNames,
  ...brokenParts,
];

for (const { name, objects, code, also = [], says, fix } of brokenClusters) {
  test(`diagnose() finds ${code}: ${name}`, () => {
    const { findings } = diagnosed(objects);
    const serious = findings.filter(({ severity }) => severity !== 'info');
    const texts = findings.map((one) => `${one.code} ${one.severity}: ${one.message}`);
    assert.equal(findings[0]?.code, code, texts.join('\n'));
    const codes = [...new Set(serious.map((one) => one.code))].sort();
    assert.deepEqual(codes, [...new Set([code, ...also])].sort(), texts.join('\n'));
    if (says !== undefined) assert.ok(findings[0]?.message.includes(says), findings[0]?.message);
    if (fix !== undefined)
      assert.ok(findings[0]?.fix?.command?.includes(fix), findings[0]?.fix?.command);
  });
}

for (const { name, objects } of [...healthyClusters, ...healthyNames]) {
  test(`diagnose() finds nothing above info: ${name}`, () => {
    const { findings } = diagnosed(objects);
    const serious = findings.filter(({ severity }) => severity !== 'info');
    assert.deepEqual(
      serious.map((one) => `${one.code} ${one.severity}: ${one.message}`),
      [],
    );
  });
}

for (const { name, objects, code } of notes) {
  test(`diagnose() notes ${code}: ${name}`, () => {
    const { findings } = diagnosed(objects);
    const found = findings.map((one) => `${one.code} ${one.severity}`);
    assert.ok(found.includes(`${code} info`), found.join());
    assert.ok(
      found.every((one) => one.endsWith(' info')),
      found.join(),
    );
  });
}

/** Findings that need more than objects, with the test that has them. */
const elsewhere: Readonly<Record<string, string>> = {
  FL0210: 'manifest-cases.test.ts',
  FL0512: 'manifest-cases.test.ts',
  FL0803: 'src/doctor/checks/too-many-links.test.ts',
  FL0804: 'manifest-cases.test.ts',
  FL0805: 'manifest-cases.test.ts',
  FL0906: 'src/doctor/checks/rules-behind.test.ts',
};

test('every check finds something in a broken cluster of the tables', () => {
  const found = new Set(
    [...brokenClusters, ...notes].flatMap(({ objects }) =>
      diagnosed(objects).findings.map(({ code }) => code),
    ),
  );
  const never = allChecks.map(({ code }) => code).filter((code) => !found.has(code));
  assert.deepEqual(never.sort(), Object.keys(elsewhere));
});
