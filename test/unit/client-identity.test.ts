// Who a client is may be taken from its TLS connection in few places, and all of them look at the certificate itself: `authorized`
// alone also holds for a resumed session that never had one.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..');
const sources = readdirSync(join(root, 'src'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && /(?<!\.test)\.ts$/.test(entry.name))
  .map((entry) => join(entry.parentPath, entry.name));

const filesWith = (pattern: RegExp): readonly string[] =>
  sources
    .filter((file) => pattern.test(readFileSync(file, 'utf8')))
    .map((file) => relative(root, file))
    .sort();

test('TLS is served in two places; another one has to say here how it knows its clients', () => {
  const serves = /createSecureServer|import \{[^}]*\bcreateServer\b[^}]*\} from 'node:(https|tls)'/;
  assert.deepEqual(filesWith(serves), ['src/apiserver/listen/server.ts', 'src/node/serve-node.ts']);
});

test('code that reads `authorized` of a connection also reads its certificate', () => {
  const readers = filesWith(/\.authorized\b/);
  assert.deepEqual(readers, ['src/apiserver/listen/connection.ts', 'src/node/serve-node.ts']);
  assert.deepEqual(
    readers.filter((file) => !filesWith(/\.getPeerX509Certificate\(\)/).includes(file)),
    [],
  );
});
