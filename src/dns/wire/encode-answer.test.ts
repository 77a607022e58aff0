import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodeAnswer } from './encode-answer.ts';
import { answerText, name } from './example.ts';
import { flags, types } from './record-types.ts';

const address = Uint8Array.from([10, 0, 0, 1]);

test('encodeAnswer() compresses names', () => {
  const question = name('ext.a.svc');
  const answer = encodeAnswer(question, {
    flags: 0,
    answers: [
      { name: question, type: types.CNAME, ttl: 5, data: [name('web.b.svc')] },
      { name: name('web.b.svc'), type: types.A, ttl: 5, data: [address] },
    ],
  });
  // Two pointers, `web` and `b` spelled out once, and the rest of the name in the question.
  assert.equal(answer.body.length, 2 + 10 + 4 + 2 + 2 + 2 + 10 + 4);
  assert.deepEqual(answerText(question, answer), [
    'NOERROR',
    'ext.a.svc. 5 CNAME web.b.svc.',
    'web.b.svc. 5 A 10.0.0.1',
  ]);
});

test('encodeAnswer() does not compress the target of SRV (RFC 2782)', () => {
  const question = name('_x._tcp.a.svc');
  const data = [Uint8Array.from([0, 0, 0, 100, 0, 80]), name('a.svc')];
  const answer = encodeAnswer(question, {
    flags: 0,
    answers: [{ name: question, type: types.SRV, ttl: 30, data }],
  });
  assert.equal(answer.body.length, 2 + 10 + 6 + name('a.svc').length);
});

test('encodeAnswer() truncates at the maximum message size (DNS-29)', () => {
  const question = name('many.svc');
  const answers = Array.from({ length: 5000 }, () => ({
    name: question,
    type: types.A,
    ttl: 1,
    data: [address],
  }));
  const answer = encodeAnswer(question, { flags: 0, answers });
  assert.ok(answer.body.length + 12 + question.length + 4 <= 65_535);
  assert.equal(answer.answers, Math.floor((65_535 - 12 - question.length - 4) / 16));
  assert.equal(answer.flags, flags.truncated);
  const few = encodeAnswer(question, { flags: flags.authoritative, answers: answers.slice(0, 9) });
  assert.equal(few.flags, flags.authoritative);
});

test('encodeAnswer() marks the records that may be shuffled', () => {
  const question = name('a.svc');
  const one = { name: question, type: types.A, ttl: 1, data: [address] };
  const { runs } = encodeAnswer(question, {
    flags: 0,
    answers: [{ ...one, type: types.TXT, data: [Uint8Array.from([1, 65])] }, one, one, one],
  });
  assert.deepEqual(runs, [{ offset: 14, size: 16, count: 3 }]);
});
