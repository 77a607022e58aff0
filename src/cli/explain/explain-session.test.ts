import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { makeSnapshot } from '../../snapshot/snapshot.ts';
import { paintFor, plainPaint } from '../output/paint.ts';
import { missingRightsText } from './explain-session.ts';

describe('missingRightsText()', () => {
  it('names user, verb and resource, and leaves out what the server lacks', () => {
    const message =
      'pods is forbidden: User "eve" cannot list resource "pods" in API group "" in the namespace "a"';
    const snapshot = makeSnapshot({
      unread: [
        { kind: 'pods', namespace: 'a', reason: 'forbidden', message },
        { kind: 'serviceCIDRs', reason: 'not-served', message: 'the server could not find it' },
        { kind: 'nodes', reason: 'failed', message: 'etcdserver: leader changed' },
      ],
    });
    assert.deepEqual(missingRightsText(snapshot), [
      'Cannot read pods: user "eve" needs the right to list pods in namespace a',
      'Cannot read nodes: etcdserver: leader changed',
    ]);
  });
});

describe('paintFor()', () => {
  const terminal = { columns: 80, rows: 24 };
  it('colours at a terminal', () => {
    assert.equal(paintFor({ terminal, env: {} }).red('no'), '\u001b[31mno\u001b[39m');
  });
  it('does not colour in a pipe, with NO_COLOR, and at a dumb terminal', () => {
    for (const world of [
      { env: {} },
      { terminal, env: { NO_COLOR: '1' } },
      { terminal, env: { TERM: 'dumb' } },
    ]) {
      assert.equal(paintFor(world).red('no'), 'no');
    }
    assert.equal(plainPaint.bold('no'), 'no');
  });
});
