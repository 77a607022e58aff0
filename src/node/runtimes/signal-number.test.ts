import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { signalNumber } from './signal-number.ts';

const signals: Readonly<Record<string, number | undefined>> = {
  SIGQUIT: 3,
  quit: 3,
  '15': 15,
  'SIGRTMIN+3': 37,
  'RTMAX-1': 63,
  SIGNONE: undefined,
  '0': undefined,
  '99': undefined,
  'RTMAX+1': undefined,
};

describe('signalNumber()', () => {
  for (const [text, wanted] of Object.entries(signals)) {
    it(`reads ${text}`, () => {
      assert.equal(signalNumber(text), wanted);
    });
  }
});
