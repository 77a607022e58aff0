// The small program between the agent and a container: puts the file system together, then becomes the container.
import type { RootStep } from './root-plan.ts';

/** Absolute paths of the programs that the script runs: its PATH is the container's. */
export type Tools = Readonly<Record<ToolName, string>> & {
  /** Sets the host name; where it is missing, only root may set it. */
  readonly hostname?: string;
};

export const toolNames = ['sh', 'mkdir', 'touch', 'ln', 'mount', 'unshare', 'nsenter'] as const;
type ToolName = (typeof toolNames)[number];

export type ScriptOptions = {
  /** Where the root is made; an empty directory. */
  readonly newRoot: string;
  readonly steps: readonly RootStep[];
  readonly tools: Tools;
  /** For files that `mount` reads. */
  readonly directory: string;
  readonly hostname?: string;
  readonly workingDir: string;
  readonly user?: { readonly uid: number; readonly gid?: number };
};

export type StartScript = {
  readonly script: string;
  /** Files that the script reads, by path. */
  readonly files: Readonly<Record<string, string>>;
};

type Make = Exclude<RootStep, { readonly kind: 'bind' | 'memory' }>;
type Mounting = Extract<RootStep, { readonly kind: 'bind' | 'memory' }>;
type Batch = { readonly makes: Make[]; readonly mounts: Mounting[] };

/** What goes wrong before the container starts is written to descriptor 3, which closes when it starts. */
export function startScript(options: ScriptOptions): StartScript {
  const { newRoot, steps, tools, directory, hostname, workingDir, user } = options;
  const files: Record<string, string> = {};
  const lines = ['set -e', 'exec 4>&2 2>&3'];
  if (hostname !== undefined) lines.push(hostnameLine(hostname, tools));
  lines.push(`${tools.mount} -t tmpfs -o mode=755 fairlead ${quoted(newRoot)}`);
  for (const [index, { makes, mounts }] of batches(steps).entries()) {
    lines.push(...makeLines(makes, newRoot, tools));
    if (mounts.length === 0) continue;
    const table = `${directory}/mounts-${index}`;
    files[table] = mounts.map((mount) => tableLine(mount, newRoot)).join('');
    lines.push(`${tools.mount} --all --fstab ${quoted(table)}`);
  }
  const identity = [
    ...(user?.gid === undefined ? [] : [`--setgid=${user.gid}`]),
    ...(user === undefined ? [] : [`--setuid=${user.uid}`]),
  ];
  const enter = [`--root=${quoted(newRoot)}`, `--wd=${quoted(workingDir)}`, ...identity].join(' ');
  lines.push('exec 2>&4 3>&- 4>&-', `exec ${tools.unshare} ${enter} -- "$@"`);
  return { script: `${lines.join('\n')}\n`, files };
}

function hostnameLine(hostname: string, tools: Tools): string {
  if (tools.hostname !== undefined) return `${tools.hostname} ${quoted(hostname)}`;
  // A user namespace does not make its root the owner of this file; the pod then keeps the name of the node.
  return `{ echo ${quoted(hostname)} > /proc/sys/kernel/hostname; } 2> /dev/null || :`;
}

/** As few programs as can be: what is made does not wait for mounts that it does not lie in. */
function batches(steps: readonly RootStep[]): readonly Batch[] {
  const found: Batch[] = [{ makes: [], mounts: [] }];
  for (const step of steps) {
    const current = found.at(-1);
    if (current === undefined) break;
    if (step.kind === 'bind' || step.kind === 'memory') current.mounts.push(step);
    else if (current.mounts.some(({ place }) => step.place.startsWith(`${place}/`))) {
      found.push({ makes: [step], mounts: [] });
    } else current.makes.push(step);
  }
  return found;
}

function makeLines(makes: readonly Make[], newRoot: string, tools: Tools): readonly string[] {
  const at = (place: string): string => quoted(`${newRoot}${place}`);
  const directories = makes
    .filter(({ kind }) => kind === 'directory')
    .map(({ place }) => at(place));
  const files = makes.filter(({ kind }) => kind === 'file').map(({ place }) => at(place));
  const lines: string[] = [];
  if (directories.length > 0) lines.push(`${tools.mkdir} -p ${directories.join(' ')}`);
  if (files.length > 0) lines.push(`${tools.touch} ${files.join(' ')}`);
  const byDirectory = new Map<string, string[]>();
  for (const make of makes) {
    if (make.kind !== 'link') continue;
    const [, above = '', name = ''] = /^(.*)\/([^/]*)$/.exec(make.place) ?? [];
    const isNamedAlike = make.target.endsWith(`/${name}`);
    if (!isNamedAlike) lines.push(`${tools.ln} -s ${quoted(make.target)} ${at(make.place)}`);
    else byDirectory.set(above, [...(byDirectory.get(above) ?? []), quoted(make.target)]);
  }
  for (const [above, targets] of byDirectory) {
    lines.push(`${tools.ln} -s -t ${at(`${above}/`)} ${targets.join(' ')}`);
  }
  return lines;
}

function tableLine(mount: Mounting, newRoot: string): string {
  const place = tableWord(`${newRoot}${mount.place}`);
  if (mount.kind === 'memory') return `fairlead ${place} tmpfs mode=755 0 0\n`;
  return `${tableWord(mount.source)} ${place} none rbind${mount.isReadOnly ? ',ro' : ''} 0 0\n`;
}

/** As fstab has it: octal for what separates words. */
const tableWord = (path: string): string =>
  path.replace(/[\s\\#]/g, (letter) => `\\${letter.charCodeAt(0).toString(8).padStart(3, '0')}`);

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
