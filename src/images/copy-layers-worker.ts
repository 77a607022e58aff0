// The thread that copies the layers of an image: copying files by system calls blocks.
import { workerData } from 'node:worker_threads';
import { type CopyJob, copyTrees } from './unpack/copy-trees.ts';

// An error becomes the `error` event of the worker.
copyTrees(workerData as CopyJob);
