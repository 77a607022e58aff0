// Messages quote what clients sent as Go's %q does, which differs from JSON for controls and what cannot be printed.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const parts = ['meta', 'kinds', 'schema', 'apiserver'];
/** They write YAML, or name files of the server's operator. */
const exempt = ['apiserver/certificates/kubeconfig-file.ts', 'apiserver/audit/policy.ts'];

test('messages that clients see never quote with JSON.stringify()', () => {
  const root = join(process.cwd(), 'src');
  const files = parts.flatMap((part) =>
    (readdirSync(join(root, part), { recursive: true }) as string[])
      .map((name) => `${part}/${name}`)
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts')),
  );
  assert.ok(files.length > 300, 'the sources are found');
  const wrong = files
    .filter((name) => !exempt.includes(name))
    .flatMap((name) =>
      readFileSync(join(root, name), 'utf8')
        .split('\n')
        .flatMap((text, index) =>
          /[ (]\$\{JSON\.stringify\(/.test(text) ? [`${name}:${index + 1}: ${text.trim()}`] : [],
        ),
    );
  assert.deepEqual(wrong, [], 'use goQuote() of src/schema/go-quote.ts');
});
