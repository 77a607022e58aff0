import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Question } from '../question.ts';
import { emptyAnswer } from '../wire/answer.ts';
import { encodeAnswer } from '../wire/encode-answer.ts';
import { name } from '../wire/example.ts';
import type { Message } from '../wire/read-message.ts';
import { rcodes, types } from '../wire/record-types.ts';
import { createAnswerCache } from './answer-cache.ts';

const question = (text: string): Question => ({
  name: name(text),
  type: types.A,
  class: 1,
  dnssecOk: false,
  checkingDisabled: false,
  client: '192.0.2.9',
  isOwn: false,
});
const message = (text: string, ttl: number): Message => ({
  id: 1,
  flags: 0,
  rcode: 0,
  question: question(text),
  answer: encodeAnswer(name(text), {
    flags: 0,
    answers: [{ name: name(text), type: types.A, ttl, data: [new Uint8Array(4)] }],
  }),
  ttl,
  ttlOffsets: [6],
});
const limits = { entries: 2, bytes: 10_000, staleSeconds: 60 };
const asked = question('www.example');

test('an answer is kept for its time to live, and ages', () => {
  const cache = createAnswerCache(limits);
  cache.set(asked, message('www.example', 20), 1000);
  assert.equal(cache.get(asked, 13_500)?.answer.aged?.seconds, 12);
  assert.equal(cache.get(asked, 21_000), undefined);
});

test('what has ended may still be given for a while, with nothing left to live', () => {
  const cache = createAnswerCache(limits);
  cache.set(asked, message('www.example', 20), 0);
  assert.ok((cache.getStale(asked, 79_999)?.aged?.seconds ?? 0) > 20);
  assert.equal(cache.getStale(asked, 80_000), undefined);
});

test('signatures make another answer', () => {
  const cache = createAnswerCache(limits);
  cache.set(asked, message('www.example', 20), 0);
  assert.equal(cache.get({ ...asked, dnssecOk: true }, 1), undefined);
  assert.equal(cache.get({ ...asked, checkingDisabled: true }, 1), undefined);
});

test('what was not asked for longest goes first', () => {
  const cache = createAnswerCache(limits);
  for (const text of ['a.x', 'b.x']) cache.set(question(text), message(text, 20), 0);
  cache.get(question('a.x'), 1);
  cache.set(question('c.x'), message('c.x', 20), 1);
  assert.ok(cache.get(question('a.x'), 2));
  assert.equal(cache.get(question('b.x'), 2), undefined);
});

test('bytes are bounded too', () => {
  const cache = createAnswerCache({ ...limits, entries: 1000, bytes: 2000 });
  for (let index = 0; index < 100; index += 1) {
    cache.set(question(`n${index}.x`), message(`n${index}.x`, 20), 0);
  }
  assert.ok(cache.size().bytes <= 2000);
  assert.ok(cache.size().success > 0);
});

test('a popular answer is due once, shortly before its end', () => {
  const cache = createAnswerCache(limits);
  cache.set(asked, message('www.example', 20), 0);
  for (const at of [1000, 2000, 3000]) assert.equal(cache.get(asked, at)?.isDue, false);
  assert.equal(cache.get(asked, 18_500)?.isDue, true);
  assert.equal(cache.get(asked, 18_600)?.isDue, false);
});

test('what may not be kept is not, and takes the place of what was', () => {
  const cache = createAnswerCache(limits);
  cache.set(asked, message('www.example', 20), 0);
  cache.set(asked, { ...message('www.example', 0), ttl: 0 }, 1);
  assert.equal(cache.get(asked, 2), undefined);
});

test('denials are counted apart', () => {
  const cache = createAnswerCache(limits);
  const no = { ...message('www.example', 20), answer: emptyAnswer(3), rcode: rcodes.NXDOMAIN };
  cache.set(asked, { ...no, ttlOffsets: [] }, 0);
  const { success, denial } = cache.size();
  assert.deepEqual({ success, denial }, { success: 0, denial: 1 });
});
