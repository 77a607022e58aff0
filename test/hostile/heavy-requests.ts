// Single requests within the size limits that cost more than their size suggests.
import { once } from 'node:events';
import { connect, type IncomingHttpHeaders } from 'node:http2';
import { host } from '../bench/client.ts';
import type { Attacker, HostileCase } from './run-case.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';
const mebibyte = 1024 * 1024;

/** Any answer but a server error. */
async function post(
  { client }: Attacker,
  path: string,
  object: unknown,
  method = 'POST',
): Promise<void> {
  const body = typeof object === 'string' ? object : JSON.stringify(object);
  const { status, text } = await client.send({ method, path, body });
  if (status >= 500) throw new Error(`${method} ${path} answered ${status} ${text.slice(0, 200)}`);
}

type Head = IncomingHttpHeaders & { readonly ':status'?: number };

const items = <T>(count: number, make: (n: number) => T): readonly T[] =>
  Array.from({ length: count }, (_, n) => make(n));

/** A client that holds back the last frame of each body. */
async function endTogether({ target }: Attacker, count: number, bytes: number): Promise<void> {
  const { ca, cert, key, port } = target;
  const session = connect(`https://${host}:${port}`, { ca, cert, key, servername: 'localhost' });
  const streams = items(count, () =>
    session.request({ ':method': 'POST', ':path': configMaps }).resume(),
  );
  // Only spaces: it takes two times as long to say what is wrong as to read it.
  const body = Buffer.alloc(bytes, ' ');
  const answered = streams.map(async (s) => (await once(s, 'response')) as [Head]);
  await Promise.all(streams.map((s) => new Promise((resolve) => s.write(body, resolve))));
  for (const stream of streams) stream.end();
  for (const [head] of await Promise.all(answered)) {
    if (head[':status'] !== 400) throw new Error(`answered ${head[':status']}`);
  }
  session.destroy();
}

/** A client that never sends the last byte of any, and disconnects when the server has taken all it takes. */
async function endNone({ target }: Attacker, count: number, bytes: number): Promise<void> {
  const { ca, cert, key, port } = target;
  const session = connect(`https://${host}:${port}`, { ca, cert, key, servername: 'localhost' });
  session.on('error', () => undefined);
  const body = Buffer.alloc(bytes, ' ');
  const sent = items(count, async () => {
    const stream = session.request({ ':method': 'POST', ':path': configMaps }).resume();
    stream.on('error', () => undefined);
    // Written, or refused.
    await new Promise<void>((resolve) => {
      stream.once('close', () => resolve());
      stream.once('response', () => resolve());
      stream.write(body, () => resolve());
    });
  });
  await Promise.all(sent);
  session.destroy();
  await once(session, 'close');
}

export const heavyRequests: readonly HostileCase[] = [
  {
    name: 'a body of brackets',
    attack: (attacker) => post(attacker, configMaps, '['.repeat(2 * mebibyte)),
  },
  {
    name: 'sixty large bodies that end in the same moment',
    attack: (attacker) => endTogether(attacker, 60, 2.9 * mebibyte),
  },
  {
    name: 'two hundred large bodies on one connection that never end',
    attack: (attacker) => endNone(attacker, 200, 2.9 * mebibyte),
  },
  {
    name: 'eight hundred bodies of 60 kB that end in the same moment',
    attack: (attacker) => endTogether(attacker, 800, 60_000),
  },
  {
    name: 'a body nested ten thousand deep',
    attack: (attacker) =>
      post(attacker, configMaps, `${'{"data":'.repeat(10_000)}1${'}'.repeat(10_000)}`),
  },
  {
    name: 'a label selector of 1,000 requirements',
    attack: async (attacker) => {
      const selector = items(1_000, (n) => `key-${n} in (a,b,c,d)`).join(',');
      const path = `${configMaps}?labelSelector=${encodeURIComponent(selector)}`;
      const { status } = await attacker.client.send({ method: 'GET', path });
      if (status >= 500) throw new Error(`answered ${status}`);
    },
  },
  {
    name: 'YAML with aliases of aliases',
    attack: async ({ client }) => {
      const levels = items(12, (n) => `a${n + 1}: &a${n + 1} [${`*a${n},`.repeat(12)}]`).join('\n');
      const body = `kind: ConfigMap\napiVersion: v1\nmetadata: {name: bomb}\na0: &a0 [x]\n${levels}\n`;
      const headers = { 'content-type': 'application/yaml' };
      const { status } = await client.send({ method: 'POST', path: configMaps, body, headers });
      if (status < 400 || status >= 500) throw new Error(`answered ${status}`);
    },
  },
];
