// Every command line of ours that a document prints is one that the program takes.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Command } from 'commander';
import { createProgram } from '../../src/cli/main.ts';
import { documents, fairleadCommandLines } from '../lanes/document-commands.ts';
import { silentWorld } from '../lanes/silent-world.ts';

const program = await createProgram(silentWorld);

/** Says what is wrong: an unknown command, a flag that it does not have. */
function problemOf(words: readonly string[]): string | undefined {
  let command: Command = program;
  let at = 0;
  for (; at < words.length; at += 1) {
    const next = command.commands.find((c) => c.name() === words[at]);
    if (next === undefined) break;
    command = next;
  }
  if (command === program) return words[0] === 'help' ? undefined : 'no such command';
  if (command.commands.length > 0) return `${command.name()} has no command ${words[at]}`;
  // What follows is another program's.
  const end = words.indexOf('--');
  const flags = words.slice(at, end === -1 ? undefined : end).filter((word) => /^-/.test(word));
  const known = command.options.flatMap(({ long, short }) => [long, short]);
  const unknown = flags.find((flag) => !['-', '--help', ...known].includes(flag.split('=')[0]));
  return unknown === undefined ? undefined : `${command.name()} has no flag ${unknown}`;
}

test('documents print command lines that the program takes', () => {
  const lines = documents().flatMap((file) =>
    fairleadCommandLines(file).map((words) => ({ file, words })),
  );
  assert.ok(lines.length > 100, 'the documents were read');
  const problems = lines.flatMap(({ file, words }) => {
    const problem = problemOf(words);
    return problem === undefined ? [] : [`${file}: fairlead ${words.join(' ')}: ${problem}`];
  });
  assert.deepEqual(problems, []);
});

test('a command or flag that there is not is noticed', () => {
  assert.equal(problemOf(['prxy']), 'no such command');
  assert.equal(problemOf(['proxy', '--mode', 'x']), 'proxy has no flag --mode');
  assert.equal(problemOf(['token', 'make']), 'token has no command make');
});
