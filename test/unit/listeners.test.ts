// Every listener of the program has a limit of connections and times: a new one that has none fails here.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const root = join(process.cwd(), 'src');
const opensListener = /\b(?:createServer|createNetServer|createSecureServer)\(|\bsockets\.listen\(/;

/** File → what in it holds its connections, and what its time. A text in place of a pattern says why none is needed. */
const listeners: Readonly<Record<string, readonly [RegExp | string, RegExp | string]>> = {
  'apiserver/listen/server.ts': [/admitConnections\(/, /headersTimeout[\s\S]*requestTimeout/],
  'node/serve-node.ts': [/limitConnections\(/, /limitConnections\(/],
  'observe/serve-status.ts': [/limitConnections\(/, /limitConnections\(/],
  'dns/serve-tcp.ts': [/maxPerClient/, /idleMs/],
  'relay/relay-tcp.ts': [/maxConnections = /, 'carries what others send for as long as they do'],
  'proxy/modes/userspace/relay-portable.ts': [
    /limits\.maxConnections/,
    'carries what others send for as long as they do',
  ],
  'proxy/modes/userspace/relay-tcp.ts': [
    /counts\.max/,
    'carries what others send for as long as they do',
  ],
  'storage/backends/embedded/lock.ts': [
    'a socket in the data directory, which only its owner may open',
    'answers and ends at once',
  ],
  'host/claim-name.ts': ['holds a name; what connects is closed', 'what connects is closed'],
  'up/demo-objects.ts': ['a program of the demo, in a pod', 'a program of the demo, in a pod'],
};

const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !/\.(test|contract)\.ts$/.test(file),
);
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

test('every listener is known', () => {
  const found = files.filter((file) => opensListener.test(textOf(file))).sort();
  assert.deepEqual(found, Object.keys(listeners).sort());
});

for (const [file, [connections, time]] of Object.entries(listeners)) {
  test(`${file} limits its connections and their time`, () => {
    for (const limit of [connections, time]) {
      if (limit instanceof RegExp) assert.match(textOf(file), limit);
    }
  });
}
