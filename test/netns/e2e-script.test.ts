// `npm run e2e`, with a program of ours in place of the upstream suite: what it is given, where it stands, and what becomes of its report.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../lanes/running-server.ts';

/** Reaches the server and the agent of a node, as only a host beside the nodes can, and writes a report as Ginkgo does. */
const suite = `#!/usr/bin/env node
const { readFileSync, writeFileSync } = require('node:fs');
const { connect } = require('node:net');
const flag = (name) => process.argv[process.argv.indexOf(name) + 1];
const [, host, port] = /server: https:\\/\\/([\\d.]+):(\\d+)/.exec(readFileSync(flag('--kubeconfig'), 'utf8'));
const node = host.replace(/\\.\\d+$/, '.2');
const open = (host, port) => new Promise((resolve) => {
  const socket = connect({ host, port: Number(port) }, () => { socket.end(); resolve(true); });
  socket.on('error', () => resolve(false));
});
const spec = (name, body) => '<testcase name="[It] ' + name + '" status="x">' + body + '</testcase>';
(async () => {
  const reaches = (await open(host, port)) && (await open(node, 10250));
  writeFileSync(flag('--report-dir') + '/junit_01.xml', '<testsuites><testsuite>' +
    spec('[sig-network] reaches server and nodes', reaches ? '' : '<failure message="no"></failure>') +
    spec('[sig-network] fails &amp; says so', '<failure message="x"></failure>') +
    spec('[sig-apps] cannot run here', '<skipped message="skipped - no kind"></skipped>') +
    spec('[sig-apps] left out by the focus ' + flag('--ginkgo.focus'), '<skipped message="skipped"></skipped>') +
    '<testcase name="[SynchronizedBeforeSuite]" status="passed"></testcase></testsuite></testsuites>');
  process.exit(3);
})();
`;

test('npm run e2e runs a suite beside the nodes and sums up its report', {
  timeout: 300_000,
}, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-e2e-test-'));
  try {
    const path = join(directory, 'e2e-test.cjs');
    writeFileSync(path, suite);
    chmodSync(path, 0o755);
    const { code, stdout, stderr } = await runScript('--suite', path, '--focus', 'Services');
    assert.equal(code, 3, stderr);
    assert.equal(
      stdout.slice(stdout.indexOf('sig  ')),
      [
        'sig             passed   failed  skipped',
        'sig-apps             0        0        1',
        'sig-network          1        1        0',
        'failed: [sig-network] fails & says so',
        '1 passed, 1 failed, 1 skipped',
        '',
      ].join('\n'),
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test('npm run e2e tells a suite that ran nothing from one that passed', {
  timeout: 300_000,
}, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-e2e-test-'));
  try {
    const path = join(directory, 'e2e.test');
    writeFileSync(path, '#!/bin/sh\necho "SUCCESS! -- 0 Passed | 0 Failed | 7000 Skipped"\n');
    chmodSync(path, 0o755);
    const { code, stderr } = await runScript('--suite', path);
    assert.equal(code, 1);
    assert.match(stderr, /error: No spec ran: either --focus matches none/);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

const wrongWords: readonly (readonly [string, readonly string[], RegExp])[] = [
  ['no suite', [], /^error: Name the suite: --suite PATH/],
  ['a suite that is not there', ['--suite', '/no/such'], /^error: There is no file "\/no\/such": /],
  ['a directory', ['--suite', '/etc'], /^error: "\/etc" is not a file: /],
  [
    'what cannot be run',
    ['--suite', '/etc/passwd'],
    /^error: "\/etc\/passwd" is not a program that/,
  ],
  ['an unknown option', ['--suit', 'x'], /^error: Unknown option '--suit'/],
];

for (const [name, words, want] of wrongWords) {
  test(`npm run e2e with ${name} says what it needs`, async () => {
    const { code, stderr } = await runScript(...words);
    assert.equal(code, 2);
    assert.match(stderr, want);
    assert.match(stderr, /\n\nUsage: npm run e2e -- --suite PATH/);
    assert.doesNotMatch(stderr, /node:internal/);
  });
}

function runScript(...args: readonly string[]) {
  const words = [join(root, 'scripts', 'e2e.mjs'), ...args];
  return new Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>(
    (resolve) => {
      const child = execFile(process.execPath, words, { cwd: root }, (_, stdout, stderr) =>
        resolve({ code: child.exitCode ?? -1, stdout, stderr }),
      );
    },
  );
}
