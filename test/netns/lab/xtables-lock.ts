// The legacy programs take one lock file for all namespaces: a test file has its own.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let directory = '';

export function takeOwnLock(): void {
  directory = mkdtempSync(join(tmpdir(), 'fairlead-xtables-'));
  process.env.XTABLES_LOCKFILE = join(directory, 'lock');
}

export function removeOwnLock(): void {
  rmSync(directory, { recursive: true });
}
