import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect, createServer, type PeerCertificate, type TLSSocket } from 'node:tls';
import { issueClientCertificate } from './authority.ts';
import { type Credentials, ensureCertificates } from './ensure-certificates.ts';
import type { KeyPair } from './x509.ts';

const now = Date.now();
const day = 24 * 60 * 60 * 1000;
const serverNames = ['node-1.example.com', '10.96.0.1', 'fd00::1'];

async function inDirectory(run: (directory: string) => Promise<void>): Promise<void> {
  const parent = await mkdtemp(join(tmpdir(), 'certificates-'));
  try {
    await run(join(parent, 'pki'));
  } finally {
    await rm(parent, { recursive: true });
  }
}

/** One handshake in which both sides insist on a certificate from the authority; what the server saw. */
function handshake(
  credentials: Credentials,
  client: KeyPair,
  host: string,
): Promise<PeerCertificate> {
  const ca = credentials.authority.certificate;
  return new Promise((resolve, reject) => {
    const server = createServer(
      {
        ca,
        cert: credentials.server.certificate,
        key: credentials.server.privateKey,
        requestCert: true,
      },
      (socket: TLSSocket) => {
        const seen = socket.getPeerCertificate();
        socket.end();
        server.close(() => resolve(seen));
      },
    );
    server.on('tlsClientError', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      const options = { ca, cert: client.certificate, key: client.privateKey, servername: host };
      const socket = connect({ host: '127.0.0.1', port, ...options });
      socket.on('error', reject);
      socket.resume();
    });
  });
}

test('ensureCertificates() makes certificates with which both sides of TLS accept each other', () =>
  inDirectory(async (directory) => {
    const credentials = await ensureCertificates({ directory, serverNames, now });
    const administrator = await handshake(
      credentials,
      credentials.administrator,
      'kubernetes.default.svc',
    );
    assert.equal(administrator.subject.CN, 'kubernetes-admin');
    assert.equal(administrator.subject.O, 'system:masters');

    const node = issueClientCertificate(credentials.authority, {
      commonName: 'system:node:a',
      organizations: ['system:nodes', 'züri'],
      days: 1,
      now,
    });
    const seen = await handshake(credentials, node, 'node-1.example.com');
    assert.equal(seen.subject.CN, 'system:node:a');
    assert.deepEqual(seen.subject.O, ['system:nodes', 'züri']);
  }));

test('ensureCertificates() names the server by all its names and uses', () =>
  inDirectory(async (directory) => {
    const { authority, server, administrator } = await ensureCertificates({
      directory,
      serverNames,
      now,
    });
    const parsed = new X509Certificate(server.certificate);
    const ca = new X509Certificate(authority.certificate);
    for (const name of [
      'localhost',
      'kubernetes.default.svc.cluster.local',
      'node-1.example.com',
    ]) {
      assert.equal(parsed.checkHost(name), name);
    }
    for (const address of ['127.0.0.1', '::1', '10.96.0.1', 'fd00::1']) {
      assert.ok(parsed.checkIP(address), address);
    }
    assert.ok(ca.ca);
    assert.ok(!parsed.ca);
    assert.deepEqual(parsed.keyUsage, ['1.3.6.1.5.5.7.3.1']);
    assert.deepEqual(new X509Certificate(administrator.certificate).keyUsage, [
      '1.3.6.1.5.5.7.3.2',
    ]);
    assert.equal(Math.round((Date.parse(ca.validTo) - now) / day), 3650);
    assert.equal(Math.round((Date.parse(parsed.validTo) - now) / day), 365);
  }));

test('ensureCertificates() keeps its files to their owner and leaves nothing else behind', () =>
  inDirectory(async (directory) => {
    await ensureCertificates({ directory, serverNames, now });
    const files = (await readdir(directory)).sort();
    assert.deepEqual(files, [
      'admin.crt',
      'admin.key',
      'apiserver.crt',
      'apiserver.key',
      'ca.crt',
      'ca.key',
    ]);
    assert.equal((await stat(directory)).mode & 0o777, 0o700);
    for (const file of files) assert.equal((await stat(join(directory, file))).mode & 0o777, 0o600);
  }));

const renewals: readonly {
  readonly title: string;
  readonly names?: readonly string[];
  readonly later?: number;
  readonly before?: (directory: string) => Promise<void>;
  readonly renewed: readonly ('authority' | 'server' | 'administrator')[];
}[] = [
  { title: 'reads what is there', renewed: [] },
  {
    title: 'ignores the order and spelling of names',
    names: ['FD00:0::1', '10.96.0.1', 'Node-1.example.com'],
    renewed: [],
  },
  {
    title: 'renews the server when it has another name',
    names: [...serverNames, 'other'],
    renewed: ['server'],
  },
  { title: 'renews the server when it has lost a name', names: ['10.96.0.1'], renewed: ['server'] },
  { title: 'keeps certificates through most of their life', later: 280 * day, renewed: [] },
  {
    title: 'renews near the end of their life',
    later: 300 * day,
    renewed: ['server', 'administrator'],
  },
  {
    title: 'makes a missing pair again',
    before: (directory) => rm(join(directory, 'admin.key')),
    renewed: ['administrator'],
  },
  {
    title: 'gives the authority a new certificate when only its key was written',
    before: (directory) => rm(join(directory, 'ca.crt')),
    renewed: ['authority'],
  },
  {
    title: 'makes all again for another authority',
    before: async (directory) => {
      await rm(join(directory, 'ca.crt'));
      await rm(join(directory, 'ca.key'));
    },
    renewed: ['authority', 'server', 'administrator'],
  },
  {
    title: 'makes a pair again that does not belong together',
    before: async (directory) => {
      await writeFile(
        join(directory, 'apiserver.key'),
        await readFile(join(directory, 'admin.key')),
      );
    },
    renewed: ['server'],
  },
];

for (const { title, names = serverNames, later = 0, before, renewed } of renewals) {
  test(`ensureCertificates() ${title}`, () =>
    inDirectory(async (directory) => {
      const first = await ensureCertificates({ directory, serverNames, now });
      await before?.(directory);
      const second = await ensureCertificates({ directory, serverNames: names, now: now + later });
      const changed = (['authority', 'server', 'administrator'] as const).filter(
        (part) => first[part].certificate !== second[part].certificate,
      );
      assert.deepEqual(changed, renewed);
      assert.deepEqual(
        await ensureCertificates({ directory, serverNames: names, now: now + later }),
        second,
      );
      if (later === 0) await handshake(second, second.administrator, 'localhost');
    }));
}

const damages: readonly {
  readonly title: string;
  readonly file: string;
  readonly text?: string;
  readonly later?: number;
  readonly expected: RegExp;
}[] = [
  {
    title: 'a damaged authority',
    file: 'ca.crt',
    text: 'x',
    expected: /Cannot read ".*ca\.crt": the file is damaged/,
  },
  {
    title: 'a damaged key',
    file: 'apiserver.key',
    text: '',
    expected: /Cannot read ".*apiserver\.key": the file is damaged/,
  },
  {
    title: 'an authority without its key',
    file: 'ca.key',
    expected: /ca\.key is missing beside it/,
  },
  {
    title: 'an expired authority',
    file: '',
    later: 3651 * day,
    expected: /Cannot use ".*ca\.crt": it expired on/,
  },
];

for (const { title, file, text, later = 0, expected } of damages) {
  test(`ensureCertificates() refuses ${title}`, () =>
    inDirectory(async (directory) => {
      await ensureCertificates({ directory, serverNames, now });
      if (text !== undefined) await writeFile(join(directory, file), text);
      else if (file !== '') await rm(join(directory, file));
      await assert.rejects(
        ensureCertificates({ directory, serverNames, now: now + later }),
        // A message instead of a stack trace.
        { name: 'PrivateFileError', message: expected },
      );
    }));
}

test('ensureCertificates() refuses names that no certificate can carry', () =>
  inDirectory(async (directory) => {
    for (const name of ['', 'a b', 'a,DNS:b', '-a', 'fe80::1%eth0']) {
      await assert.rejects(
        ensureCertificates({ directory, serverNames: [name], now }),
        /Cannot certify/,
        name,
      );
    }
  }));
