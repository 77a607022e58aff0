// Makes a clone runnable: installs the locked dependencies and compiles, each only when something changed.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const stamp = join(root, 'node_modules', '.fairlead-lock');
const built = join(root, 'dist', '.built');

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

function newest(path) {
  if (!existsSync(path)) return 0;
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((entry) => newest(join(path, entry))));
}

export function prepare() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 15)) {
    process.stderr.write(
      `Fairlead needs Node.js 20.15 or newer; this is ${process.versions.node}.\n`,
    );
    process.exit(1);
  }
  const lock = readFileSync(join(root, 'package-lock.json'), 'utf8');
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== lock) {
    process.stderr.write('Installing the locked dependencies...\n');
    run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']);
    writeFileSync(stamp, lock);
  }
  const sources = ['src', 'test', 'tsconfig.json', 'package.json'].map((p) =>
    newest(join(root, p)),
  );
  if (!existsSync(built) || statSync(built).mtimeMs < Math.max(...sources)) {
    process.stderr.write('Compiling...\n');
    rmSync(join(root, 'dist'), { recursive: true, force: true });
    run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', root]);
    run(process.execPath, [join(root, 'scripts', 'bundle.mjs')]);
    writeFileSync(built, '');
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) prepare();
