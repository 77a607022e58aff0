// `fairlead doctor -f`: directories and streams as people have them, with no kubeconfig and no cluster.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { readManifestTree } from '../../../src/cli/manifests/read-manifest-tree.ts';
import { UsageError } from '../../../src/flags/command.ts';
import { type Ran, runCommand } from '../harness/run-command.ts';

const limit = { timeout: 60_000 };

const broken = `# a comment
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {selector: {app: wbe}, ports: [{port: 80, targetPort: http}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: a, image: b, ports: [{name: http, containerPort: 80}]}]}
`;
const healthy = broken.replace('wbe', 'web');

function directoryWith(t: TestContext, files: Readonly<Record<string, string>>): string {
  const directory = mkdtempSync(join(tmpdir(), 'fairlead-doctor-'));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  return directory;
}

const doctor = (t: TestContext, files: Readonly<Record<string, string>>, words: string) =>
  runCommand(`doctor ${words}`, directoryWith(t, files));

const findingsOf = ({ out }: Ran) =>
  (
    JSON.parse(out) as {
      readonly findings: readonly { code: string; source?: { file: string; line: number } }[];
    }
  ).findings;

test('doctor -f names the file and the line, and fails', limit, async (t) => {
  const ran = await doctor(t, { 'a/web.yaml': broken }, '-f a -o json');
  assert.equal(ran.code, 1);
  assert.equal(ran.err, '');
  const [first] = findingsOf(ran);
  assert.deepEqual(
    { code: first?.code, source: first?.source },
    { code: 'FL0101', source: { file: 'a/web.yaml', line: 2 } },
  );
});

test('doctor -f succeeds when all is well', limit, async (t) => {
  const ran = await doctor(t, { 'web.yaml': healthy }, '-f web.yaml');
  assert.deepEqual(ran, { code: 0, out: '1 Service checked, all well\n', err: '' });
});

test('doctor -f reads a repository and says what it leaves out', limit, async (t) => {
  const files = {
    'deploy/web.yaml': healthy,
    'deploy/below/certificate.yml':
      'apiVersion: cert-manager.io/v1\nkind: Certificate\nmetadata: {name: a}\n',
    'chart/Chart.yaml': 'name: x\n',
    'chart/templates/web.yaml': 'kind: {{ .Values.kind }}\n',
    'overlay/kustomization.yaml': 'resources: [../deploy]\n',
    'plain/kustomization.yaml': 'resources: [a.yaml]\n',
    'plain/a.yaml': broken.replaceAll('web', 'api').replace('wbe', 'apy'),
    'values.yaml': 'replicas: 1\n',
    'package.json': '{"name": "x"}',
    'README.md': 'kind: of',
    '.github/workflow.yaml': 'on: push\n',
    'node_modules/x/web.yaml': broken,
  };
  const ran = await doctor(t, files, '-f . -f deploy -o json');
  assert.deepEqual(
    findingsOf(ran).map(({ code, source }) => `${code} ${source?.file}`),
    ['FL0101 plain/a.yaml'],
  );
  assert.deepEqual(ran.err.trim().split('\n'), [
    'Left out: chart is a Helm chart, which has to be rendered: helm template chart | fairlead doctor -f -',
    'Left out: overlay has to be built: kubectl kustomize overlay | fairlead doctor -f -',
    'Kinds that were not read: Certificate',
  ]);
});

test('doctor -f gives each member of a List its line', limit, async (t) => {
  const list = `apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
- apiVersion: v1
  kind: Service
  metadata: {name: web}
  spec: {type: ExternalName, externalName: 192.0.2.1}
`;
  const ran = await doctor(t, { 'all.yaml': list }, '-f all.yaml -o json');
  assert.deepEqual(
    findingsOf(ran).map(({ code, source }) => `${code} ${source?.line}`),
    ['FL0501 5'],
  );
});

test('doctor -f svc/NAME is about that Service', limit, async (t) => {
  const files = { 'a.yaml': broken, 'b.yaml': broken.replaceAll('web', 'api') };
  const ran = await doctor(t, files, 'svc/web -f a.yaml -f b.yaml -o json');
  assert.deepEqual(
    findingsOf(ran).map(({ source }) => source?.file),
    ['a.yaml'],
  );
});

const unanswered: readonly { name: string; words: string; text: string; error: RegExp }[] = [
  {
    name: 'no file',
    words: '-f x',
    text: '',
    error: /^error: --filename: the path "x" does not exist\n$/,
  },
  {
    name: 'an empty file',
    words: '-f f.yaml',
    text: '---\n',
    error: /^error: .* there is no Kubernetes object/,
  },
  {
    name: 'text',
    words: '-f f.yaml',
    text: 'hello',
    error: /^error: .* there is no Kubernetes object/,
  },
  {
    name: 'a template',
    words: '-f f.yaml',
    text: 'apiVersion: v1\nkind: Service\nmetadata:\n  name: {{ .Release.Name }}-web\n',
    error: /^error: --filename: f\.yaml is a template, which has to be rendered first/,
  },
  {
    name: 'a template with quotes',
    words: '-f f.yaml',
    text: 'apiVersion: v1\nkind: Service\nmetadata: {name: "{{ name }}"}\n',
    error: /is a template/,
  },
  { name: 'a device', words: '-f /dev/null', text: '', error: /neither a file nor a directory/ },
  {
    name: 'a Service that is not there',
    words: 'svc/wob -f f.yaml',
    text: healthy,
    error: /^error: services "wob" not found .* did you mean "web"\?\n$/,
  },
];
for (const { name, words, text, error } of unanswered) {
  test(`doctor -f of ${name} ends with 2 and one sentence`, limit, async (t) => {
    const ran = await doctor(t, { 'f.yaml': text }, words);
    assert.equal(ran.code, 2);
    assert.equal(ran.out, '');
    assert.match(ran.err, error);
    assert.equal(ran.err.trimEnd().split('\n').length, 1);
  });
}

test('doctor -f shows nothing that a terminal would obey', limit, async (t) => {
  const hostile = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'e\u001b]0;owned\u0007' },
    spec: { ports: [{ port: 80 }] },
  });
  const odd = hostile.replace('Service', 'K\\u001b[2J');
  const ran = await doctor(
    t,
    { 'a.json': hostile, 'b\u001b.json': hostile, 'c.json': odd },
    '-f . -v',
  );
  assert.equal(ran.code, 1);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: that is what must not be there
  assert.doesNotMatch(ran.out + ran.err, /[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
});

test('doctor -f --fix prints what to change, and changes no file', limit, async (t) => {
  const directory = directoryWith(t, { 'web.yaml': broken });
  const { out, code } = await runCommand('doctor -f web.yaml --fix', directory);
  assert.equal(code, 1);
  assert.match(
    out,
    /\nservice default\/web \(web\.yaml:2\) {2}FL0101\n[\s\S]*- {5}app: wbe\n[\s\S]*\+ {5}app: web\n/,
  );
  assert.equal(readFileSync(join(directory, 'web.yaml'), 'utf8'), broken);
});

test('doctor -f shortens what is refused for its length', limit, async (t) => {
  const name = 'a'.repeat(1_000_000);
  const text = `apiVersion: v1\nkind: Service\nmetadata: {name: ${name}}\nspec: {ports: [{port: 80}]}\n`;
  const { out, code } = await doctor(t, { 'a.yaml': text }, '-f a.yaml -v');
  assert.equal(code, 1);
  assert.ok(out.length < 10_000, String(out.length));
});

const together = ['--watch -f .', '--watch --fix', '--fix -o json', '--watch -o sarif', '--yes'];
for (const words of together) {
  test(`doctor ${words} ends with 2 and one sentence`, limit, async (t) => {
    const { code, err, out } = await doctor(t, {}, words);
    assert.equal(code, 2);
    assert.equal(out, '');
    assert.match(err, /^error: --[a-z]+: [^\n]*, want [^\n]*\n$/);
  });
}

const small = { maxFileBytes: 1000, maxBytes: 1500, maxFiles: 3 };
const tooMuch: readonly { name: string; files: Readonly<Record<string, string>>; error: RegExp }[] =
  [
    { name: 'a large file', files: { 'a.yaml': '#'.repeat(1001) }, error: /a\.yaml has more than/ },
    {
      name: 'large files',
      files: { 'a.yaml': '#'.repeat(900), 'b.yaml': '#'.repeat(900) },
      error: /more than .* together/,
    },
    {
      name: 'many files',
      files: { 'a.yaml': '', 'b.yaml': '', 'c.yaml': '', 'd.yaml': '' },
      error: /more than 3 files/,
    },
    { name: 'many folders', files: { [`${'a/'.repeat(40)}a.yaml`]: '' }, error: /32 folders deep/ },
  ];
for (const { name, files, error } of tooMuch) {
  test(`readManifestTree() refuses ${name}`, limit, async (t) => {
    const cwd = directoryWith(t, files);
    symlinkSync('.', join(cwd, 'again'));
    await assert.rejects(
      readManifestTree({ paths: ['.'], cwd, limits: small }),
      (thrown: unknown) => thrown instanceof UsageError && error.test(thrown.message),
    );
  });
}

test('doctor -f - reads what another program prints', limit, async () => {
  const program = join(process.cwd(), 'dist', 'src', 'cli', 'main.js');
  const script = `import(${JSON.stringify(program)}).then(({ main }) => main(['doctor', '-f', '-', '-o', 'json']))`;
  const child = spawn(process.execPath, ['-e', script], {
    env: { PATH: process.env.PATH, HOME: '/nonexistent' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.end(broken);
  const [out, [code]] = await Promise.all([readAll(child.stdout), once(child, 'close')]);
  assert.equal(code, 1);
  assert.equal(findingsOf({ out, err: '', code: 1 })[0]?.source?.file, 'STDIN');
});
