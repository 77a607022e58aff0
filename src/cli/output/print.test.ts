import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { DiscoveredResource } from '../../client/discovery.ts';
import { alignColumns, objectText, type ServerTable } from './print.ts';
import { createTableOutput, type TableOutputOptions } from './table-output.ts';

const service: DiscoveredResource = {
  group: '',
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  singular: 'service',
  namespaced: true,
  shortNames: ['svc'],
  categories: ['all'],
  verbs: [],
  subresources: [],
  preferred: true,
};
const deployment = {
  ...service,
  group: 'apps',
  kind: 'Deployment',
  plural: 'deployments',
  singular: 'deployment',
};

const row = (cells: readonly unknown[], labels?: Record<string, string>) => ({
  cells,
  object: { metadata: { namespace: 'a', ...(labels === undefined ? {} : { labels }) } },
});
const table: ServerTable = {
  columnDefinitions: [
    { name: 'Name', priority: 0 },
    { name: 'External-IP', priority: 0 },
    { name: 'Selector', priority: 1 },
  ],
  rows: [
    row(['web', null, 'app=web'], { b: '2', a: '1' }),
    row(['database', '192.0.2.1', '<none>']),
  ],
};

function print(
  style: Partial<TableOutputOptions>,
  tables: readonly (readonly [DiscoveredResource, ServerTable])[],
): string {
  let text = '';
  const output = createTableOutput({
    write: (more) => {
      text += more;
    },
    wide: false,
    withHeaders: true,
    withLabels: false,
    withNamespace: false,
    mixed: false,
    ...style,
  });
  for (const [resource, one] of tables) output.print(resource, one);
  return `\n${text}`;
}

const cases: readonly {
  name: string;
  style: Partial<TableOutputOptions>;
  tables?: readonly (readonly [DiscoveredResource, ServerTable])[];
  text: string;
}[] = [
  {
    name: 'a table',
    style: {},
    text: `
NAME       EXTERNAL-IP
web        <none>
database   192.0.2.1
`,
  },
  {
    name: 'a wide table with namespaces and labels',
    style: { wide: true, withNamespace: true, withLabels: true },
    text: `
NAMESPACE   NAME       EXTERNAL-IP   SELECTOR   LABELS
a           web        <none>        app=web    a=1,b=2
a           database   192.0.2.1     <none>     <none>
`,
  },
  {
    name: 'a table without header',
    style: { withHeaders: false },
    text: `
web        <none>
database   192.0.2.1
`,
  },
  {
    name: 'tables of several kinds',
    style: { mixed: true },
    tables: [
      [service, table],
      [deployment, { ...table, rows: [row(['web', 'x', ''])] }],
      [
        { ...service, plural: 'empty' },
        { ...table, rows: null },
      ],
    ],
    text: `
NAME               EXTERNAL-IP
service/web        <none>
service/database   192.0.2.1

NAME                  EXTERNAL-IP
deployment.apps/web   x
`,
  },
  {
    name: 'later rows of a watch under the columns of the first',
    style: {},
    tables: [
      [service, table],
      [service, { columnDefinitions: null, rows: [row(['new', 'line\nbreak', 'hidden'])] }],
    ],
    text: `
NAME       EXTERNAL-IP
web        <none>
database   192.0.2.1
new        line...
`,
  },
];
for (const { name, style, tables = [[service, table] as const], text } of cases) {
  test(`a table output prints ${name}`, () => {
    assert.equal(print(style, tables), text);
  });
}

const object = { b: { z: 'on', a: ['x', { k: 1 }] }, a: 'two\nlines\n', empty: {} };

test('objectText() writes JSON as kubectl does', () => {
  assert.equal(
    objectText(object, 'json'),
    `{
    "a": "two\\nlines\\n",
    "b": {
        "a": [
            "x",
            {
                "k": 1
            }
        ],
        "z": "on"
    },
    "empty": {}
}
`,
  );
});

for (const format of ['json', 'yaml'] as const) {
  test(`objectText() escapes in ${format} what a terminal would obey, and programs read the same`, () => {
    const hostile = { a: '\u001b[2J\u009b\u202e', b: 'lines\n\tand tabs\n', c: ['\u007f\r\n'] };
    const text = objectText(hostile, format);
    assert.doesNotMatch(text, /[^\P{Cc}\n\t]|\p{Bidi_Control}/u);
    assert.deepEqual(parse(text), hostile);
  });
}

test('objectText() writes YAML as kubectl does', () => {
  assert.equal(
    objectText(object, 'yaml'),
    `a: |
  two
  lines
b:
  a:
  - x
  - k: 1
  z: "on"
empty: {}
`,
  );
});

test('alignColumns() takes more lines than a call takes arguments', () => {
  const lines = Array.from({ length: 200_000 }, (_none, at) => [`pod-${at}`, 'Running']);
  const { text, widths } = alignColumns(lines);
  assert.deepEqual(widths, ['pod-199999'.length, 'Running'.length]);
  assert.equal(text.split('\n', 1)[0], 'pod-0        Running');
});
