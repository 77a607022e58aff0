// The recorded scenarios of the data plane in ipvs mode, with the real binary.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { loadModules } from './load-modules.ts';
import { type Observations, readRecording, readScenarios } from './scenarios/recordings.ts';
import { runScenarios } from './scenarios/run-scenarios.ts';

const mode = 'ipvs';
const scenarios = await readScenarios();

/** Where this mode does as the other modes do, and not as upstream's ipvs mode, with the reason. */
const asInNftables: Readonly<Record<string, string>> = {
  'internal-policy/Local with no endpoint on the node':
    'packets are dropped, and a client tries again; upstream refuses',
  'external-ip/external policy Local':
    'pods reach all endpoints (KPX-17); upstream gives them those of the node only',
  'load-balancer/external policy Local keeps the source':
    'pods reach all endpoints (KPX-17); upstream gives them those of the node only',
};

const [recorded, recordedInNftables] = [readRecording(mode), readRecording('nftables')];
const expected: Observations = Object.fromEntries(
  scenarios.map(({ name }) => {
    const from = name in asInNftables ? recordedInNftables : recorded;
    return [name, from[name] ?? []];
  }),
);

let observed: Observations = {};
before(async () => {
  loadModules();
  observed = await runScenarios(mode, scenarios, expected);
});

test('all recorded scenarios are run, and each accepted difference is one', () => {
  assert.deepEqual(Object.keys(observed).sort(), Object.keys(recorded).sort());
  for (const name of Object.keys(asInNftables)) {
    assert.notDeepEqual(recorded[name], recordedInNftables[name], name);
  }
});

for (const { name } of scenarios) {
  test(`${mode}: ${name}`, () => assert.deepEqual(observed[name], expected[name]));
}
