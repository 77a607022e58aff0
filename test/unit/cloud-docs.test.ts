// What the README of the cloud part lists must be what the code has.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { createAnnouncerMetrics } from '../../src/cloud/announce/metrics.ts';
import { allProviders } from '../../src/cloud/providers/all.ts';
import { measurePools } from '../../src/cloud/providers/local/metrics.ts';
import { createServiceControllerMetrics } from '../../src/cloud/service-controller/metrics.ts';
import { createMetrics } from '../../src/observe/metrics.ts';

const readme = readFileSync('src/cloud/README.md', 'utf8');
const section = (title: string): string =>
  readme.split(`## ${title}\n`)[1]?.split('\n## ')[0] ?? '';
const firstCells = (text: string): readonly string[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)])
    .map(([, word = '']) => word);

test('the README names the providers there are', () => {
  assert.deepEqual(
    firstCells(section('Providers')),
    allProviders.map(({ name }) => name),
  );
});

test('the README names the metrics there are', () => {
  const metrics = createMetrics();
  createServiceControllerMetrics(metrics);
  measurePools(metrics, { external: [], internal: [] }, () => []);
  createAnnouncerMetrics(metrics);
  const measured = [...metrics.text().matchAll(/^# HELP (\S+)/gm)].map(([, name = '']) => name);
  const named = firstCells(section('Metrics')).filter((name) => /^(service_|fairlead_)/.test(name));
  assert.deepEqual([...named].filter((name) => !name.includes('aws')).sort(), [...measured].sort());
});
