import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSharedQuestions, type SharedRequest } from './shared-questions.ts';

function setUp(limit = 100) {
  const shared = createSharedQuestions<string>(limit);
  const started: { readonly key: string; readonly signal: AbortSignal }[] = [];
  const ends: ((answer: string) => void)[] = [];
  const ask = (key: string, parts: Partial<SharedRequest<string>> = {}) =>
    shared.join({
      ...{ key, user: 'eve', weight: 10, signal: new AbortController().signal },
      start: (signal) =>
        new Promise((resolve) => {
          started.push({ key, signal });
          ends.push(resolve);
        }),
      ...parts,
    });
  return { ask, started, ends };
}

describe('createSharedQuestions()', () => {
  it('gives all who ask for the same one answer, and asks anew afterwards', async () => {
    const { ask, started, ends } = setUp();
    const both = [ask('a'), ask('a', { user: 'bob' })];
    assert.equal(started.length, 1);
    ends[0]?.('yes');
    assert.deepEqual(await Promise.all(both), ['yes', 'yes']);
    void ask('a');
    assert.equal(started.length, 2);
  });
  it('has room for so much, and lets others join when it is full', () => {
    const { ask } = setUp(20);
    assert.ok(ask('a') && ask('b'));
    assert.equal(ask('c', { user: 'bob' }), undefined);
    assert.ok(ask('a', { user: 'bob' }));
  });
  it('starts four questions of a user at a time', async () => {
    const { ask, ends } = setUp();
    const [first] = ['a', 'b', 'c', 'd'].map((key) => ask(key));
    assert.equal(ask('e'), undefined);
    assert.ok(ask('e', { user: 'bob' }));
    ends[0]?.('yes');
    await first;
    assert.ok(ask('f'));
  });
  it('aborts a question when all are gone who asked, and not before', () => {
    const { ask, started } = setUp();
    const [one, two] = [new AbortController(), new AbortController()];
    for (const { signal } of [one, two]) void ask('a', { signal });
    one.abort();
    assert.equal(started[0]?.signal.aborted, false);
    two.abort();
    assert.equal(started[0]?.signal.aborted, true);
    void ask('a');
    assert.equal(started.length, 2);
  });
  it('passes a failure on to all', async () => {
    const { ask } = setUp();
    const start = () => Promise.reject(new Error('no'));
    await Promise.all(
      [ask('a', { start }), ask('a')].map((answer) => assert.rejects(answer ?? Promise.resolve())),
    );
  });
});
