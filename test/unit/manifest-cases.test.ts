// What `fairlead doctor -f` finds in manifests: in broken ones the right code first, in healthy ones nothing above `info`. Healthy ones
// are also looked at as the cluster that they lead to.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitManifests } from '../../src/cli/manifests/split-manifests.ts';
import type { Finding } from '../../src/doctor/check.ts';
import { diagnose } from '../../src/doctor/diagnose.ts';
import { diagnoseManifests } from '../../src/doctor/diagnose-manifests.ts';
import { clusterSettings } from '../../src/snapshot/cluster-settings.ts';
import { healthyCharts } from './doctor/healthy-charts.ts';
import { healthyManifests } from './doctor/healthy-manifests.ts';
import { manifestMistakes } from './doctor/manifest-mistakes.ts';
import { projectManifests } from './doctor/project-manifests.ts';

const nowMs = Date.parse('2026-11-19T12:00:00Z');

function diagnosed(text: string) {
  const { manifests, problems } = splitManifests(text, { source: 'all.yaml', isNamed: true });
  return diagnoseManifests({ manifests, problems, namespace: 'default', nowMs });
}

const textOf = (one: Finding): string =>
  `${one.code} ${one.severity} ${one.about.kind} ${one.about.name}: ${one.message}`;

for (const { name, manifests, code, says } of manifestMistakes) {
  test(`diagnoseManifests() finds ${code}: ${name}`, () => {
    const { findings } = diagnosed(manifests).diagnosis;
    const [first] = findings;
    assert.equal(first?.code, code, findings.map(textOf).join('\n'));
    assert.notEqual(first?.severity, 'info');
    assert.ok(first?.source !== undefined && first.source.line > 0, 'it has a line');
    if (says !== undefined) assert.ok(first.message.includes(says), first.message);
  });
}

for (const { name, manifests, isPart = false } of [
  ...healthyManifests,
  ...healthyCharts,
  ...projectManifests(),
]) {
  test(`diagnoseManifests() finds nothing above info: ${name}`, () => {
    const { diagnosis, index } = diagnosed(manifests);
    const live = diagnose({
      index,
      settings: clusterSettings(index),
      scope: { isLive: true, nowMs },
    });
    for (const { findings } of isPart ? [diagnosis] : [diagnosis, live]) {
      assert.deepEqual(findings.filter(({ severity }) => severity !== 'info').map(textOf), []);
    }
  });
}
