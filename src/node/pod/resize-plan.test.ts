import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planResize, type ResizeStep } from './resize-plan.ts';

const quantities = (cpu: string, memory: string) => ({
  requests: { cpu },
  limits: { cpu: '2', memory },
});
const held = quantities('1', '1Gi');
const restart = (resourceName: string) => [{ resourceName, restartPolicy: 'RestartContainer' }];

const cases: readonly (readonly [string, Parameters<typeof planResize>, ResizeStep])[] = [
  ['the same amounts', [held, { resources: held }], 'none'],
  ['other amounts', [held, { resources: quantities('2', '1Gi') }], 'change'],
  ['an amount that is new', [{}, { resources: held }], 'change'],
  [
    'an amount for which the container restarts',
    [held, { resources: quantities('1', '2Gi'), resizePolicy: restart('memory') }],
    'restart',
  ],
  [
    'an amount beside one for which the container restarts',
    [held, { resources: quantities('2', '1Gi'), resizePolicy: restart('memory') }],
    'change',
  ],
  ['no amounts at all', [undefined, { resources: {} }], 'none'],
];

for (const [title, given, expected] of cases) {
  test(`planResize() of ${title}`, () => assert.equal(planResize(...given), expected));
}
