import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PartKind } from '../../kinds/part/names.ts';
import { positionQuestion } from '../../kinds/part/position.ts';
import type { QuestionLine } from '../../kinds/part/question.ts';
import { isApiError } from '../../meta/api-error.ts';
import { createPartsChannel, type PartsChannel } from './channel.ts';

const spec = { services: 1, slices: 2 };
const value = { applied: { services: 5, slices: 6 } };
const ignore = (): void => {};

function start(maxPerUser = 0): PartsChannel {
  let tokens = 0;
  return createPartsChannel({ newToken: () => `token${++tokens}`, maxPerUser });
}

function connect(channel: PartsChannel, node: string, kind: PartKind = 'proxy', user = 'u') {
  const lines: QuestionLine[] = [];
  const part = { kind, node };
  channel.assertRoom(part, user);
  const disconnect = channel.connect({ part, user, send: (line) => void lines.push(line) });
  const [first] = lines;
  const connection = first !== undefined && 'connection' in first ? first.connection : '';
  const source = { part: `${kind}.${node}`, user, connection };
  const ids = (): readonly string[] => lines.flatMap((line) => ('id' in line ? [line.id] : []));
  return { lines, disconnect, source, ids };
}

const refusal = (call: () => unknown): number => {
  try {
    call();
  } catch (error) {
    if (isApiError(error)) return error.status.code;
  }
  return 0;
};

describe('createPartsChannel()', () => {
  it('sends a question to parts of its kind, and to those that connect later', () => {
    const channel = start();
    const first = connect(channel, 'a');
    const only = { ...positionQuestion, parts: ['proxy'] as const };
    const question = channel.open(only, spec, ignore);
    const second = connect(channel, 'b');
    const dns = connect(channel, 'c', 'dns');
    assert.deepEqual(first.lines.at(-1), { id: first.ids()[0], question: 'Position', spec });
    assert.equal(second.ids().length, 1);
    assert.equal(dns.ids().length, 0);
    assert.equal(question.pending(), 2);
  });

  it('collects the answers, and names the parts without one', () => {
    const channel = start();
    const [a, b] = [connect(channel, 'a'), connect(channel, 'b')];
    let changes = 0;
    const question = channel.open(positionQuestion, spec, () => changes++);
    const [id = ''] = a.ids();
    channel.answer(a.source, [{ id, value: { ...value, more: 'x'.repeat(99) } }]);
    assert.deepEqual(question.answers(), [
      { part: 'proxy.a', value },
      { part: 'proxy.b', error: 'no answer' },
    ]);
    channel.answer(b.source, [{ id, value: 'nonsense' }]);
    assert.deepEqual(question.answers()[1], {
      part: 'proxy.b',
      error: 'the answer is not understood',
    });
    assert.equal(question.pending(), 0);
    assert.equal(changes, 2);
  });

  it('does not wait for a part that has disconnected', () => {
    const channel = start();
    const { disconnect } = connect(channel, 'a');
    const question = channel.open(positionQuestion, spec, ignore);
    disconnect();
    disconnect();
    assert.equal(question.pending(), 0);
    assert.deepEqual(question.answers(), []);
  });

  it('ignores answers of others, a second answer, and answers to what is closed', () => {
    const channel = start();
    const [a, b] = [connect(channel, 'a'), connect(channel, 'b', 'proxy', 'other')];
    const question = channel.open(positionQuestion, spec, ignore);
    const [id = ''] = a.ids();
    channel.answer({ ...a.source, user: 'other' }, [{ id, value }]);
    channel.answer({ ...a.source, connection: b.source.connection }, [{ id, value }]);
    channel.answer({ ...a.source, connection: 'guess' }, [{ id, value }]);
    assert.equal(question.pending(), 2);
    channel.answer(a.source, [
      { id, value },
      { id, error: 'changed its mind' },
      { id: 'unknown', value },
    ]);
    assert.deepEqual(question.answers()[0], { part: 'proxy.a', value });
    question.close();
    channel.answer(b.source, [{ id, value }]);
    assert.equal(question.answers().filter((one) => one.value !== undefined).length, 1);
  });
});

describe('an open question of createPartsChannel()', () => {
  it('is cancelled at parts that have not answered', () => {
    const channel = start();
    const [a, b] = [connect(channel, 'a'), connect(channel, 'b')];
    const question = channel.open(positionQuestion, spec, ignore);
    const [id = ''] = a.ids();
    channel.answer(a.source, [{ id, value }]);
    question.close();
    question.close();
    assert.equal(a.lines.filter((line) => 'cancel' in line).length, 0);
    assert.deepEqual(b.lines.at(-1), { cancel: id });
  });

  it('is independent of others', () => {
    const channel = start();
    const a = connect(channel, 'a');
    const questions = [1, 2].map(() => channel.open(positionQuestion, spec, ignore));
    const [first = '', second = ''] = a.ids();
    channel.answer(a.source, [{ id: second, value }]);
    assert.deepEqual(
      questions.map(({ pending }) => pending()),
      [1, 0],
    );
    channel.answer(a.source, [{ id: first, value }]);
    assert.equal(questions[0]?.pending(), 0);
  });
});

describe('the limits of createPartsChannel()', () => {
  it('are for the parts of a user, those of a name, and open questions', () => {
    const few = start(2);
    connect(few, 'a');
    const { disconnect } = connect(few, 'b');
    assert.equal(
      refusal(() => connect(few, 'c')),
      429,
    );
    disconnect();
    connect(few, 'c');
    const channel = start();
    for (let i = 0; i < 8; i++) connect(channel, 'a');
    assert.equal(
      refusal(() => connect(channel, 'a')),
      429,
    );
    for (let i = 0; i < 1000; i++) channel.open(positionQuestion, spec, ignore);
    assert.equal(
      refusal(() => channel.open(positionQuestion, spec, ignore)),
      429,
    );
  });
});
