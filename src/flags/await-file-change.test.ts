import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '../host/clock.ts';
import { awaitFileChange } from './await-file-change.ts';

/** Time that passes at once, so often as is wanted; before each step something happens. */
function stepClock(steps: readonly (() => void)[], stop: AbortController) {
  const left = [...steps];
  return {
    ...systemClock,
    after(_: number, run: () => void): () => void {
      const step = left.shift();
      step?.();
      setImmediate(step === undefined ? () => stop.abort() : run);
      return () => {};
    },
  };
}

test('awaitFileChange() resolves when the text is another one, not when the file is gone or written anew (KPX-48)', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-file-'));
  const path = join(directory, 'config.yaml');
  try {
    const stop = new AbortController();
    writeFileSync(path, 'a');
    const same = [() => {}, () => writeFileSync(path, 'a'), () => rmSync(path)];
    const unchanged = { path, text: 'a', clock: stepClock(same, stop) };
    assert.equal(await awaitFileChange(unchanged, stop.signal), false);
    const changes = [() => writeFileSync(path, 'a'), () => writeFileSync(path, 'b')];
    const going = new AbortController();
    const changed = { path, text: 'a', clock: stepClock(changes, going) };
    assert.equal(await awaitFileChange(changed, going.signal), true);
    assert.equal(going.signal.aborted, false);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
