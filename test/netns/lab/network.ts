// The lab's network: this process stands on the node, pods hang on its bridge.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export const nodeIP = '10.244.1.1';
export const podRange = '10.244.0.0/16';
export const serviceRange = '10.96.0.0/16';

export type Pod = {
  readonly ip: string;
  /** Says a word to its program. */
  readonly say: (word: string) => void;
  /** The next line of its program. */
  readonly readLine: () => Promise<string>;
  /** Runs a program in its network; returns what it prints. */
  readonly run: (program: string, ...args: readonly string[]) => string;
  readonly process: ChildProcess;
};

export function makeBridge(): void {
  batch([
    'link add pods type bridge',
    'link set pods up',
    `addr add ${nodeIP}/24 dev pods`,
    // A packet to a virtual address that no rule translates is refused at once: a moment without rules shows.
    `route add unreachable ${serviceRange}`,
  ]);
  const settings = ['ip_forward=1', 'conf.all.rp_filter=0', 'icmp_ratelimit=0'];
  execFileSync('sysctl', ['-qw', ...settings.map((setting) => `net.ipv4.${setting}`)]);
}

/** Starts a compiled file of this folder in a network of its own, on the bridge. */
export async function startPod(
  last: number,
  program: string,
  args: readonly string[] = [],
): Promise<Pod> {
  const ip = `10.244.1.${last}`;
  const path = fileURLToPath(new URL(`./${program}`, import.meta.url));
  const child = spawn('unshare', ['--net', process.execPath, path, ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  // A pod that ends is a lab that does not work.
  child.once('exit', (code) => {
    process.stderr.write(`${program} at ${ip} ended with ${code}\n`);
    process.exit(1);
  });
  const output = createInterface({ input: child.stdout });
  const waiting: ((line: string) => void)[] = [];
  const lines: string[] = [];
  output.on('line', (line) => {
    const next = waiting.shift();
    if (next === undefined) lines.push(line);
    else next(line);
  });
  const readLine = (): Promise<string> => {
    const line = lines.shift();
    return line === undefined ? new Promise((found) => waiting.push(found)) : Promise.resolve(line);
  };
  // Its first line says that its network exists and can be connected.
  await readLine();
  const inside = ['-t', String(child.pid), '-n'];
  batch([
    `link add v${last} type veth peer name eth0 netns ${child.pid}`,
    `link set v${last} master pods up`,
    `link set v${last} type bridge_slave hairpin on`,
  ]);
  const commands = ['link set lo up', 'link set eth0 up', `addr add ${ip}/24 dev eth0`];
  batch([...commands, `route add default via ${nodeIP}`], ['nsenter', ...inside]);
  return {
    ip,
    process: child,
    readLine,
    say: (word) => child.stdin.write(`${word}\n`),
    run: (name, ...rest) =>
      execFileSync('nsenter', [...inside, name, ...rest], { encoding: 'utf8', maxBuffer: 2 ** 28 }),
  };
}

function batch(lines: readonly string[], before: readonly string[] = []): void {
  const [command = 'ip', ...args] = [...before, 'ip', '-batch', '-'];
  execFileSync(command, args, {
    input: `${lines.join('\n')}\n`,
    stdio: ['pipe', 'ignore', 'inherit'],
  });
}

export async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}
