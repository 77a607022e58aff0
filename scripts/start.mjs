// `npm start -- FLAGS`: prepares the clone, then runs `fairlead up FLAGS` in a process of its own, which ends when this one ends.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { followParent } from './follow-parent.mjs';
import { prepare, root } from './prepare.mjs';

/** What asks for the same end within this time is one request: a process manager signals npm and this process, and npm passes it on. */
const sameRequestMs = 1000;
/** A graceful shutdown takes seconds. When npm has exited, no second request can arrive. */
const maxOrphanMs = 300_000;

const preparing = new AbortController();
let requestedAt;
let child;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => ask(signal === 'SIGHUP'));
}
followParent(() => {
  ask(true);
  setTimeout(() => child?.kill('SIGKILL'), maxOrphanMs).unref();
});

await prepare(preparing.signal);
if (requestedAt === undefined) run();
else process.exitCode = 130;

/** The first asks for an orderly end, the second for one at once; a hang-up is never the second. */
function ask(isHangup) {
  const now = performance.now();
  const isSecond = requestedAt !== undefined && now - requestedAt > sameRequestMs;
  requestedAt ??= now;
  preparing.abort();
  if (isSecond && isHangup) return;
  child?.stdio[3]?.write(isSecond ? 'kill\n' : 'end\n');
}

function run() {
  const args = [join(root, 'bin', 'fairlead'), 'up', ...process.argv.slice(2)];
  // The fourth descriptor closes when this process ends, even by SIGKILL (src/cli/end-requests.ts).
  child = spawn(process.execPath, args, {
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
    env: { ...process.env, FAIRLEAD_STARTER: String(process.pid) },
  });
  child.stdio[3]?.on('error', () => {});
  child.on('exit', (code) => process.exit(code ?? 1));
}
