import assert from 'node:assert/strict';
import { test } from 'node:test';
import { zoneOf } from '../cluster/example.ts';
import type { Lookup, Question } from '../question.ts';
import { type Answer, emptyAnswer } from '../wire/answer.ts';
import { encodeAnswer } from '../wire/encode-answer.ts';
import { answerText, name } from '../wire/example.ts';
import { nameText } from '../wire/names.ts';
import { rcodes, types } from '../wire/record-types.ts';
import { createAutopath } from './autopath.ts';

const zone = zoneOf({
  kind: 'pod',
  key: 'a/p',
  facts: { namespace: 'a', name: 'p', addresses: ['10.1.2.3'] },
});

function setUp(known: Readonly<Record<string, Answer>>) {
  const lookups: string[] = [];
  const lookup: Lookup = (question) => {
    const text = nameText(question.name);
    lookups.push(text);
    assert.equal(question.isInternal, true);
    return { answer: known[text] ?? emptyAnswer(rcodes.NXDOMAIN), by: '' };
  };
  const options = { domain: name('cluster.local'), hostSearch: [name('corp.example')] };
  const handler = createAutopath(options, zone, lookup);
  const ask = (text: string, client = '10.1.2.3'): ReturnType<typeof handler.answer> => {
    const question: Question = {
      name: name(text),
      type: types.A,
      class: 1,
      dnssecOk: false,
      checkingDisabled: false,
      client,
      isInternal: false,
    };
    return handler.answer(question);
  };
  return { ask, lookups };
}

const address = (text: string): Answer =>
  encodeAnswer(name(text), {
    flags: 0,
    answers: [{ name: name(text), type: types.A, ttl: 9, data: [Uint8Array.from([192, 0, 2, 1])] }],
  });

const first = 'www.example.org.a.svc.cluster.local';

test('createAutopath() answers the first query of a search list with the answer of the last one', async () => {
  const { ask, lookups } = setUp({ 'www.example.org.': address('www.example.org') });
  const answer = await ask(first);
  assert.ok(answer);
  assert.deepEqual(answerText(name(first), answer), [
    'NOERROR',
    `${first}. 9 CNAME www.example.org.`,
    'www.example.org. 9 A 192.0.2.1',
  ]);
  assert.deepEqual(lookups, [
    `${first}.`,
    'www.example.org.svc.cluster.local.',
    'www.example.org.cluster.local.',
    'www.example.org.corp.example.',
    'www.example.org.',
  ]);
});

test('createAutopath() needs no alias when the first name exists', async () => {
  const { ask } = setUp({ [`${first}.`]: address(first) });
  const answer = await ask(first);
  assert.ok(answer);
  assert.deepEqual(answerText(name(first), answer).slice(1), [`${first}. 9 A 192.0.2.1`]);
});

test('createAutopath() answers NXDOMAIN when no name exists', async () => {
  const answer = await setUp({}).ask(first);
  assert.equal(answer?.flags, rcodes.NXDOMAIN);
});

test('createAutopath() stops at a failure', async () => {
  const { ask } = setUp({ 'www.example.org.corp.example.': emptyAnswer(rcodes.SERVFAIL) });
  assert.equal((await ask(first))?.flags, rcodes.NXDOMAIN);
});

test('createAutopath() ignores unknown clients and names outside of their search list', () => {
  const { ask } = setUp({});
  assert.equal(ask(first, '10.9.9.9'), undefined);
  assert.equal(ask('www.example.org'), undefined);
  assert.equal(ask('x.b.svc.cluster.local'), undefined);
});
