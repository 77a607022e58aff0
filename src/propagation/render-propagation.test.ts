import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { changeOf } from './compare-propagations.ts';
import { examplePart, examplePropagation } from './example.ts';
import { renderChanges, renderPropagation } from './render-propagation.ts';

const plain = (text: string): string => text;
const options = {
  paint: { bold: plain, dim: plain, red: plain, green: plain, yellow: plain, cyan: plain },
  ...{ isVerbose: false, rows: 20, columns: 120, offsetMinutes: () => 0 },
};

const parts = [
  examplePart('a', { mode: 'nftables' }),
  examplePart('b', {
    state: 'behind',
    revision: '5',
    behindRevisions: 2,
    behindMilliseconds: 1300,
  }),
  examplePart('c', { state: 'no-answer', reason: 'gone\u001b[2J' }),
  examplePart('m', { kind: 'dns', sinceBefore: true }),
];

describe('renderPropagation()', () => {
  it('is a table of the parts, and what it does not say', () => {
    const report = examplePropagation(parts, { nodesWithoutProxy: ['x', 'y'] });
    assert.equal(
      renderPropagation(report, { ...options, note: 'the Service was deleted' }),
      `Service shop/web, revision 7: in effect in 2 of 4 parts

PART   NODE  MODE      STATE      REVISION  SINCE                BEHIND
proxy  a     nftables  current    7         12:00:00.000
proxy  b     -         behind     5         12:00:00.000         2 changes, 1300 ms
proxy  c     -         no answer  7         12:00:00.000         gone\\x1b[2J
dns    m     -         current    7         before 12:00:00.000

nodes without a proxy of Fairlead: x, y

the Service was deleted
`,
    );
  });
  it('is nowhere wider than the terminal', () => {
    const report = examplePropagation(parts, { nodesWithoutProxy: ['x'], service: 'w'.repeat(63) });
    for (const line of renderPropagation(report, { ...options, columns: 30 }).split('\n'))
      assert.ok(line.length < 30, line);
  });
  it('says that no part is connected', () => {
    const text = renderPropagation(examplePropagation([]), options);
    assert.equal(
      text,
      'Service shop/web, revision 7: no proxy or DNS server of Fairlead is connected\n',
    );
  });
  it('shows what is not current where not all fit', () => {
    const many = Array.from({ length: 5000 }, (_none, at) => examplePart(`node-${at}`));
    const report = examplePropagation([...many, ...parts]);
    const lines = renderPropagation(report, options).split('\n');
    assert.ok(lines.length <= options.rows);
    assert.match(lines.join('\n'), /gone.*2 changes.*and 4992 more; -v shows them/s);
    assert.ok(renderPropagation(report, { ...options, isVerbose: true }).split('\n').length > 5000);
  });
});

describe('renderChanges()', () => {
  it('has a line for each kind of change', () => {
    const report = examplePropagation(parts);
    const changes = [
      changeOf('RevisionChanged', report),
      ...parts.slice(0, 1).map((part) => changeOf('PartCurrent', report, { part })),
      ...Array.from({ length: 7 }, (_none, at) =>
        changeOf('PartBehind', report, { part: examplePart(`n${at}`, { behindRevisions: 1 }) }),
      ),
      changeOf('ServerLost', report, { reason: 'refused\n' }),
    ];
    assert.equal(
      renderChanges(changes, options),
      `12:00:01.000  revision 7
12:00:01.000  revision 7 in effect: proxy a
12:00:01.000  behind: proxy n0 (1 change), proxy n1 (1 change), proxy n2 (1 change), proxy n3 (1 change), proxy n4 (1 change) and 2 more
12:00:01.000  the API server does not answer, trying again: refused\\n
`,
    );
  });
});
