// Measures in a lab: a network and a process space of its own.
import { runInLab } from '../netns/lab/enter.ts';
import type { Figure } from './figure.ts';

/** `script` is a compiled file beside this one that prints figures as JSON. None where there are no rights to make a network. */
export async function measureInside(
  script: string,
  args: readonly string[],
): Promise<readonly Figure[]> {
  if (process.getuid?.() !== 0) {
    process.stderr.write(`${script}: needs root for a network namespace, left out\n`);
    return [];
  }
  const { code, output, stdout } = await runInLab(`../bench/${script}`, args);
  if (code !== 0) {
    throw new Error(`Cannot measure with ${[script, ...args].join(' ')}: ${code}, ${output}`);
  }
  return JSON.parse(stdout) as readonly Figure[];
}
