// What every storage engine must do. An engine's own test calls runStoreContract and adds only what is
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

export function runStoreContract(name: string, open: OpenStore): void {
  const on = withStore(open);
  describe(`${name} store`, () => {
    describe('get()', () => getCases(on));
    describe('list()', () => listCases(on));
    describe('transact()', () => transactCases(on));
    describe('transact() on what is there', () => compareCases(on));
    describe('watch()', () => watchCases(on));
    describe('watch() at its ends', () => watchEndCases(on));
    describe('subscribe()', () => subscribeCases(on));
    describe('compact()', () => compactCases(on));
    describe('a time to live', () => expiryCases(on));
    describe('close()', () => closeCases(on));
  });
}

function withStore(open: OpenStore): On {
  return (title, body) => {
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
