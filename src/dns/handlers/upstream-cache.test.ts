import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Question } from '../question.ts';
import { emptyAnswer } from '../wire/answer.ts';
import { encodeAnswer } from '../wire/encode-answer.ts';
import { name } from '../wire/example.ts';
import type { Message } from '../wire/read-message.ts';
import { rcodes, types } from '../wire/record-types.ts';
import { createUpstreamCache } from './upstream-cache.ts';

const question = (text: string): Question => ({
  name: name(text),
  type: types.A,
  class: 1,
  dnssecOk: false,
  checkingDisabled: false,
  client: '192.0.2.9',
  isInternal: false,
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
const example = question('www.example');

test('get() returns an answer for its TTL, and ages it', () => {
  const cache = createUpstreamCache(limits);
  cache.set(example, message('www.example', 20), 1000);
  assert.equal(cache.get(example, 13_500)?.answer.aged?.seconds, 12);
  assert.equal(cache.get(example, 21_000), undefined);
});

test('getStale() returns an expired answer with TTLs of zero', () => {
  const cache = createUpstreamCache(limits);
  cache.set(example, message('www.example', 20), 0);
  assert.ok((cache.getStale(example, 79_999)?.aged?.seconds ?? 0) > 20);
  assert.equal(cache.getStale(example, 80_000), undefined);
});

test('get() distinguishes the DO and CD bits', () => {
  const cache = createUpstreamCache(limits);
  cache.set(example, message('www.example', 20), 0);
  assert.equal(cache.get({ ...example, dnssecOk: true }, 1), undefined);
  assert.equal(cache.get({ ...example, checkingDisabled: true }, 1), undefined);
});

test('set() evicts the least recently used answer', () => {
  const cache = createUpstreamCache(limits);
  for (const text of ['a.x', 'b.x']) cache.set(question(text), message(text, 20), 0);
  cache.get(question('a.x'), 1);
  cache.set(question('c.x'), message('c.x', 20), 1);
  assert.ok(cache.get(question('a.x'), 2));
  assert.equal(cache.get(question('b.x'), 2), undefined);
});

test('set() bounds the bytes of all answers', () => {
  const cache = createUpstreamCache({ ...limits, entries: 1000, bytes: 2000 });
  for (let index = 0; index < 100; index += 1) {
    cache.set(question(`n${index}.x`), message(`n${index}.x`, 20), 0);
  }
  assert.ok(cache.size().bytes <= 2000);
  assert.ok(cache.size().success > 0);
});

test('get() requests a prefetch of a popular answer once, shortly before it expires', () => {
  const cache = createUpstreamCache(limits);
  cache.set(example, message('www.example', 20), 0);
  for (const at of [1000, 2000, 3000]) assert.equal(cache.get(example, at)?.shouldPrefetch, false);
  assert.equal(cache.get(example, 18_500)?.shouldPrefetch, true);
  assert.equal(cache.get(example, 18_600)?.shouldPrefetch, false);
});

test('set() of an answer with TTL 0 removes the previous one', () => {
  const cache = createUpstreamCache(limits);
  cache.set(example, message('www.example', 20), 0);
  cache.set(example, { ...message('www.example', 0), ttl: 0 }, 1);
  assert.equal(cache.get(example, 2), undefined);
});

test('size() counts denials separately', () => {
  const cache = createUpstreamCache(limits);
  const no = { ...message('www.example', 20), answer: emptyAnswer(3), rcode: rcodes.NXDOMAIN };
  cache.set(example, { ...no, ttlOffsets: [] }, 0);
  const { success, denial } = cache.size();
  assert.deepEqual({ success, denial }, { success: 0, denial: 1 });
});
