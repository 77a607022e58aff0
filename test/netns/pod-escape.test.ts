// Pods of a real `up`, as root and as an ordinary user, that try to get out: each attack runs inside a pod, and what it must not reach is looked
// at from outside.
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  endWith,
  type Identity,
  makeDirectory,
  removeDirectory,
  startUp,
  type Up,
  until,
} from './up-harness.ts';

const timeout = 900_000;

type Run = { readonly up: () => Up; readonly identity: Identity; readonly directory: string };

const sleeper = (more: object = {}): object => ({
  name: 'app',
  image: 'process',
  command: ['sleep', '100000'],
  ...more,
});

async function apply({ up, directory }: Run, name: string, spec: object): Promise<void> {
  const file = join(directory, `${name}.json`);
  const items = [
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'password' },
      stringData: { key: 'open sesame' },
    },
    {
      ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name } },
      spec: { terminationGracePeriodSeconds: 0, ...spec },
    },
  ];
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  await up().kubectl('apply', '-f', file);
  await until(async () => {
    const status = await up().kubectl('get', 'pod', name, '-o', 'json');
    const { state = {} } = JSON.parse(status).status.containerStatuses?.[0] ?? {};
    const isWaiting = state.waiting === undefined || state.waiting.reason === 'ContainerCreating';
    return Object.keys(state).length > 0 && !(isWaiting && state.waiting) ? true : undefined;
  });
}

/** What a shell inside says, errors included. */
const inside = ({ up }: Run, pod: string, script: string): Promise<string> =>
  up().kubectl('exec', pod, '--', 'sh', '-c', `{ ${script}; } 2>&1 || :`);

const windowsOverrides = `--overrides=${JSON.stringify({ apiVersion: 'v1', spec: { os: { name: 'windows' } } })}`;

function seeNothing(run: Run): void {
  test("a pod does not see the administrator's kubeconfig, nor anything of up", async () => {
    const kubeconfig = join(run.directory, '.fairlead', 'kubeconfig');
    assert.ok(existsSync(kubeconfig));
    assert.match(await inside(run, 'attacker', `cat ${kubeconfig}`), /No such file/);
    const found = await inside(run, 'attacker', 'find / -xdev -name kubeconfig -o -name "*.mdb"');
    assert.equal(found.trim(), '');
  });

  test('a pod reads nothing that others on the machine may not read, whenever it came', async () => {
    const file = `/etc/fairlead-escape-${process.pid}`;
    const write = (path: string): void => writeFileSync(path, 'open sesame', { mode: 0o600 });
    try {
      write(file);
      await apply(run, 'curious', { containers: [sleeper()] });
      const read = `cat ${file} /etc/shadow`;
      assert.doesNotMatch(await inside(run, 'curious', read), /open sesame|root:/);
      // As passwd does it: a mount over the old file would go with it.
      write(`${file}.new`);
      renameSync(`${file}.new`, file);
      assert.doesNotMatch(await inside(run, 'curious', read), /open sesame|root:/);
    } finally {
      rmSync(file, { force: true });
      rmSync(`${file}.new`, { force: true });
    }
  });

  test('a pod sees its own processes only', async () => {
    const names = await inside(run, 'attacker', 'cat /proc/[0-9]*/comm');
    // The shell names the files before it starts the program that reads them.
    assert.deepEqual([...new Set(names.trim().split('\n'))].sort(), [
      'fairlead-init',
      'sh',
      'sleep',
    ]);
  });

  test("a pod finds no file of another pod's Secret, and none of the machine's", async () => {
    assert.equal(await inside(run, 'victim', 'cat /secret/key'), 'open sesame');
    const found = await inside(
      run,
      'attacker',
      'grep -rls "open sesame" /tmp /var /run /root /home /mnt /dev/shm',
    );
    assert.equal(found.trim(), '');
    assert.doesNotMatch(await inside(run, 'attacker', 'cat /etc/shadow'), /:/);
    assert.equal(
      (await inside(run, 'attacker', 'ls /root /home')).replace(/\s|\/root:|\/home:/g, ''),
      '',
    );
  });

  test('pods do not share /tmp', async () => {
    await inside(run, 'attacker', 'echo mine > /tmp/mark');
    assert.equal((await inside(run, 'attacker', 'cat /tmp/mark')).trim(), 'mine');
    assert.match(await inside(run, 'victim', 'cat /tmp/mark'), /No such file/);
    assert.equal(existsSync('/tmp/mark'), false);
  });

  test('a program in a pod has no descriptor and no variable of the agent', async () => {
    const names = await inside(run, 'attacker', 'for f in /proc/$$/fd/*; do readlink $f; done');
    assert.doesNotMatch(names, /\/proc\/\d+\/ns|\/(?!dev|proc)|fairlead|memfd/);
    assert.ok(names.trim().split('\n').length <= 4, names);
    assert.doesNotMatch(
      await inside(run, 'attacker', 'env; cat /proc/1/environ /proc/2/environ'),
      /FAIRLEAD|KUBECONFIG/,
    );
    assert.equal((await inside(run, 'attacker', 'pwd; readlink /proc/1/cwd')).trim(), '/\n/');
  });
}

/** What is tried, and what the kernel says. */
const attacks: readonly (readonly [string, string, RegExp])[] = [
  ['mounts', 'mount -t tmpfs none /mnt', /permission denied|not permitted|must be superuser/i],
  [
    'unmounts what hides',
    'umount /proc/keys',
    /not permitted|permission denied|must be superuser/i,
  ],
  ['makes a device', 'mknod /tmp/disk b 8 0 && cat /tmp/disk', /not permitted|denied/i],
  ['makes a user namespace', 'unshare --user --map-root-user id', /not permitted/i],
  ['enters namespaces', 'nsenter --target 1 --mount id', /not permitted|denied/i],
  ['changes a setting of the kernel', 'echo 1 > /proc/sys/kernel/panic', /Read-only/i],
  [
    'asks the kernel to reboot',
    'echo b > /proc/sysrq-trigger',
    /Read-only|denied|No such file|Directory nonexistent/i,
  ],
  ['writes to the machine', 'touch /usr/bin/mine /etc/cron.d/mine', /Read-only/i],
  ['writes to /sys', 'echo 1 > /sys/kernel/uevent_seqnum', /Read-only|denied/i],
  ['reads the keys of others', 'test -s /proc/keys && cat /proc/keys || echo nothing', /nothing/],
  [
    'leaves by chroot',
    'cd /; mkdir -p /tmp/jail; chroot /tmp/jail /bin/true',
    /No such file|cannot|not permitted/i,
  ],
  ['changes the host name', 'hostname other', /not permitted|must be root|permission/i],
];

function doNothing(run: Run): void {
  for (const [name, script, words] of attacks) {
    test(`a pod that ${name} is refused`, async () => {
      assert.match(await inside(run, 'attacker', script), words);
    });
  }

  test('a pod neither signals nor traces what runs the cluster', async () => {
    const said = await inside(run, 'attacker', `kill -9 ${run.up().state().pid}`);
    assert.match(said, /No such process/);
    // Ends the container itself, and with it, sooner or later, the program that asked.
    await inside(run, 'attacker', 'kill -9 -1').catch(() => undefined);
    assert.equal(run.up().process.exitCode, null);
    assert.match(await run.up().kubectl('get', 'pods'), /victim/);
  });

  test('setuid programs give nothing, and no capability comes back', async () => {
    const status = await inside(run, 'attacker', 'cat /proc/self/status');
    assert.match(status, /NoNewPrivs:\s1/);
    assert.match(status, /Seccomp:\s2/);
    assert.match(status, /CapBnd:\s00000000a80425fb/);
    assert.match(await inside(run, 'attacker', 'grep " /usr " /proc/mounts'), /nosuid/);
  });
}

function askForRights(run: Run): void {
  test('a pod without capabilities has none, opens no raw socket and changes no owner', async () => {
    const securityContext = {
      ...{ capabilities: { drop: ['ALL'] }, allowPrivilegeEscalation: false },
      ...{ readOnlyRootFilesystem: true, runAsUser: 4321, runAsNonRoot: true },
    };
    await apply(run, 'modest', { containers: [sleeper({ securityContext })] });
    const status = await inside(run, 'modest', 'id -u; cat /proc/self/status');
    assert.match(status, /^4321\n/);
    assert.match(status, /CapBnd:\s0000000000000000/);
    assert.match(status, /CapEff:\s0000000000000000/);
    assert.match(await inside(run, 'modest', 'touch /mine /tmp/mine'), /Read-only/);
    assert.match(
      await inside(
        run,
        'modest',
        'python3 -c "import socket; socket.socket(2, 3, 1)" || ping -c1 127.0.0.1',
      ),
      /not permitted|denied|not found/i,
    );
  });

  test('what cannot be enforced is refused with an event', async () => {
    await apply(run, 'picky', {
      containers: [
        sleeper({
          securityContext: { seccompProfile: { type: 'Localhost', localhostProfile: 'a.json' } },
        }),
      ],
    });
    const pod = await run.up().kubectl('get', 'pod', 'picky', '-o', 'json');
    const { waiting } = JSON.parse(pod).status.containerStatuses[0].state;
    assert.equal(waiting.reason, 'CreateContainerConfigError');
    assert.match(waiting.message, /Localhost is not supported by this node/);
  });

  test('a pod that asks for root though it must not be is refused', async () => {
    await apply(run, 'boss', {
      containers: [sleeper({ securityContext: { runAsNonRoot: true } })],
    });
    const pod = await run.up().kubectl('get', 'pod', 'boss', '-o', 'json');
    const { waiting } = JSON.parse(pod).status.containerStatuses[0].state;
    assert.match(waiting.message, /^container has runAsNonRoot and image will run as root/);
  });

  test('safe kernel settings are the pod’s own, others end it', async () => {
    const sysctls = [{ name: 'net.ipv4.ip_local_port_range', value: '40000 40100' }];
    await apply(run, 'tuned', { securityContext: { sysctls }, containers: [sleeper()] });
    const read = 'cat /proc/sys/net/ipv4/ip_local_port_range';
    assert.match(await inside(run, 'tuned', read), /40000\s+40100/);
    assert.doesNotMatch(await inside(run, 'attacker', read), /40000\s+40100/);
    const spec = {
      securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '65536' }] },
      containers: [sleeper()],
    };
    const file = join(run.directory, 'unsafe.json');
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'unsafe' }, spec };
    writeFileSync(file, JSON.stringify(pod));
    await run.up().kubectl('apply', '-f', file);
    const status = await until(async () => {
      const text = await run.up().kubectl('get', 'pod', 'unsafe', '-o', 'json');
      const { phase, reason } = JSON.parse(text).status;
      return phase === 'Failed' ? reason : undefined;
    });
    assert.equal(status, 'SysctlForbidden');
  });

  test('containers see each other where the pod says so', async () => {
    await apply(run, 'together', {
      shareProcessNamespace: true,
      containers: [sleeper(), { ...sleeper(), name: 'other', command: ['sleep', '99999'] }],
    });
    const list = await until(async () => {
      const text = await inside(run, 'together', 'cat /proc/[0-9]*/cmdline | tr "\\0" " "');
      return text.includes('sleep 99999') ? text : undefined;
    });
    assert.match(list, /sleep 100000/);
  });
}

function followProcesses(run: Run): void {
  test('the processes that a pod sees lead to no files of the machine', async () => {
    await apply(run, 'sharing', { shareProcessNamespace: true, containers: [sleeper()] });
    const file = join(run.directory, '.fairlead', 'kubeconfig');
    const search = `for one in /proc/[0-9]*; do cat $one/root${file} $one/cwd${file}; ls $one/root/boot; done`;
    const seen = await inside(run, 'sharing', `${search}; echo over`);
    assert.doesNotMatch(seen, /client-key-data/);
    assert.match(seen, /over\n$/);
    assert.equal((await inside(run, 'sharing', 'ls /proc/1/root/ 2>/dev/null')).trim(), '');
  });
}

/** In every directory that is a mount, and in the root's: with root's rights a device can be made wherever files can. */
function makeDevices(run: Run): void {
  test('a device that a pod makes opens nothing, wherever it lies', async () => {
    const directories = '$(cut -d" " -f5 /proc/self/mountinfo) /run /home /root /.fairlead';
    const open =
      'mknod "$directory/made" c 1 3 2>/dev/null && : > "$directory/made" && echo "$directory"';
    const script = `for directory in ${directories}; do ( ${open} ) 2>/dev/null; done`;
    assert.equal(await inside(run, 'attacker', script), '');
    assert.equal(await inside(run, 'attacker', 'echo kept > /dev/null && echo fine'), 'fine\n');
  });
}

/** Fields for which PodSecurity asks for less. */
function claimLess(run: Run): void {
  test('what PodSecurity allows only to pods with a user namespace, or of Windows, does not run without', async () => {
    const status = async (name: string): Promise<string> =>
      await run.up().kubectl('get', 'pod', name, '-o', 'jsonpath={.status}');
    await apply(run, 'unmasked', {
      hostUsers: false,
      containers: [sleeper({ securityContext: { procMount: 'Unmasked' } })],
    });
    assert.match(await status('unmasked'), /CreateContainerConfigError/);
    assert.match(await status('unmasked'), /does not support user namespaces/);
    await run
      .up()
      .kubectl('run', 'windows', '--image=process', windowsOverrides, '--', 'sleep', '9');
    await until(async () => /PodOSNotSupported/.test(await status('windows')) || undefined);
  });
}

const scratch = [{ name: 'scratch', emptyDir: {} }];

function leadAstray(run: Run): void {
  test('a subPath that is a link to the machine is refused, and nothing is made behind it', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'outside-'));
    await apply(run, 'link', {
      restartPolicy: 'Never',
      initContainers: [
        {
          ...{
            name: 'first',
            image: 'process',
            volumeMounts: [{ name: 'scratch', mountPath: '/s' }],
          },
          command: [
            'sh',
            '-c',
            `ln -s /etc /s/etc; ln -s ${outside} /s/outside; ln -s /proc/1/root /s/root; mkdir /s/real; ln -s real /s/fine`,
          ],
        },
      ],
      containers: ['etc', 'outside/made', 'root/etc', 'fine'].map((subPath, index) => ({
        ...sleeper({ volumeMounts: [{ name: 'scratch', mountPath: '/stolen', subPath }] }),
        name: `c${index}`,
      })),
      volumes: scratch,
    });
    const states = await until(async () => {
      const pod = JSON.parse(await run.up().kubectl('get', 'pod', 'link', '-o', 'json'));
      const list = (pod.status.containerStatuses ?? []) as readonly {
        name: string;
        state: { waiting?: { message?: string }; running?: object };
      }[];
      const isDone =
        list.length === 4 && list.every(({ state }) => state.running ?? state.waiting?.message);
      return isDone ? list.map(({ state }) => state.waiting?.message ?? 'running') : undefined;
    });
    for (const message of states.slice(0, 3)) assert.match(message, /^failed to prepare subPath/);
    assert.equal(states[3], 'running');
    assert.deepEqual(readdirSync(outside), []);
    rmSync(outside, { recursive: true });
  });

  test('the last words of a container are a plain file of at most 4096 bytes, or nothing', async () => {
    const endings = {
      large: 'truncate -s 10G /dev/termination-log; printf "the end" >> /dev/termination-log',
      link: 'rm -f /dev/termination-log; ln -sf /etc/passwd /dev/termination-log',
      pipe: 'rm -f /dev/termination-log; mkfifo /dev/termination-log',
      plain: 'echo bye > /dev/termination-log',
    };
    for (const [name, script] of Object.entries(endings)) {
      await apply(run, `ends-${name}`, {
        restartPolicy: 'Never',
        containers: [{ name: 'app', image: 'process', command: ['sh', '-c', script] }],
      });
    }
    const said = async (name: string): Promise<string> =>
      until(async () => {
        const pod = JSON.parse(await run.up().kubectl('get', 'pod', `ends-${name}`, '-o', 'json'));
        const { terminated } = pod.status.containerStatuses?.[0]?.state ?? {};
        return terminated === undefined ? undefined : (terminated.message ?? '');
      });
    assert.equal(await said('plain'), 'bye\n');
    assert.ok((await said('large')).endsWith('the end'));
    assert.ok((await said('large')).length <= 4096);
    assert.equal(await said('link'), '');
    assert.equal(await said('pipe'), '');
  });
}

function reachOut(run: Run): void {
  test('what a pod links to from an emptyDir stays when the pod goes', async () => {
    const outside = mkdtempSync(join(tmpdir(), 'outside-'));
    writeFileSync(join(outside, 'kept'), '');
    await apply(run, 'goes', {
      containers: [sleeper({ volumeMounts: [{ name: 'scratch', mountPath: '/s' }] })],
      volumes: scratch,
    });
    await inside(run, 'goes', `ln -s ${outside} /s/a; ln -s / /s/b; mkdir -p /s/c/d; chmod 0 /s/c`);
    await run.up().kubectl('delete', 'pod', 'goes');
    assert.deepEqual(readdirSync(outside), ['kept']);
    rmSync(outside, { recursive: true });
  });

  test("a volume of up's own directory is refused, and one above it does not show it", async () => {
    const own = join(run.directory, '.fairlead');
    const volume = (path: string): object => ({
      containers: [sleeper({ volumeMounts: [{ name: 'host', mountPath: '/host' }] })],
      volumes: [{ name: 'host', hostPath: { path } }],
    });
    await apply(run, 'above', volume(run.directory));
    assert.match(await inside(run, 'above', 'ls /host'), /attacker\.json/);
    assert.equal(
      (await inside(run, 'above', 'find /host/.fairlead -type f'))
        .replace(/find:.*\n?/g, '')
        .trim(),
      '',
    );
    const file = join(run.directory, 'thief.json');
    writeFileSync(
      file,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'thief' },
        spec: volume(own),
      }),
    );
    await run.up().kubectl('apply', '-f', file);
    await until(async () =>
      /belongs to the node agent and cannot be mounted/.test(
        await run.up().kubectl('get', 'events'),
      )
        ? true
        : undefined,
    );
  });
}

function keepSecrets(run: Run): void {
  test('directories of the agent are for its user alone, and Secrets are in memory', async () => {
    const node = join(run.directory, '.fairlead', 'nodes', 'node-1');
    for (const path of [
      join(run.directory, '.fairlead'),
      node,
      join(node, 'pods'),
      join(node, 'logs'),
    ])
      assert.equal(statSync(path).mode & 0o077, 0, path);
    assert.match(await inside(run, 'victim', 'stat -f -c %T /secret'), /tmpfs/);
    for (const file of readdirSync(node, { recursive: true, withFileTypes: true })) {
      if (!file.isFile() || statSync(join(file.parentPath, file.name)).size > 1_000_000) continue;
      const text = readFileSync(join(file.parentPath, file.name), 'latin1');
      assert.ok(!text.includes('open sesame'), join(file.parentPath, file.name));
    }
  });

  test('fsGroup owns volumes, and defaultMode counts', async () => {
    await apply(run, 'grouped', {
      securityContext: { fsGroup: 4444, runAsUser: 1234, supplementalGroups: [4445] },
      containers: [
        sleeper({
          volumeMounts: [
            { name: 'scratch', mountPath: '/s' },
            { name: 'secret', mountPath: '/secret' },
          ],
        }),
      ],
      volumes: [
        ...scratch,
        { name: 'secret', secret: { secretName: 'password', defaultMode: 256 } },
      ],
    });
    assert.equal(await inside(run, 'grouped', 'touch /s/mine && cat /secret/key'), 'open sesame');
    if (run.identity !== 'root') return;
    const facts = await inside(
      run,
      'grouped',
      'id -G; stat -c "%g %a" /s; stat -L -c "%u %g %a" /secret/key; stat -c %g /s/mine',
    );
    assert.equal(facts, '0 4444 4445\n4444 2777\n1234 4444 440\n4444\n');
  });
}

for (const identity of ['root', 'an ordinary user'] as const) {
  describe(`pods of up as ${identity}`, { timeout }, () => {
    const directory = makeDirectory(identity);
    let current: Up;
    const run: Run = { up: () => current, identity, directory };

    before(async () => {
      current = await startUp(identity, directory, ['--nodes', '1']);
      await apply(run, 'victim', {
        containers: [sleeper({ volumeMounts: [{ name: 'secret', mountPath: '/secret' }] })],
        volumes: [{ name: 'secret', secret: { secretName: 'password' } }],
      });
      await apply(run, 'attacker', { containers: [sleeper()] });
    });

    after(async () => {
      const { exitCode, signalCode } = current.process;
      if (exitCode === null && signalCode === null) await endWith(current, 'SIGKILL');
      removeDirectory(directory);
    });

    seeNothing(run);
    doNothing(run);
    askForRights(run);
    claimLess(run);
    makeDevices(run);
    followProcesses(run);
    leadAstray(run);
    reachOut(run);
    keepSecrets(run);
  });
}
