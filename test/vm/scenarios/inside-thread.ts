// A thread that steps into a network namespace and is a program of the recordings from then on. A thread starts in a fraction of the time
// of a process, which takes seconds under emulation.
import { workerData } from 'node:worker_threads';
import { enterNamespace } from '../../../src/host/namespaces.ts';

export type InsideOrder = {
  readonly namespacePath: string;
  /** The address of a module that works with its arguments, standard input and output. */
  readonly program: string;
};

const { namespacePath, program } = workerData as InsideOrder;
enterNamespace(namespacePath);
await import(program);
