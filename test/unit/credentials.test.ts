// Who is administrator of a cluster by its certificate or by its name inside the process: the list is short, and stays so.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const expected = [
  // The kubeconfig of the person who runs the server.
  'apiserver/certificates/authority.ts',
  // What the server writes itself.
  'apiserver/objects/server-write.ts',
  // Controllers in the process of the server.
  'up/run-server-only.ts',
  'up/start-cluster.ts',
];

test('only the administrator and the server itself are in system:masters', () => {
  const root = join(process.cwd(), 'src');
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
  );
  const found = files.flatMap((file) => {
    const uses = readFileSync(join(root, file), 'utf8').match(
      /\[[^\]\n]*'system:masters'[^\]\n]*\]/g,
    );
    return (uses ?? []).map(() => file);
  });
  assert.deepEqual(found.sort(), expected);
});
