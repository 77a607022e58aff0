// The resolvers that people have, with the configuration of a pod: glibc, musl, Node's own and dig.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const inside = fileURLToPath(new URL('./dns-inside.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'fairlead-resolvers-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const has = (program: string): boolean =>
  spawnSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' }).status === 0;
const mayEnter = process.getuid?.() === 0 && has('unshare') && has('ip');
const needsRoot = mayEnter ? false : 'needs root, unshare and ip (packages util-linux, iproute2)';

/** What getaddrinfo says, from a program bound to musl. */
const muslSource = `
#include <netdb.h>
#include <stdio.h>
#include <arpa/inet.h>
int main(int argc, char **argv) {
  struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
  if (getaddrinfo(argv[1], 0, &hints, &found)) return 1;
  for (; found; found = found->ai_next) {
    char text[64];
    inet_ntop(AF_INET, &((struct sockaddr_in *)found->ai_addr)->sin_addr, text, sizeof text);
    puts(text);
  }
  return 0;
}
`;

const names = ['web', 'web.default', 'big', 'www.example.com', 'nope'];

let said: Readonly<Record<string, string>> = {};

before(() => {
  if (!mayEnter) return;
  const config = join(folder, 'resolv.conf');
  const search = 'default.svc.cluster.local svc.cluster.local cluster.local';
  writeFileSync(config, `nameserver 127.0.0.1\nsearch ${search}\noptions ndots:5\n`);
  // glibc asks for addresses of a family only where the machine has one of it that is not loopback.
  const script = `
    ip link set lo up && ip addr add 10.244.0.5/32 dev lo &&
    mount --bind "$1" /etc/resolv.conf && exec "$2" "$3" "$4"`;
  const args = [config, process.execPath, inside, JSON.stringify(commands())];
  const { stdout, stderr } = spawnSync(
    'unshare',
    ['--net', '--mount', 'sh', '-c', script, 'sh', ...args],
    { encoding: 'utf8' },
  );
  assert.match(stdout, /^\{/, stderr);
  said = JSON.parse(stdout);
});

function commands(): readonly (readonly string[])[] {
  const full = 'web.default.svc.cluster.local';
  return [
    ...names.map((name) => ['getent', 'ahostsv4', name]),
    ['getent', 'hosts', '10.96.7.7'],
    ...(has('dig')
      ? [
          ['dig', '+short', full],
          ['dig', '+short', '+search', 'web'],
          ['dig', '+short', '+tcp', full],
          ['dig', '+short', `_http._tcp.${full}`, 'SRV'],
          ['dig', '+short', '-x', '10.96.7.7'],
          ['dig', '+noall', '+comments', 'nope.default.svc.cluster.local'],
          ['dig', '+short', '+bufsize=4096', 'big.default.svc.cluster.local'],
        ]
      : []),
    ...compileMusl(),
  ];
}

function compileMusl(): readonly (readonly string[])[] {
  if (!has('musl-gcc')) return [];
  const source = join(folder, 'lookup.c');
  const program = join(folder, 'musl-lookup');
  writeFileSync(source, muslSource);
  assert.equal(spawnSync('musl-gcc', ['-static', '-o', program, source]).status, 0);
  return names.map((name) => [program, name]);
}

const lines = (command: string): readonly string[] => (said[command] ?? '').split('\n');
const addresses = (command: string): readonly string[] => [
  ...new Set(lines(command).map((line) => line.split(/\s/)[0] ?? '')),
];

test('glibc finds services through the search list (DNS-36, DNS-40)', { skip: needsRoot }, () => {
  assert.deepEqual(addresses('getent ahostsv4 web'), ['10.96.7.7']);
  assert.deepEqual(addresses('getent ahostsv4 web.default'), ['10.96.7.7']);
  assert.match(said['getent hosts 10.96.7.7'] ?? '', /\sweb\.default\.svc\.cluster\.local$/);
  assert.equal(said['getent ahostsv4 nope'], 'failed:');
});

test('glibc gets all addresses of a large answer over TCP (DNS-29)', { skip: needsRoot }, () => {
  assert.equal(addresses('getent ahostsv4 big').length, 90);
});

test('glibc gets names outside at the end of the search list (DNS-35)', { skip: needsRoot }, () => {
  assert.deepEqual(addresses('getent ahostsv4 www.example.com'), ['192.0.2.1']);
  // Names that were tried on the way are of the cluster, and were not asked of others.
  const upstreamQueries: readonly string[] = JSON.parse(said.upstream ?? '[]');
  assert.deepEqual(
    upstreamQueries.filter((line) => line.includes('cluster.local')),
    [],
  );
});

test("Node's resolver reads addresses, SRV and PTR", { skip: needsRoot }, () => {
  assert.equal(said['node resolve4'], '["10.96.7.7"]');
  assert.deepEqual(JSON.parse(said['node resolveSrv'] ?? '[]'), [
    { name: 'web.default.svc.cluster.local', port: 80, priority: 0, weight: 100 },
  ]);
  assert.equal(said['node reverse'], '["web.default.svc.cluster.local"]');
  assert.equal(said['node big'], '90');
});

const noDig = needsRoot || (has('dig') ? false : 'needs dig (package bind9-dnsutils)');
test('dig reads every kind of answer', { skip: noDig }, () => {
  const full = 'web.default.svc.cluster.local';
  for (const how of [full, '+search web', `+tcp ${full}`]) {
    assert.equal(said[`dig +short ${how}`], '10.96.7.7', how);
  }
  assert.equal(said[`dig +short _http._tcp.${full} SRV`], `0 100 80 ${full}.`);
  assert.equal(said['dig +short -x 10.96.7.7'], `${full}.`);
  const no = said['dig +noall +comments nope.default.svc.cluster.local'] ?? '';
  assert.match(no, /status: NXDOMAIN/);
  assert.match(no, /flags: qr aa rd ra;/);
  assert.doesNotMatch(no, /recursion requested but not available/);
  assert.equal(lines('dig +short +bufsize=4096 big.default.svc.cluster.local').length, 90);
});

const noMusl = needsRoot || (has('musl-gcc') ? false : 'needs musl-gcc (package musl-tools)');
test('musl finds the same (DNS-36)', { skip: noMusl }, () => {
  assert.deepEqual(addresses('musl-lookup web'), ['10.96.7.7']);
  assert.deepEqual(addresses('musl-lookup web.default'), ['10.96.7.7']);
  assert.deepEqual(addresses('musl-lookup www.example.com'), ['192.0.2.1']);
  assert.ok(addresses('musl-lookup big').length > 1);
  assert.equal(said['musl-lookup nope'], 'failed:');
});
