// Starts processes by the starter: an executable in memory, created for one start, and sealed against changes.
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { writeSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { closeDescriptor, loadCLibrary, type NativeFunction } from '../../../host/native.ts';
import { errnoName, SystemCallError } from '../../../host/system-call-error.ts';
import { type AssembledSteps, assemble, reportDescriptor, type Step } from './assemble.ts';
import { starterName } from './fork-steps.ts';
import { type Architecture, starterFile } from './machine-code.ts';

export type StarterStdio = readonly ('pipe' | 'ignore' | number)[];

export type StarterRun = {
  readonly child: ChildProcess;
  /** Resolves when the program has started; otherwise with the problem. */
  readonly problem: Promise<StartProblem | undefined>;
};

/** The failed step, and the error code. */
export type StartProblem = { readonly what: string; readonly code: string };

export function architectureOf(name: string): Architecture | undefined {
  return name === 'x64' || name === 'arm64' ? name : undefined;
}

/**
 * `stdio` are the first three descriptors; `descriptors` are passed from 4 on. Throws NativeUnavailableError or SystemCallError if
 * the executable cannot be created.
 */
export function spawnStarter(
  steps: readonly Step[],
  stdio: StarterStdio,
  descriptors: readonly number[] = [],
): StarterRun {
  const architecture = architectureOf(process.arch);
  if (architecture === undefined)
    throw new Error(`Containers cannot be started on a processor of type ${process.arch}`);
  const assembled = assemble(steps, architecture);
  const file = writeStarter(architecture, assembled);
  try {
    const options: SpawnOptions = {
      // Nothing of the agent's environment: the steps contain that of the container.
      env: {},
      cwd: '/',
      stdio: [...stdio, 'pipe', ...descriptors],
      detached: true,
    };
    const child = spawn(`/proc/self/fd/${file}`, [], { ...options, argv0: starterName });
    return { child, problem: problemOf(child, assembled) };
  } finally {
    closeDescriptor(file);
  }
}

type Calls = Readonly<Record<'memfdCreate' | 'control', NativeFunction>>;
let declared: Calls | undefined;

function calls(): Calls {
  if (declared === undefined) {
    const { checked } = loadCLibrary();
    declared = {
      memfdCreate: checked('int memfd_create(const char *name, unsigned int flags)'),
      control: checked('int fcntl(int fd, int command, int argument)'),
    };
  }
  return declared;
}

const closeOnExec = 1;
const allowSealing = 2;
/** MFD_EXEC, since 6.3: required on some machines. */
const isExecutable = 0x10;
const addSeals = 1033;
/** Seals cannot be removed; the file cannot shrink, grow or be written. */
const allSeals = 0xf;

function writeStarter(architecture: Architecture, { data }: AssembledSteps): number {
  const file = makeFile();
  try {
    for (const [position, bytes] of starterFile(architecture, data))
      writeSync(file, bytes, 0, bytes.length, position);
    calls().control(file, addSeals, allSeals);
    return file;
  } catch (error) {
    closeDescriptor(file);
    throw error;
  }
}

function makeFile(): number {
  const flags = closeOnExec | allowSealing;
  try {
    return calls().memfdCreate('fairlead', flags | isExecutable);
  } catch (error) {
    if (!(error instanceof SystemCallError) || error.code !== 'EINVAL') throw error;
    return calls().memfdCreate('fairlead', flags);
  }
}

const reportBytes = 16;

function problemOf(
  child: ChildProcess,
  { whatAt }: AssembledSteps,
): Promise<StartProblem | undefined> {
  const report = child.stdio[reportDescriptor] as Readable | null | undefined;
  return new Promise((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      resolve({ what: 'start', code: error.code ?? error.message }),
    );
    const chunks: Buffer[] = [];
    report?.on('data', (chunk: Buffer) => chunks.push(chunk));
    report?.on('error', () => report.destroy());
    report?.once('close', () => {
      const bytes = Buffer.concat(chunks);
      if (bytes.length < reportBytes) return resolve(undefined);
      const what = whatAt(Number(bytes.readBigUInt64LE(0)));
      resolve({ what, code: errnoName(-Number(bytes.readBigInt64LE(8))) });
    });
  });
}
