import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Option } from 'commander';
import { describeFlag } from './describe-flag.ts';

const cases: Readonly<Record<string, [option: Option, text: string]>> = {
  'a flag without a default': [new Option('-a', 'all of them'), 'all of them'],
  'a number': [new Option('--ttl <n>', 'how long').default(30), 'how long (default: 30)'],
  'an empty text': [new Option('--x <x>', 'text').default(''), 'text'],
  'a default in words': [
    new Option('--range <r>', 'ports').default({ first: 1n }, '30000-32767'),
    'ports (default: 30000-32767)',
  ],
  'a default that only the description knows': [
    new Option('--d <d>', 'domain (default: cluster.local)').default('\x07cluster\x05local\0'),
    'domain (default: cluster.local)',
  ],
  'a parsed default': [new Option('--l <l>', 'labels').default({}), 'labels'],
  choices: [
    new Option('-o <f>', 'how to show them').choices(['table', 'json']).default('table'),
    'how to show them (one of table, json; default: table)',
  ],
  'choices that the description names': [
    new Option('--n <n>', 'bridge: its own; host: the node’s').choices(['bridge', 'host']),
    'bridge: its own; host: the node’s',
  ],
};

for (const [what, [option, text]] of Object.entries(cases)) {
  test(`describeFlag() of ${what}`, () => assert.equal(describeFlag(option), text));
}
