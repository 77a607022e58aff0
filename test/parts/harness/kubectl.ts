// Real kubectls, and how to run them against a server of a test.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { unpackKubectl } from '../../lanes/unpack-kubectl.ts';
import { testCredentials } from './memory-server.ts';

export type KubectlProgram = {
  readonly name: string;
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
};

/** The newest in both ways of streaming that it has, and the one that is installed, when it is another. */
export async function findKubectls(): Promise<readonly KubectlProgram[]> {
  const path = await unpackKubectl();
  const streaming = (isWebSocket: boolean): Readonly<Record<string, string>> => ({
    KUBECTL_REMOTE_COMMAND_WEBSOCKETS: String(isWebSocket),
    KUBECTL_PORT_FORWARD_WEBSOCKETS: String(isWebSocket),
  });
  const version = versionOf(path);
  const installed = versionOf('kubectl');
  return [
    { name: `kubectl ${version} over WebSocket`, path, env: streaming(true) },
    { name: `kubectl ${version} over SPDY`, path, env: streaming(false) },
    ...(installed === undefined || installed === version
      ? []
      : [{ name: `installed kubectl ${installed}`, path: 'kubectl', env: {} }]),
  ];
}

function versionOf(path: string): string | undefined {
  try {
    const text = execFileSync(path, ['version', '--client', '--output', 'json'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const { clientVersion } = JSON.parse(text) as { clientVersion: { gitVersion: string } };
    return clientVersion.gitVersion;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

export type KubectlAnswer = {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
};

export type Kubectl = {
  readonly run: (args: readonly string[], input?: Uint8Array) => Promise<KubectlAnswer>;
  /** Ended with the test. */
  readonly start: (args: readonly string[]) => ChildProcess;
  /** The program and the environment, for those who start it themselves. */
  readonly program: KubectlProgram;
};

export function openKubectl(t: TestContext, program: KubectlProgram, port: number): Kubectl {
  const directory = mkdtempSync(join(tmpdir(), 'kubectl-'));
  const kubeconfig = join(directory, 'config');
  writeFileSync(kubeconfig, kubeconfigText(port));
  const env = { ...process.env, ...program.env, KUBECONFIG: kubeconfig, HOME: directory };
  const children = new Set<ChildProcess>();
  t.after(() => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  });
  const start = (args: readonly string[]): ChildProcess => {
    const child = spawn(program.path, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
    child.stdin?.on('error', () => {});
    children.add(child);
    return child;
  };
  return {
    start,
    async run(args, input = Buffer.alloc(0)) {
      const child = start(args);
      child.stdin?.end(input);
      if (child.stdout === null || child.stderr === null) throw new Error('no pipes');
      const [stdout, stderr] = await Promise.all([
        buffer(child.stdout),
        buffer(child.stderr),
        child.exitCode ?? once(child, 'exit'),
      ]);
      children.delete(child);
      return { code: child.exitCode, stdout, stderr: stderr.toString() };
    },
    program: { ...program, env: { ...program.env, KUBECONFIG: kubeconfig, HOME: directory } },
  };
}

/** JSON is YAML. */
export function kubeconfigText(port: number): string {
  const { authority, administrator } = testCredentials();
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'test',
        cluster: {
          server: `https://127.0.0.1:${port}`,
          'certificate-authority-data': base64(authority.certificate),
        },
      },
    ],
    users: [
      {
        name: 'test',
        user: {
          'client-certificate-data': base64(administrator.certificate),
          'client-key-data': base64(administrator.privateKey),
        },
      },
    ],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  });
}
