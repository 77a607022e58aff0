import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { loadCLibrary } from './native.ts';

test('loadCLibrary() calls C functions, and names the errors of failures', () => {
  const { checked } = loadCLibrary();
  assert.equal(checked('int getpid()')(), process.pid);
  assert.throws(() => checked('int close(int fd)')(-1), {
    name: 'SystemCallError',
    message: 'close: EBADF',
    call: 'close',
    code: 'EBADF',
    errno: 9,
  });
});

test('loadCLibrary() throws the same NativeUnavailableError each time where koffi cannot be loaded', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-native-'));
  try {
    for (const file of ['native.js', 'system-call-error.js']) {
      copyFileSync(fileURLToPath(new URL(file, import.meta.url)), join(directory, file));
    }
    writeFileSync(join(directory, 'package.json'), '{ "type": "module" }');
    const elsewhere = (await import(pathToFileURL(join(directory, 'native.js')).href)) as {
      loadCLibrary: typeof loadCLibrary;
    };
    for (let time = 0; time < 2; time++) {
      assert.throws(() => elsewhere.loadCLibrary(), {
        name: 'NativeUnavailableError',
        message: /^Cannot load "koffi" on linux \w+: Cannot find module 'koffi'/,
      });
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
