// The commands that README, guides and examples print, run as they are printed: every one of them, in order, against an `up` of its own.
// A command that cannot run here stands in `notRun` with the reason, so that nothing printed is left out by accident.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { documents, printedCommands } from '../lanes/document-commands.ts';
import { root } from '../lanes/running-server.ts';
import { unpackKubectl } from '../lanes/unpack-kubectl.ts';
import { endWith, makeDirectory, removeDirectory, startUp, type Up } from './up-harness.ts';

const timeout = 900_000;

const webDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: process
        command: [node, -e, "require('http').createServer((q, s) => s.end('ok')).listen(8080)"]
        readinessProbe: {httpGet: {path: /, port: 8080}, periodSeconds: 1}
`;
const webPod = `
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - {name: web, image: process, stdin: true, tty: true, command: [sh, -c, 'mkdir -p /tmp/site; echo started; exec cat']}
`;
const manifest = (name: string): string => `kubectl apply -f ${name}.yaml`;

/** Documents whose commands run, and what they need before. */
type Prepared = Readonly<Record<string, readonly string[]>>;

const webAndClient = [
  manifest('web-deployment'),
  'kubectl apply -f examples/service.yaml',
  'kubectl get pod client || kubectl run client --image=process --command -- sleep 100000',
  'kubectl rollout status deployment/web',
  'kubectl wait --for=condition=Ready pod/client --timeout=200s',
];

const withNetwork: Prepared = {
  'README.md': [],
  'docs/guides/up.md': [],
  'docs/guides/storage-of-pods.md': [],
  'docs/guides/workloads.md': [],
  'examples/guestbook/README.md': [],
  'docs/guides/containers.md': [
    manifest('web-pod'),
    'kubectl wait --for=condition=Ready pod/web --timeout=200s',
    'mkdir -p site; echo hello > site/index.html',
  ],
  'docs/guides/debugging-services.md': webAndClient,
  'docs/guides/trace.md': webAndClient,
  'docs/guides/history.md': [
    manifest('web-deployment'),
    'kubectl apply -f examples/service.yaml',
    'kubectl rollout status deployment/web',
  ],
  'docs/guides/traffic.md': [
    manifest('web-deployment'),
    'kubectl apply -f examples/service.yaml',
    'kubectl rollout status deployment/web',
  ],
  'docs/guides/propagation.md': [
    manifest('web-deployment'),
    'kubectl apply -f examples/service.yaml',
    'kubectl rollout status deployment/web',
  ],
  'docs/guides/load-balancers.md': [
    manifest('web-deployment'),
    'kubectl delete service web --ignore-not-found',
  ],
  'docs/guides/what-if.md': [
    manifest('web-deployment'),
    'kubectl apply -f examples/service.yaml',
    'kubectl rollout status deployment/web',
  ],
  'docs/guides/doctor.md': [
    'kubectl get namespace shop || kubectl create namespace shop',
    manifest('web-deployment'),
    'kubectl apply -f examples/service.yaml',
    'kubectl apply -n shop -f examples/service.yaml',
    'mkdir -p deploy; cp examples/service.yaml deploy',
    'kubectl rollout status deployment/web',
  ],
  'docs/guides/encryption.md': [],
  'docs/guides/joining-nodes.md': [],
  'docs/guides/operating-the-api-server.md': ['kubectl create namespace web'],
};
const withoutNetwork: Prepared = {
  'docs/guides/getting-started.md': [],
  'docs/guides/kubeconfig.md': [],
  'docs/guides/testing-controllers.md': [],
};
const prepared: Prepared = { ...withNetwork, ...withoutNetwork };

function elsewhere(file: string): string {
  assert.ok(existsSync(join(root, file)), `${file} is not there`);
  return `tested by ${file}`;
}

const otherMachine = 'is about another machine, or its own';
/** Why a printed command is not run; the first pattern that fits says it. */
const notRun: readonly (readonly [document: RegExp, command: RegExp, reason: string])[] = [
  [/./, /^npm start/, elsewhere('test/netns/start-ends.test.ts')],
  [/./, /^npm test/, 'is what runs here'],
  [/./, /^npm run (?:build|format|bench)/, 'is run by developers and by CI'],
  [/./, /^npm run e2e/, elsewhere('test/netns/e2e-script.test.ts')],
  [/deploy/, /^kubectl apply/, elsewhere('test/parts/cli/deploy.test.ts')],
  [/deploy/, /./, otherMachine],
  [/backup/, /^fairlead storage/, elsewhere('test/parts/api/storage-transfer.test.ts')],
  [/backup|aws|etcd|dns|guides\/proxy|nftables/, /./, otherMachine],
  [/encryption/, /^chmod|^fairlead apiserver/, elsewhere('test/parts/api/encryption.test.ts')],
  [/debugging/, /^ipvsadm/, 'mode nftables runs here'],
  [/debugging/, /^iptables-save/, 'mode nftables runs here'],
  [/joining/, /^echo|^fairlead proxy/, elsewhere('test/netns/join.test.ts')],
  [
    /load-balancers/,
    /^fairlead (?:cloud|announcer)/,
    elsewhere('test/netns/load-balancer.test.ts'),
  ],
  [/what-if/, /^kubectl kustomize/, 'needs manifests of the reader'],
  [/traffic|guides\/doctor/, /--watch/, 'runs until it is interrupted'],
  [/^README/, /^kubectl patch/, 'is what doctor prints'],
  [/guides\/doctor/, /--fix$/, 'asks at a terminal'],
  [/guides\/doctor/, /^helm|^kubectl kustomize/, 'needs manifests of the reader'],
  [/docs\/doctor\//, /./, 'names objects of the reader'],
  [/guides\/images/, /^fairlead image/, elsewhere('test/parts/images/load.test.ts')],
  [/pods-from-images/, /./, elsewhere('test/netns/images.test.ts')],
  [/operating/, /^fairlead apiserver/, elsewhere('test/parts/api/audit.test.ts')],
];

/** Where the words of a document stand for something that is only known here. */
const stands: readonly (readonly [document: RegExp, from: RegExp, to: string])[] = [
  // Where the relay listens says the state: an earlier cluster of the machine may have the first address.
  [/README/, /(curl (?:-d 'Hello!' )?)(?:http:\/\/)?127\.30\.128\.1(\/\S*)?$/, '$1"$(balancer)$2"'],
  [/debugging/, /10\.244\.0\.2:8080/, '$(pod_address):8080'],
  [/debugging/, /10\.96\.85\.89/, '$(kubectl get service web -o jsonpath={.spec.clusterIP})'],
  // The Service may be younger here.
  [/history/, /--at 5s/, '--at 0s'],
  // These are on the node, where the document says to look.
  [/debugging/, /^(curl 127.*|nft .*)$/, 'fairlead shell -- sh -c "$1"'],
  [/what-if/, /node\/n[12]/, '$(kubectl get nodes -o name | head -n 1)'],
  // It finds that the Service of the namespace shop has no pods.
  [/guides\/doctor/, /^(.*fairlead doctor .*)$/, '$1 || [ $? -eq 1 ]'],
  [/traffic/, /^(sysctl .*)$/, 'fairlead shell -- $1'],
  [/joining/, /delete abcdef/, 'delete "$(fairlead token list | tail -n 1 | cut -c 1-6)"'],
];

/** Commands that run until they are interrupted. */
const endless = /^kubectl (?:logs .*-f|attach|port-forward)|^fairlead propagation .*--watch/;
const interactive = /^kubectl (?:exec -it|attach -it)/;

const functions = `
balancer() { node -e '
  const { relays } = JSON.parse(require("fs").readFileSync(".fairlead/up.json", "utf8"));
  const { host, port } = relays.find((r) => r.purpose === "load balancer" && r.service === "default/frontend").listen;
  process.stdout.write("http://" + host + ":" + port);
'; }
pod_address() { kubectl get pods -l app=web -o 'jsonpath={.items[0].status.podIP}'; }
`;

function reasonNotToRun(document: string, command: string): string | undefined {
  return notRun.find(([d, c]) => d.test(document) && c.test(command))?.[2];
}

/** As it is typed, with what stands for something, an end for what has none, and a terminal where one is needed. */
function typed(document: string, command: string): string {
  const meant = stands
    .filter(([d]) => d.test(document))
    .reduce((text, [, from, to]) => text.replace(from, to), command);
  const inTerminal = interactive.test(meant)
    ? `echo exit | script -qec '${meant}' /dev/null`
    : meant;
  return endless.test(meant) ? `timeout 5 ${inTerminal} || [ $? -eq 124 ]` : inTerminal;
}

test('every command that documents print is run, or says why not', () => {
  const printed = documents().flatMap((document) =>
    printedCommands(document).map((command) => ({ document, command })),
  );
  const leftOut = printed
    .filter(({ document, command }) => {
      return prepared[document] === undefined && reasonNotToRun(document, command) === undefined;
    })
    .map(({ document, command }) => `${document}: ${command}`);
  assert.deepEqual(leftOut, []);
  const unused = notRun.filter(
    ([d, c]) => !printed.some(({ document, command }) => d.test(document) && c.test(command)),
  );
  assert.deepEqual(unused, []);
});

runDocuments('on a network', withNetwork, ['--proxy-mode', 'nftables']);
runDocuments('without a network', withoutNetwork, ['--network', 'none']);

/** One after the other against one `up`. */
function runDocuments(title: string, group: Prepared, flags: readonly string[]): void {
  describe(`commands of documents, ${title}`, { timeout }, () => {
    let directory: string;
    let up: Up | undefined;
    let shell: Shell;

    before(async () => {
      directory = makeDirectory('root');
      shell = await prepareShell(directory);
      up = await startUp('root', directory, flags);
    });
    after(async () => {
      if (up?.process.exitCode === null && up.process.signalCode === null) {
        await endWith(up, 'SIGTERM');
      }
      removeDirectory(directory);
    });

    for (const [document, commands] of Object.entries(group)) {
      test(`${document}: they work as they are printed`, async () => {
        const printed = printedCommands(document).filter((c) => !reasonNotToRun(document, c));
        assert.ok(printed.length > 0);
        await shell.run([...commands, ...printed.map((command) => typed(document, command))]);
      });
    }
  });
}

type Shell = { readonly run: (commands: readonly string[]) => Promise<void> };

/** A directory as a clone is one, with kubectl and fairlead among the programs. */
async function prepareShell(directory: string): Promise<Shell> {
  const programs = join(directory, 'programs');
  mkdirSync(programs);
  symlinkSync(await unpackKubectl(), join(programs, 'kubectl'));
  for (const name of ['fairlead', 'kubectl-fairlead']) {
    writeFileSync(join(programs, name), `#!/bin/sh\nexec "${root}/bin/${name}" "$@"\n`);
    chmodSync(join(programs, name), 0o755);
  }
  for (const name of ['bin', 'docs', 'examples'])
    symlinkSync(join(root, name), join(directory, name));
  writeFileSync(join(directory, 'web-deployment.yaml'), webDeployment);
  writeFileSync(join(directory, 'web-pod.yaml'), webPod);
  const env = {
    ...process.env,
    HOME: directory,
    PATH: `${programs}${delimiter}${process.env.PATH}`,
    KUBECONFIG: '.fairlead/kubeconfig',
  };
  return {
    /** One shell for all: what one command exports, the next one has. */
    async run(commands) {
      const lines = commands.map(
        (command) =>
          `${behind.test(command) ? 'try' : 'once'} ${JSON.stringify(command).replaceAll('$', '\\$')}`,
      );
      await runScript([functions, tryAgain, ...lines].join('\n'));
    },
  };

  function runScript(script: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const child = execFile(
        'bash',
        ['-c', script],
        { cwd: directory, env, timeout },
        (error, out, err) => {
          if (error === null) resolve();
          else reject(new Error(`${out}\n${err}`, { cause: error }));
        },
      );
      child.stdin?.end();
    });
  }
}

/** Rules and relays are a moment behind the pods they lead to: these are tried again for a while. */
const behind = /^(?:curl|fairlead shell)/;
const tryAgain = `
once() {
  eval "$1" && return
  echo "does not work: $1" >&2
  exit 1
}
try() {
  for attempt in $(seq 40); do
    eval "$1" && return
    sleep 0.5
  done
  echo "does not work: $1" >&2
  exit 1
}
`;
