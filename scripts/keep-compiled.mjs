// Leaves V8's own form of the program beside its bundle, as `src/cli/load-bundle.ts` looks for it. A function is compiled when it is
// first called, so this starts the program once, without a network, and keeps what that compiled.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

const self = fileURLToPath(import.meta.url);
/** Only files that have their content's hash in their names: what was kept can then not belong to another text. */
const hashed = /-[A-Z0-9]{8}\.js$/;
/** Starting and ending takes a second; a build must not wait for a program that hangs. */
const maxMs = 60_000;

/** The program works without, only starts more slowly: where it cannot be started here, that is said and no more. */
export async function keepCompiled(folder) {
  const dataDir = mkdtempSync(join(tmpdir(), 'fairlead-build-'));
  try {
    const child = spawn(process.execPath, [self, folder, dataDir], {
      stdio: ['ignore', 'pipe', 'inherit'],
      // V8 takes what was compiled under its own flags only, and most who start the program have set none.
      env: { ...process.env, NODE_OPTIONS: '' },
      timeout: maxMs,
      killSignal: 'SIGKILL',
    });
    // The first thing that it says is that it is ready.
    child.stdout.once('data', () => child.kill('SIGTERM'));
    child.stdout.resume();
    const [code] = await once(child, 'exit');
    if (code !== 0)
      process.stderr.write('The program could not be started: it is kept as text alone.\n');
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
}

async function runOnce(folder, dataDir) {
  // V8 forgets functions that were not called for a while.
  setFlagsFromString('--no-flush-bytecode');
  const { cacheSuffix, openBundle } = createRequire(import.meta.url)(
    join(folder, 'load-bundle.js'),
  );
  const bundle = openBundle(folder);
  const address = ['--bind-address', '127.0.0.1', '--secure-port', '0'];
  await bundle.load('main.js').main(['up', '--network', 'none', ...address, '--data-dir', dataDir]);
  if (process.exitCode !== 0) return;
  for (const name of readdirSync(folder).filter((file) => hashed.test(file))) bundle.load(name);
  // What is kept says with which flags it was made, and has to say: the usual ones.
  setFlagsFromString('--flush-bytecode');
  for (const [path, script] of bundle.scripts) {
    if (hashed.test(basename(path)))
      writeFileSync(`${path}${cacheSuffix}`, script.createCachedData());
  }
}

if (process.argv[1] === self) await runOnce(process.argv[2], process.argv[3]);
