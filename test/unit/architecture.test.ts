// The rules of STYLE.md that a machine can hold: who may import whom, which files stay pure, which
// names are banned, how long a file may grow, what we depend on. A failing line names file and rule.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { test } from 'node:test';

const root = join(process.cwd(), 'src');

const leaves = ['kinds', 'meta', 'schema', 'ip'];
const edges = ['host', 'observe'];
/** What runs alone in a real deployment. They meet over the Kubernetes API, so none imports another. */
const parts = ['storage', 'apiserver', 'controllers', 'cloud', 'proxy', 'dns', 'node', 'relay'];

/** What explains a cluster to people: reads only, and decides by the code of the parts. */
const explaining = ['snapshot', 'trace', 'what-if', 'doctor', 'history', 'propagation', 'top'];

/** part → the parts it may import. A part may always import itself. */
const mayImport: Record<string, readonly string[]> = {
  ip: [],
  schema: [],
  host: ['ip'],
  observe: ['host'],
  meta: ['schema', 'ip'],
  kinds: ['meta', 'schema', 'ip'],
  storage: ['meta', 'schema', ...edges],
  apiserver: ['storage', ...leaves, ...edges],
  client: [...leaves, ...edges],
  controllers: ['client', ...leaves, ...edges],
  cloud: ['client', ...leaves, ...edges],
  proxy: ['client', ...leaves, ...edges],
  dns: ['client', ...leaves, ...edges],
  images: ['meta', 'schema', 'ip', ...edges],
  node: ['images', 'client', ...leaves, ...edges],
  relay: ['client', ...leaves, ...edges],
  flags: [...parts, 'images', 'client', ...leaves, ...edges],
  join: ['flags', ...parts, 'client', ...leaves, ...edges],
  up: ['flags', ...parts, 'images', 'client', ...leaves, ...edges],
  snapshot: ['controllers', 'node', 'apiserver', 'client', ...leaves, ...edges],
  trace: ['snapshot', ...parts, 'client', ...leaves, ...edges],
  'what-if': ['trace', 'snapshot', ...parts, 'client', ...leaves, ...edges],
  doctor: ['what-if', 'trace', 'snapshot', ...parts, 'client', ...leaves, ...edges],
  history: ['snapshot', 'client', ...leaves, ...edges],
  propagation: ['snapshot', 'controllers', 'client', ...leaves, ...edges],
  top: ['trace', 'snapshot', ...parts, 'client', ...leaves, ...edges],
  cli: [...explaining, 'up', 'join', 'flags', ...parts, 'images', 'client', ...leaves, ...edges],
};

/** Folders whose children are alternatives: one child never imports another. */
const alternatives = ['controllers', 'proxy/modes', 'cloud/providers', 'storage/backends'];

/** In these parts every file decides and touches nothing, unless its name is one of the effect verbs. */
const decidingPart =
  /^(ip|schema|meta|kinds|controllers|cloud|proxy|dns|node|relay|snapshot|trace|what-if|doctor|history|propagation|top)\//;
const effectFile =
  /\/(run|apply|forward|open|probe|read|relay|remove|send|serve|spawn|start|stop|watch|write|metrics)(-[a-z-]+)?\.ts$/;
const effectImport = /^node:(?!assert|crypto|buffer)|\/(host|client|observe)\//;

const bannedName = /(^|\/)(index\.ts|(utils?|helpers?|common|shared|lib|misc|core|base)(\/|\.ts$))/;
const maxFileLines = 400;
const runtimeDependencies = [
  'lmdb',
  'koffi',
  '@noble/ciphers',
  'yaml',
  'ws',
  'pino',
  'commander',
  '@aws-sdk/client-ec2',
  '@aws-sdk/client-elastic-load-balancing',
  '@aws-sdk/client-elastic-load-balancing-v2',
];

const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((f) =>
  f.endsWith('.ts'),
);
const isTest = (file: string): boolean => /\.(test|contract)\.ts$/.test(file);

type Import = { spec: string; typeOnly: boolean };

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8');
  const pattern = /(?:^|[;\n])\s*(?:import|export)\s+(type\b)?[^'";]*['"]([^'"]+)['"]/g;
  return [...text.matchAll(pattern)].map((m) => ({
    spec: m[2] ?? '',
    typeOnly: m[1] !== undefined,
  }));
}

function localTargets(file: string): string[] {
  return importsOf(file)
    .filter((i) => i.spec.startsWith('.'))
    .map((i) => normalize(join(dirname(file), i.spec)));
}

function everyFile(rule: string, broken: (file: string) => string[]): void {
  test(rule, () => {
    assert.deepEqual(
      files.flatMap((file) => broken(file).map((why) => `${file}: ${why}`)),
      [],
    );
  });
}

everyFile('parts import only the parts below them', (file) => {
  const part = file.split('/')[0] ?? '';
  const allowed = mayImport[part];
  if (allowed === undefined) return ['is in a folder the layer table does not know'];
  return localTargets(file)
    .map((target) => target.split('/')[0] ?? '')
    .filter((target) => target !== part && !allowed.includes(target))
    .map((target) => `imports ${target}/`);
});

everyFile('alternatives do not import each other', (file) => {
  const home = alternatives.find((a) => file.startsWith(`${a}/`));
  if (home === undefined || /\/all(\.test)?\.ts$/.test(file)) return [];
  const inside = (path: string): string[] => path.slice(home.length + 1).split('/');
  return localTargets(file)
    .filter(
      (t) => t.startsWith(`${home}/`) && inside(t).length > 1 && inside(t)[0] !== inside(file)[0],
    )
    .map((t) => `imports its sibling ${t}`);
});

everyFile('files that decide do not touch the world', (file) => {
  if (!decidingPart.test(file) || effectFile.test(file) || isTest(file)) return [];
  return importsOf(file)
    .filter((i) => !i.typeOnly && effectImport.test(i.spec))
    .map((i) => `imports ${i.spec}`);
});

everyFile('names say what a file is for', (file) =>
  bannedName.test(file) ? ['has a name that says nothing'] : [],
);

everyFile(`no source file is longer than ${maxFileLines} lines`, (file) => {
  const lines = readFileSync(join(root, file), 'utf8').split('\n').length;
  return !isTest(file) && lines > maxFileLines ? [`has ${lines} lines`] : [];
});

everyFile('hooks of a test belong to its suite: many files share a process', (file) =>
  isTest(file) && /^(before|beforeEach|afterEach)\(/m.test(readFileSync(join(root, file), 'utf8'))
    ? ['has a hook outside of describe()']
    : [],
);

everyFile('nothing asks to be called again at once: it may go round without end', (file) => {
  if (isTest(file)) return [];
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/\bretryAfterMs: 0\b|\baddAfter\([^)]*, 0\)/g)].map(([call]) => call);
});

everyFile('HTTP/2 streams and sessions end by host/end-later.ts alone', (file) => {
  const isHttp2 = importsOf(file).some(({ spec }) => spec === 'node:http2');
  if (!isHttp2 || isTest(file) || file === 'host/end-later.ts') return [];
  const text = readFileSync(join(root, file), 'utf8');
  return [...text.matchAll(/\b(?:stream|session|request)\.destroy\(/g)].map(
    ([call]) => `calls ${call})`,
  );
});

everyFile('servers of HTTP/1.1 over TLS mend how Node pauses connections', (file) => {
  const serves = /\bcreate(?:Secure)?Server\b[^;]*from 'node:(?:https|http2)'/;
  if (isTest(file) || !serves.test(readFileSync(join(root, file), 'utf8'))) return [];
  const mends = /\/host\/(?:read-before-parse|keep-parsing)\.ts$/;
  const isMended = importsOf(file).some(({ spec }) => mends.test(spec));
  return isMended ? [] : ['calls neither keepParsing() nor readBeforeParse()'];
});

/**
 * Files of the node agent that change or remove files by their paths, and why no pod can lead them astray. All else goes by descriptors:
 * node/volumes/open-volumes.ts, host/open-beneath.ts, host/remove-tree.ts.
 */
const writesByPath: Readonly<Record<string, string>> = {
  'node/run.ts': "the agent's own directories",
  'node/logs/remove-old-logs.ts': 'logs, which no pod sees',
  'node/volumes/write-volume-files.ts': 'volumes that pods only read, in new directories',
  'node/pod/run-container.ts':
    "directories of the agent's, and files of pods that are mounted one by one",
  'node/volumes/run-volumes.ts':
    'tops of volumes, above what pods see; paths that who may use hostPath names',
  'node/volumes/run-claims.ts': "tops of volumes, in the agent's own directory",
  'node/network/apply-settings.ts': 'settings of the kernel',
  'node/runtimes/process/apply-cgroups.ts': 'control groups',
  'node/runtimes/process/apply-pid-groups.ts': 'control groups',
  'node/runtimes/process/write-process-marks.ts': "marks, in the agent's own directory",
  'node/runtimes/process/write-log-file.ts': 'logs, which no pod sees',
  'node/runtimes/process/apply-root.ts': 'directories of a container that has not started',
  'node/runtimes/oci/apply-image-files.ts': 'directories of a container that has not started',
  'node/runtimes/oci/run-runtime.ts': 'directories of a container that has not started',
  'node/runtimes/oci/probe-overlay.ts': "a test in the agent's own directory",
};
/** Descriptors of /proc and of roots, which are not files of pods. */
const allowedOpens = new Set([
  'node/runtimes/process/read-process.ts openSync',
  // /proc of a process that holds an image and executes nothing of it.
  'node/runtimes/oci/read-image-users.ts openSync',
  'node/runtimes/process/spawn-entered.ts openSync',
  'node/logs/read-logs.ts openSync',
]);
const writing =
  /\b(appendFile|chmod|chown|copyFile|cp|lchown|link|mkdir|mkdtemp|open|rename|rm|rmdir|symlink|truncate|unlink|writeFile)(Sync)?\b/;

everyFile('the node agent touches what pods can write by descriptors alone', (file) => {
  if (!file.startsWith('node/') || isTest(file) || file in writesByPath) return [];
  const text = readFileSync(join(root, file), 'utf8');
  const imports = [...text.matchAll(/import \{([^}]*)\} from 'node:fs(?:\/promises)?'/g)];
  return imports.flatMap(([, names = '']) => {
    const found = names
      .split(',')
      .map((name) => name.trim())
      .filter((name) => writing.test(name));
    return found
      .filter((name) => !allowedOpens.has(`${file} ${name}`))
      .map((name) => `imports ${name}`);
  });
});

test('package.json depends on nothing but the agreed list', () => {
  const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies?: object };
  assert.deepEqual(
    Object.keys(manifest.dependencies ?? {}).filter((d) => !runtimeDependencies.includes(d)),
    [],
  );
});
