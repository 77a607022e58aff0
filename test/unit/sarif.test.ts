// What SARIF 2.1.0 requires of a log, as far as this program writes it: properties, types and values of the schema.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { splitManifests } from '../../src/cli/manifests/split-manifests.ts';
import { allChecks } from '../../src/doctor/all-checks.ts';
import { diagnoseManifests } from '../../src/doctor/diagnose-manifests.ts';
import { readPages } from '../../src/doctor/read-page.ts';
import { sarifLog } from '../../src/doctor/sarif-log.ts';
import { manifestMistakes } from './doctor/manifest-mistakes.ts';

const nowMs = Date.parse('2026-11-19T12:00:00Z');
type Json = Readonly<Record<string, unknown>>;

async function logOf(text: string, source: string): Promise<Json> {
  const { manifests, problems } = splitManifests(text, { source, isNamed: true });
  const { diagnosis } = diagnoseManifests({ manifests, problems, namespace: 'default', nowMs });
  const pages = await readPages(allChecks.map(({ code }) => code));
  const skipped = [{ code: 'FL0101', title: 'a check', unread: ['pods'] as const }];
  const log = sarifLog({ ...diagnosis, skipped }, { version: '1.2.3', pages });
  return JSON.parse(JSON.stringify(log)) as Json;
}

const all = (value: unknown): readonly Json[] => value as readonly Json[];
const only = (object: Json, names: readonly string[]): void =>
  assert.deepEqual(
    Object.keys(object).filter((name) => !names.includes(name)),
    [],
  );
const levels = ['none', 'note', 'warning', 'error'];

function checkMessage(message: unknown): void {
  only(message as Json, ['text', 'markdown']);
  assert.ok(((message as Json).text as string).length > 0);
}

function checkUri(uri: unknown, isAbsolute: boolean): void {
  assert.equal(typeof uri, 'string');
  assert.match(uri as string, /^[\x21-\x7e]+$/);
  assert.equal(/^[a-z]+:\/\//.test(uri as string), isAbsolute, uri as string);
}

function checkRule(rule: Json): void {
  only(rule, [
    ...['id', 'name', 'shortDescription', 'fullDescription', 'help'],
    ...['defaultConfiguration', 'properties'],
  ]);
  assert.match(rule.id as string, /^FL\d{4}$/);
  for (const field of ['shortDescription', 'fullDescription', 'help']) checkMessage(rule[field]);
  assert.ok(levels.includes((rule.defaultConfiguration as Json).level as string));
}

function checkLocation(location: Json): void {
  only(location, ['physicalLocation', 'logicalLocations']);
  for (const logical of all(location.logicalLocations)) {
    only(logical, ['name', 'fullyQualifiedName', 'kind']);
  }
  const { physicalLocation } = location;
  if (physicalLocation === undefined) return;
  const { artifactLocation, region } = physicalLocation as { artifactLocation: Json; region: Json };
  only(artifactLocation, ['uri', 'uriBaseId']);
  checkUri(artifactLocation.uri, artifactLocation.uriBaseId === undefined);
  assert.ok(Number.isInteger(region.startLine) && (region.startLine as number) >= 1);
}

function checkLog(log: Json): { readonly results: readonly Json[] } {
  only(log, ['$schema', 'version', 'runs']);
  assert.equal(log.version, '2.1.0');
  const [run = {}] = all(log.runs);
  only(run, ['tool', 'invocations', 'columnKind', 'results']);
  assert.equal(run.columnKind, 'utf16CodeUnits');
  const { driver } = run.tool as { driver: Json };
  only(driver, ['name', 'version', 'semanticVersion', 'rules']);
  const rules = all(driver.rules);
  assert.equal(new Set(rules.map(({ id }) => id)).size, rules.length, 'each rule once');
  for (const rule of rules) checkRule(rule);
  for (const invocation of all(run.invocations)) {
    assert.equal(invocation.executionSuccessful, true);
    for (const { level, message } of all(invocation.toolExecutionNotifications)) {
      assert.ok(levels.includes(level as string));
      checkMessage(message);
    }
  }
  for (const result of all(run.results)) {
    assert.equal(rules[result.ruleIndex as number]?.id, result.ruleId);
    assert.ok(levels.includes(result.level as string));
    checkMessage(result.message);
    for (const location of all(result.locations)) checkLocation(location);
    assert.ok(Object.values(result.partialFingerprints as Json).every((one) => one !== ''));
  }
  return { results: all(run.results) };
}

test('sarifLog() is valid for every mistake', async () => {
  for (const { manifests } of manifestMistakes) {
    const { results } = checkLog(await logOf(manifests, 'deploy/my web.yaml'));
    assert.ok(results.length > 0);
  }
});

const [first] = manifestMistakes;
const sources: readonly { source: string; uri: string | undefined }[] = [
  { source: './deploy/web.yaml', uri: 'deploy/web.yaml' },
  { source: 'a b/ü#?.yaml', uri: 'a%20b/%C3%BC%23%3F.yaml' },
  { source: '/srv/web.yaml', uri: 'file:///srv/web.yaml' },
  { source: 'deploy\\web.yaml', uri: 'deploy/web.yaml' },
  { source: 'STDIN', uri: undefined },
];
for (const { source, uri } of sources) {
  test(`sarifLog() gives ${source} the location ${uri}`, async () => {
    const { results } = checkLog(await logOf(first?.manifests ?? '', source));
    const [location = {}] = all(results[0]?.locations);
    const physical = location.physicalLocation as { artifactLocation: Json } | undefined;
    assert.equal(physical?.artifactLocation.uri, uri);
  });
}

test('sarifLog() gives a finding the same fingerprint in the next run', async () => {
  const fingerprints = async (source: string) =>
    checkLog(await logOf(first?.manifests ?? '', source)).results.map(
      (result) => result.partialFingerprints,
    );
  assert.deepEqual(await fingerprints('a.yaml'), await fingerprints('b.yaml'));
});
