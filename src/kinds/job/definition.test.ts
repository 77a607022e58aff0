import assert from 'node:assert/strict';
import { test } from 'node:test';
import { errorText } from '../../meta/field-error.ts';
import { jobDefinition } from './definition.ts';
import { exampleJob } from './example.ts';
import type { Job } from './types.ts';

const { create, update, subresources } = jobDefinition;
const errorsOf = (spec: object): readonly string[] =>
  create.validateCreate(exampleJob({ spec })).map(errorText);

test('jobDefinition: a job gets its selector, and its labels those of the template', () => {
  const job = exampleJob();
  assert.deepEqual(errorsOf({}), []);
  assert.deepEqual(job.spec.selector?.matchLabels, {
    'batch.kubernetes.io/controller-uid': 'job-uid',
  });
  assert.equal(job.metadata.labels, job.spec.template.metadata.labels);
  const own = exampleJob({ metadata: { labels: { a: 'b' } } });
  assert.deepEqual(own.metadata.labels, { a: 'b' });
});

const indexed = { completionMode: 'Indexed', completions: 3, parallelism: 3 };

for (const [what, spec, expected] of [
  [
    'limits per index need indexes',
    { backoffLimitPerIndex: 1, maxFailedIndexes: 1 },
    [
      'spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode',
      'spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode',
    ],
  ],
  [
    'failed indexes are limited by completions',
    { ...indexed, backoffLimitPerIndex: 1, maxFailedIndexes: 4 },
    ['spec.maxFailedIndexes: Invalid value: 4: must be less than or equal to completions'],
  ],
  [
    'many completions need a limit of failed indexes',
    { ...indexed, completions: 200_000, parallelism: 20_000, backoffLimitPerIndex: 1 },
    [
      'spec.maxFailedIndexes: Required value: must be specified when completions is above 100000',
      'spec.parallelism: Invalid value: 20000: must be less than or equal to 10000 when completions are above 100000 and used with backoff limit per index',
    ],
  ],
  ['a hostname must be a label', { ...indexed, completions: 10 ** 9, parallelism: 1 }, []],
  [
    'managedBy is a path below a domain',
    { managedBy: 'nowhere' },
    [
      'spec.managedBy: Invalid value: "nowhere": must be a domain-prefixed path (such as "acme.io/foo")',
    ],
  ],
  [
    'a success policy has rules',
    { ...indexed, successPolicy: { rules: [] } },
    [
      'spec.successPolicy.rules: Required value: at least one rules must be specified when the successPolicy is specified',
    ],
  ],
] as const) {
  test(`jobDefinition: ${what}`, () => assert.deepEqual(errorsOf(spec), expected));
}

test('jobDefinition: a pod failure policy has a maximum size', () => {
  const onExitCodes = {
    operator: 'In',
    values: Array.from({ length: 256 }, (_, index) => index + 1),
  };
  const rules = Array.from({ length: 21 }, () => ({ action: 'Ignore', onExitCodes }));
  const errors = errorsOf({ podFailurePolicy: { rules } });
  assert.equal(errors[0], 'spec.podFailurePolicy.rules: Too many: 21: must have at most 20 items');
  assert.equal(
    errors[1],
    'spec.podFailurePolicy.rules[0].onExitCodes.values: Too many: 256: must have at most 255 items',
  );
  assert.equal(errors.length, 22);
});

const changed = (before: Job, spec: object): readonly string[] =>
  update
    .validateUpdate(before, { ...before, spec: { ...before.spec, ...spec } })
    .map(({ field }) => field);

test('jobDefinition: a suspended job may change where its pods go and what they get', () => {
  const before = exampleJob({ spec: { suspend: true } });
  const { template } = before.spec;
  const withSpec = (spec: object): object => ({
    template: { ...template, spec: { ...template.spec, ...spec } },
  });
  const [container] = template.spec.containers ?? [];
  const resources = { requests: { cpu: '1' } };
  const bigger = { containers: [{ ...container, resources }], nodeSelector: { a: 'b' } };
  assert.deepEqual(changed(before, withSpec(bigger)), []);
  assert.deepEqual(changed(before, withSpec({ hostNetwork: true })), ['spec.template.spec']);
  const running = { ...before, status: { startTime: '2026-01-01T00:00:00Z', active: 1 } };
  assert.deepEqual(changed(running, withSpec(bigger)), ['spec.template']);
});

const status = subresources?.find(({ name }) => name === 'status')?.rules;
const condition = (type: string) => ({
  type,
  status: 'True',
  lastProbeTime: null,
  lastTransitionTime: null,
});
const statusErrors = (before: object, after: object, spec: object = {}): readonly string[] =>
  (
    status?.validateUpdate(
      exampleJob({ spec, status: before }),
      exampleJob({ spec, status: after }),
    ) ?? []
  ).map(errorText);

const startTime = '2026-01-01T00:00:00Z';
const complete = {
  startTime,
  completionTime: startTime,
  conditions: [condition('SuccessCriteriaMet'), condition('Complete')],
};

for (const [what, before, after, expected] of [
  ['a job completes', { startTime }, complete, []],
  [
    'a completed job is not disabled',
    complete,
    { startTime },
    [
      'status.conditions: Invalid value: cannot disable the terminal Complete=True condition',
      'status.conditions: Invalid value: cannot disable the SuccessCriteriaMet=True condition',
    ],
  ],
  [
    'a job does not fail without its announcement',
    { startTime },
    { startTime, conditions: [condition('Failed')] },
    [
      'status.conditions: Invalid value: cannot set Failed=True condition without the FailureTarget=true condition',
    ],
  ],
  [
    'a finished job has no active pods',
    { startTime },
    { ...complete, active: 1 },
    ['status.active: Invalid value: 1: active>0 is invalid for finished job'],
  ],
  [
    'the time of a job that runs does not begin anew',
    { startTime },
    { startTime: '2026-01-01T00:01:00Z' },
    ['status.startTime: Required value: startTime cannot be removed for unsuspended job'],
  ],
  [
    'that of a job that is resumed does',
    { startTime, conditions: [condition('Suspended')] },
    { startTime: '2026-01-01T00:01:00Z' },
    [],
  ],
  [
    'counters do not go back',
    { failed: 2 },
    { failed: 1 },
    ['status.failed: Invalid value: 1: cannot decrease the failed counter'],
  ],
  [
    'indexes need an indexed job',
    {},
    { completedIndexes: '0' },
    [
      'status.completedIndexes: Invalid value: "0": cannot set non-empty completedIndexes when non-indexed completion mode',
    ],
  ],
] as const) {
  test(`jobDefinition: status: ${what}`, () =>
    assert.deepEqual(statusErrors(before, after), expected));
}

test('jobDefinition: status: indexes that failed have not completed', () => {
  const spec = { completionMode: 'Indexed', completions: 5, backoffLimitPerIndex: 1 };
  assert.deepEqual(statusErrors({}, { completedIndexes: '0-2', failedIndexes: '2,4' }, spec), [
    'status.failedIndexes: Invalid value: "2,4": failedIndexes and completedIndexes overlap at index: 2',
  ]);
});
