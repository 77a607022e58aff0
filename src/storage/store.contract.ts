// What every storage backend must do. The test of a backend calls runStoreContract and adds only what is
// special about it.
import { describe, it } from 'node:test';
import { closeCases, compactCases, expiryCases } from './contract/lifetime.contract.ts';
import { getCases, listCases } from './contract/read.contract.ts';
import type { On, OpenedStore } from './contract/subject.contract.ts';
import { subscribeCases, watchCases, watchEndCases } from './contract/watch.contract.ts';
import { compareCases, transactCases } from './contract/write.contract.ts';
import type { StoreClock } from './expiry.ts';
import { createTestClock } from './test-clock.ts';

export type OpenStore = (clock: Required<StoreClock>) => Promise<OpenedStore>;

/** Cases that a backend by its nature does not meet, each with the reason. */
export type Exceptions = Readonly<Record<string, string>>;

export function runStoreContract(name: string, open: OpenStore, exceptions: Exceptions = {}): void {
  const on = withStore(open, exceptions);
  describe(`${name} store`, () => {
    describe('get()', () => getCases(on));
    describe('list()', () => listCases(on));
    describe('transact()', () => transactCases(on));
    describe('transact() with comparisons', () => compareCases(on));
    describe('watch()', () => watchCases(on));
    describe('watch() at its start and end', () => watchEndCases(on));
    describe('subscribe()', () => subscribeCases(on));
    describe('compact()', () => compactCases(on));
    describe('a time to live', () => expiryCases(on));
    describe('close()', () => closeCases(on));
  });
}

function withStore(open: OpenStore, exceptions: Exceptions): On {
  return (title, body) => {
    if (title in exceptions) return;
    it(title, async () => {
      const clock = createTestClock();
      const opened = await open(clock);
      try {
        await body({ ...opened, clock });
      } finally {
        await opened.cleanup();
      }
    });
  };
}
