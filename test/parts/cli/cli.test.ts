// The commands that speak to a server, as a person types them, against the whole API server.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { renderKubeconfig } from '../../../src/apiserver/certificates/kubeconfig-file.ts';
import { run } from '../../../src/cli/main.ts';
import { type MemoryServer, startMemoryServer, testCredentials } from '../harness/memory-server.ts';

let server: MemoryServer;
let directory: string;

before(async () => {
  server = await startMemoryServer();
  directory = await mkdtemp(join(tmpdir(), 'fairlead-cli-'));
  await mkdir(join(directory, '.fairlead'));
  const { authority, administrator } = testCredentials();
  const kubeconfig = renderKubeconfig({
    server: `https://127.0.0.1:${server.server.address.port}`,
    authority: authority.certificate,
    client: administrator,
  });
  await writeFile(join(directory, '.fairlead', 'kubeconfig'), kubeconfig);
});
after(async () => {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

type Screen = { readonly code: number; readonly out: string; readonly err: string };
type Watching = { readonly stop: AbortController; readonly onWrite: (out: string) => void };

async function fairlead(line: string, watching?: Watching): Promise<Screen> {
  let out = '';
  let err = '';
  const code = await run(line.split(' '), {
    write: (text) => {
      out += text;
      watching?.onWrite(out);
    },
    writeError: (text) => {
      err += text;
    },
    env: {},
    cwd: () => directory,
    now: () => Date.now(),
    startedAt: 0,
    interrupted: (watching?.stop ?? new AbortController()).signal,
  });
  return { code, out, err };
}

const manifest = (port: number): string => `
apiVersion: v1
kind: Service
metadata: {name: web, labels: {app: web}}
spec:
  clusterIP: 10.96.7.7
  selector: {app: web}
  ports: [{name: http, port: ${port}, targetPort: 9376}]
`;

async function write(name: string, text: string): Promise<void> {
  await writeFile(join(directory, name), text);
}

test('a service is applied, shown, changed and deleted', async () => {
  await write('web.yaml', manifest(80));
  const apply = 'apply -f web.yaml';
  assert.deepEqual(await fairlead(apply), { code: 0, out: 'service/web created\n', err: '' });
  assert.equal((await fairlead(apply)).out, 'service/web unchanged\n');
  await write('web.yaml', manifest(81));
  assert.equal((await fairlead(apply)).out, 'service/web configured\n');
  assert.match(
    (await fairlead('get svc web -o wide')).out,
    /^NAME +TYPE +CLUSTER-IP +EXTERNAL-IP +PORT\(S\) +AGE +SELECTOR\nweb +ClusterIP +10\.96\.7\.7 +<none> +81\/TCP +\d+s +app=web\n$/,
  );
  assert.equal((await fairlead('get services -l app=web -o name')).out, 'service/web\n');
  assert.match(
    (await fairlead('get svc -A')).out,
    /^NAMESPACE .*\ndefault +kubernetes .*\ndefault +web /,
  );
  assert.equal(JSON.parse((await fairlead('get svc/web -o json')).out).spec.clusterIP, '10.96.7.7');
  assert.match(
    (await fairlead('get svc -o yaml')).out,
    /^apiVersion: v1\nitems:\n- apiVersion: v1\n {2}kind: Service\n/,
  );
  assert.match(
    (await fairlead('describe svc web')).out,
    /\nTargetPort: +9376\/TCP\nEndpoints: +<none>\n[\s\S]*Events: +<none>\n$/,
  );
  assert.equal(
    (await fairlead('delete svc web')).out,
    'service "web" deleted from default namespace\n',
  );
  assert.deepEqual(await fairlead('get svc web'), {
    code: 1,
    out: '',
    err: 'Error from server (NotFound): services "web" not found\n',
  });
});

test('usage errors are explained', async () => {
  await write(
    'bad.yaml',
    'apiVersion: v1\nkind: Bogus\nmetadata: {name: x}\n---\napiVersion: v1\nkind: Service\nmetadata: {name: x}\nspec: {}\n',
  );
  const { code, err } = await fairlead('apply -f bad.yaml');
  assert.equal(code, 1);
  assert.match(err, /no matches for kind "Bogus" in version "v1"/);
  assert.match(err, /The Service "x" is invalid: spec\.ports: Required value/);
  const other = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: other}\n';
  await write('other.yaml', other);
  assert.match(
    (await fairlead('apply -n default -f other.yaml')).err,
    /You must pass '--namespace=other'/,
  );
  assert.deepEqual(await fairlead('get bogus'), {
    code: 1,
    out: '',
    err: `error: the server doesn't have a resource type "bogus"\n`,
  });
  assert.equal((await fairlead('get pods')).err, 'No resources found in default namespace.\n');
  assert.equal((await fairlead('get nodes')).err, 'No resources found\n');
  assert.equal((await fairlead('delete svc')).code, 2);
  assert.equal((await fairlead('get svc --kubeconfig nowhere')).code, 2);
  assert.match(
    (await fairlead('apply -f nowhere.yaml')).err,
    /the path "nowhere.yaml" does not exist/,
  );
});

test('a watch shows what is there and what changes', async () => {
  await server.api.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'seen' } });
  const stop = new AbortController();
  let isPosted = false;
  const onWrite = (out: string): void => {
    if (!isPosted) {
      isPosted = true;
      void server.api.post('/api/v1/namespaces/default/configmaps', { metadata: { name: 'new' } });
    }
    if (/^new /m.test(out)) stop.abort();
  };
  const { code, out } = await fairlead('get configmaps -w', { stop, onWrite });
  assert.equal(code, 0);
  assert.match(out, /^NAME +DATA +AGE\nseen +0 +\d+s\nnew +0 +\d+s\n$/);
});

test('delete by file waits until the objects are gone, and can ignore those that are', async () => {
  const secret = (name: string): string =>
    `apiVersion: v1\nkind: Secret\nmetadata: {name: ${name}}\n`;
  await write('pair.yaml', `${secret('a')}---\n${secret('b')}`);
  assert.equal((await fairlead('apply -f pair.yaml')).out, 'secret/a created\nsecret/b created\n');
  assert.equal((await fairlead('delete secret a')).code, 0);
  const again = await fairlead('delete -f pair.yaml');
  assert.equal(again.code, 1);
  assert.equal(again.out, 'secret "b" deleted from default namespace\n');
  assert.equal(again.err, 'Error from server (NotFound): secrets "a" not found\n');
  assert.equal((await fairlead('delete -f pair.yaml --ignore-not-found')).code, 0);
});
