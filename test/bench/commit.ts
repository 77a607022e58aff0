// Which state of the source was measured.
import { spawnSync } from 'node:child_process';

/** The short hash, with a mark when files differ from it; `unknown` outside of a clone. */
export function commitOf(root: string): string {
  const { status, stdout } = spawnSync('git', ['describe', '--always', '--dirty=, changed'], {
    cwd: root,
    encoding: 'utf8',
    // Only looks: others may be at work in the clone.
    env: { ...process.env, GIT_OPTIONAL_LOCKS: '0' },
  });
  return status === 0 ? stdout.trim() : 'unknown';
}
