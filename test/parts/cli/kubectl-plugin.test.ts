// The plugin as users start it: by a real kubectl, which finds it in $PATH and passes its arguments on.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { root } from '../../lanes/running-server.ts';
import { unpackKubectl } from '../../lanes/unpack-kubectl.ts';
import { freePort } from '../harness/free-port.ts';
import { type Kubectl, openKubectl } from '../harness/kubectl.ts';
import { startMemoryServer } from '../harness/memory-server.ts';

const limit = { timeout: 120_000 };

async function openPlugin(t: TestContext): Promise<Kubectl> {
  const server = await startMemoryServer();
  t.after(server.stop);
  const env = { PATH: `${join(root, 'bin')}:${process.env.PATH ?? ''}` };
  const program = { name: 'kubectl', path: await unpackKubectl(), env };
  return openKubectl(t, program, server.server.address.port);
}

test('kubectl runs the plugin with its flags', limit, async (t) => {
  const kubectl = await openPlugin(t);
  const says = async (line: string): Promise<string> => {
    const { code, stdout, stderr } = await kubectl.run(line.split(' '));
    assert.equal(code, 0, `${line}: ${stderr}`);
    return stdout.toString();
  };
  assert.match(await says('plugin list'), /bin\/kubectl-fairlead\n/);
  assert.match(await says('fairlead --help'), /^Usage: kubectl fairlead \[options\]/);
  assert.match(await says('fairlead trace --help'), /^Usage: kubectl fairlead trace \[options\]/);
  const target = /^svc\/kubernetes from a pod in namespace default/;
  assert.match(await says('fairlead trace svc/kubernetes'), target);
  assert.match(await says('fairlead --context test -n default trace svc/kubernetes'), target);
  assert.match(await says('fairlead trace kubernetes.default:443 -n shop'), /in namespace shop/);
  const config = kubectl.program.env.KUBECONFIG ?? '';
  assert.match(await says(`fairlead --kubeconfig=${config} trace svc/kubernetes`), target);
  assert.match(await says('fairlead trace svc/kubernetes --cluster test --user test'), target);
});

test('kubectl gets the exit code and the one sentence of the plugin', limit, async (t) => {
  const kubectl = await openPlugin(t);
  const port = await freePort();
  const refused: readonly (readonly [string, RegExp])[] = [
    ['trace', /^error: missing required argument 'target'\n\(run `kubectl fairlead help trace`/],
    ['trace svc/none', /^error: There is no Service "none" in namespace "default"\n$/],
    ['shell', /^error: unknown command 'shell'/],
    ['trace svc/kubernetes --context gone', /^error: Cannot find the context "gone"[^\n]*\n$/],
    ['trace svc/kubernetes --cluster gone', /^error: Cannot find the cluster "gone"[^\n]*\n$/],
    ['trace svc/kubernetes --user gone', /^error: Cannot find the user "gone"[^\n]*\n$/],
    [
      `trace svc/kubernetes -s https://127.0.0.1:${port}`,
      /^The connection to the server 127\.0\.0\.1:\d+ was refused[^\n]*\n$/,
    ],
    ['trace svc/kubernetes --as eve', /needs the right to|is forbidden/],
  ];
  for (const [line, wanted] of refused) {
    const { code, stdout, stderr } = await kubectl.run(['fairlead', ...line.split(' ')]);
    assert.deepEqual([code, stdout.toString()], [2, ''], `${line}: ${stderr}`);
    assert.match(stderr, wanted, line);
  }
});

test('kubectl passes credentials that replace those of the kubeconfig', limit, async (t) => {
  const kubectl = await openPlugin(t);
  const config = kubectl.program.env.KUBECONFIG ?? '';
  const given = JSON.parse(readFileSync(config, 'utf8')) as {
    readonly users: readonly { readonly user: Readonly<Record<string, string>> }[];
    readonly clusters: readonly { readonly cluster: Readonly<Record<string, string>> }[];
  };
  const [user] = given.users;
  const [cluster] = given.clusters;
  const save = (name: string, data = ''): string => {
    const path = `${config}.${name}`;
    writeFileSync(path, Buffer.from(data, 'base64'), { mode: 0o600 });
    return path;
  };
  const certificate = save('crt', user?.user['client-certificate-data']);
  const key = save('key', user?.user['client-key-data']);
  const authority = save('ca', cluster?.cluster['certificate-authority-data']);
  // What the kubeconfig has is useless now.
  const useless = { ...given, users: [{ name: 'test', user: { token: 'wrong' } }] };
  writeFileSync(config, JSON.stringify(useless));
  const refused = await kubectl.run(['fairlead', 'trace', 'svc/kubernetes']);
  assert.equal(refused.code, 2, refused.stderr);
  const files = ['--client-certificate', certificate, '--client-key', key];
  const allowed = await kubectl.run([
    ...['fairlead', 'trace', 'svc/kubernetes', '--certificate-authority', authority, '--token', ''],
    ...[...files, '--request-timeout', '30'],
  ]);
  assert.equal(allowed.code, 0, allowed.stderr);
});
