// Labels, annotations and taints of Kubernetes are spelled out once: in a file of src/meta, or in the one file that uses the name.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const homes = new Set([
  'src/meta/well-known-labels.ts',
  'src/meta/well-known-annotations.ts',
  'src/meta/well-known-taints.ts',
]);
const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !/\.(test|contract)\.ts$/.test(name))
  .map((name) => join('src', name));

/** `topology.kubernetes.io/zone` at the start of a string or a template; `discovery.k8s.io/v1` is an API version. */
const qualifiedKey =
  /['`]((?:[a-z0-9-]+\.)*(?:kubernetes\.io|k8s\.io|fairlead\.dev)\/(?!v[0-9])[A-Za-z0-9._-]+)['`=]/g;
const exported = /^export const \w+ = '([^']+)';$/gm;

function namesIn(text: string, pattern: RegExp): Set<string> {
  return new Set([...text.matchAll(pattern)].map((match) => match[1] ?? ''));
}

const texts = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]));
const wellKnown = new Set(
  [...homes].flatMap((home) => [...namesIn(texts.get(home) ?? '', exported)]),
);

test('a well-known label, annotation or taint is a literal nowhere else in src', () => {
  assert.ok(wellKnown.has('kubernetes.io/service-name'));
  const found = [...texts]
    .filter(([file]) => !homes.has(file))
    .flatMap(([file, text]) =>
      [...wellKnown]
        .filter((name) => text.includes(`'${name}'`) || text.includes(`\`${name}`))
        .map((name) => `${file}: import ${name} from src/meta`),
    );
  assert.deepEqual(found, []);
});

test('a name that two files of src spell out has its home in src/meta', () => {
  const spelledIn = new Map<string, string[]>();
  for (const [file, text] of texts) {
    for (const name of namesIn(text, qualifiedKey)) {
      spelledIn.set(name, [...(spelledIn.get(name) ?? []), file]);
    }
  }
  const repeated = [...spelledIn].filter(([, files]) => files.length > 1);
  assert.deepEqual(repeated, []);
});
